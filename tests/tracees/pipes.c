/* SPDX-License-Identifier: MIT
 *
 * A pipeline of processes: bytes go through --threads stages, each a process
 * that transforms them; what comes out is compared with what should.
 */
#include "tracee.h"

#define CHUNK 4096

static void stage(int in, int out)
{
	unsigned char buf[CHUNK];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			buf[i] = (unsigned char)(buf[i] * 5 + 1);
		if (write(out, buf, (size_t)n) != n)
			_exit(1);
	}
	_exit(n == 0 ? 0 : 2);
}

static void feed(int out, uint32_t seed, long size)
{
	unsigned char c[CHUNK];

	for (long i = 0; i < size; i += CHUNK) {
		for (int k = 0; k < CHUNK; k++)
			c[k] = (unsigned char)(seed + (uint32_t)(i + k) * 31);
		if (write(out, c, CHUNK) != CHUNK)
			_exit(1);
	}
	_exit(0);
}

static void pipeline(uint32_t seed)
{
	pid_t pids[TRACEE_THREADS + 1];
	unsigned char c[CHUNK];
	long total = 0;
	ssize_t n;
	int in = -1, fds[2];

	for (long s = 0; s <= opt.threads; s++) {
		TRY(pipe2(fds, O_CLOEXEC));
		TRY(pids[s] = fork());
		if (!pids[s]) {
			close(fds[0]);
			if (s == 0)
				feed(fds[1], seed, opt.size);
			stage(in, fds[1]);
		}
		close(fds[1]);
		if (in != -1)
			close(in);
		in = fds[0];
	}
	while ((n = read(in, c, sizeof(c))) > 0)
		for (ssize_t i = 0; i < n; i++, total++) {
			unsigned char want = (unsigned char)(seed + (uint32_t)total * 31);

			for (long s = 0; s < opt.threads; s++)
				want = (unsigned char)(want * 5 + 1);
			CHECK(c[i] == want, "byte %ld is %d, not %d", total, c[i], want);
		}
	CHECK(n == 0 && total == opt.size, "%ld of %ld bytes came through", total, opt.size);
	close(in);
	for (long s = 0; s <= opt.threads; s++)
		CHECK(tracee_reap(pids[s]) == 0, "stage %ld failed", s);
}

int main(int argc, char **argv)
{
	tracee_begin("pipes", argc, argv,
		     (struct tracee_options){ .rounds = 6, .threads = 5, .size = 262144 });
	while (tracee_more())
		pipeline((uint32_t)tracee_round);
	return tracee_ok("every byte through %ld processes", opt.threads);
}
