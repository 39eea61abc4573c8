/* SPDX-License-Identifier: MIT
 *
 * Transfers that must never be short: write() and writev() of 1 MiB to a pipe,
 * send() of 1 MiB to a stream socket, recv(MSG_WAITALL), while another thread
 * takes or gives a little at a time. An interrupted one would return what it
 * had moved by then.
 */
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tracee.h"

#define MEGA (1 << 20)

struct channel {
	const char *name;
	int fd[2]; /* read from, written to */
	int kind;
	atomic_long short_ones, transfers;
};

static atomic_bool stop;
static char data[MEGA];

/* The slow side: odd small pieces, a pause now and then. */
static void *drain(void *arg)
{
	struct channel *ch = arg;
	static __thread char buf[7001];
	ssize_t n;

	while ((n = read(ch->fd[0], buf, sizeof(buf))) > 0)
		if (n % 7 == 0)
			usleep(100);
	CHECK(n == 0, "%s: read: %s", ch->name, strerror(errno));
	return NULL;
}

static ssize_t push(struct channel *ch)
{
	struct iovec parts[] = { { data, MEGA / 2 }, { data + MEGA / 2, MEGA / 2 } };

	switch (ch->kind) {
	case 0:
		return write(ch->fd[1], data, MEGA);
	case 1:
		return writev(ch->fd[1], parts, 2);
	default:
		return send(ch->fd[1], data, MEGA, 0);
	}
}

static void count(struct channel *ch, ssize_t n)
{
	CHECK(n > 0 || errno == EINTR, "%s: %s", ch->name, strerror(errno));
	ch->transfers++;
	ch->short_ones += n != MEGA;
}

static void *pusher(void *arg)
{
	struct channel *ch = arg;

	while (!stop)
		count(ch, push(ch));
	close(ch->fd[1]);
	return NULL;
}

static void *trickle(void *arg)
{
	struct channel *ch = arg;
	long left = 0, piece = 0;

	while (!stop || left) {
		if (!left)
			left = MEGA;
		piece = piece % 9001 + 1000;
		if (piece > left)
			piece = left;
		CHECK(write(ch->fd[1], data, (size_t)piece) == piece, "%s: write", ch->name);
		left -= piece;
		if (piece % 5 == 0)
			usleep(50);
	}
	shutdown(ch->fd[1], SHUT_WR);
	return NULL;
}

static void *wait_for_all(void *arg)
{
	static char buf[MEGA];
	struct channel *ch = arg;
	ssize_t n;

	while ((n = recv(ch->fd[0], buf, MEGA, MSG_WAITALL)) != 0)
		count(ch, n);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct channel channels[] = { { .name = "write to a pipe", .kind = 0 },
					     { .name = "writev to a pipe", .kind = 1 },
					     { .name = "send to a socket", .kind = 2 },
					     { .name = "recv(MSG_WAITALL)", .kind = 3 } };
	pthread_t threads[8];

	tracee_begin("partial", argc, argv, (struct tracee_options){ .ms = 300 });
	for (int i = 0; i < 4; i++) {
		struct channel *ch = &channels[i];
		int pair[2];

		if (ch->kind < 2) {
			TRY(pipe2(pair, O_CLOEXEC));
		} else {
			TRY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
		}
		ch->fd[0] = pair[0];
		ch->fd[1] = pair[1];
		threads[2 * i] = tracee_thread(ch->kind == 3 ? wait_for_all : drain, ch);
		threads[2 * i + 1] = tracee_thread(ch->kind == 3 ? trickle : pusher, ch);
	}
	tracee_wait();
	stop = true;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++) {
		CHECK(!channels[i].short_ones, "%s: %ld of %ld were short", channels[i].name,
		      (long)channels[i].short_ones, (long)channels[i].transfers);
		CHECK(channels[i].transfers, "%s: none", channels[i].name);
	}
	return tracee_ok("no transfer was short");
}
