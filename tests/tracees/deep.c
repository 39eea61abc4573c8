/* SPDX-License-Identifier: MIT
 *
 * Recursion --depth deep (10,000), with frames of different sizes and work at
 * the bottom, then back up, checking each frame on the way. The main thread and
 * one with a large stack do it at once.
 */
#include "tracee.h"

static NOIPA uint32_t work_at_the_bottom(uint32_t x)
{
	return tracee_mix(x, opt.size);
}

static NOIPA uint32_t descend(long depth, uint32_t x)
{
	volatile char frame[24];
	uint32_t sum;

	frame[depth % 24] = (char)depth;
	sum = depth > 1 ? descend(depth - 1, x + 1) : work_at_the_bottom(x);
	CHECK(frame[depth % 24] == (char)depth, "frame %ld was overwritten", depth);
	return sum + 1;
}

static void *dive(void *arg)
{
	uint32_t want = tracee_mix((uint32_t)opt.depth - 1, opt.size) + (uint32_t)opt.depth;

	(void)arg;
	CHECK(descend(opt.depth, 0) == want, "wrong sum");
	return NULL;
}

int main(int argc, char **argv)
{
	tracee_begin("deep", argc, argv,
		     (struct tracee_options){ .rounds = 20, .depth = 10000, .size = 200000 });
	while (tracee_more()) {
		pthread_t other = tracee_thread_of((size_t)opt.depth * 512 + 65536, dive, NULL);

		dive(NULL);
		pthread_join(other, NULL);
	}
	return tracee_ok("%ld frames", opt.depth);
}
