/* SPDX-License-Identifier: MIT
 *
 * Transfers that are never short unless a signal with a handler, or job control,
 * comes in between: a mebibyte each, to or from somebody who takes or gives a
 * little at a time. Each byte that arrives is the one that its place in the
 * stream demands, so a count that is wrong shows, too.
 *
 *	--mode=whole	(default) no transfer may be short
 *	--mode=ignored	the same, while signals that are ignored come
 *	--mode=signals	signals with a handler come: transfers may be short, and go on;
 *			each handler has to find itself called from code of a file
 *	--mode=rest	transfers may be short, and go on; the last line says how many
 *			were
 *	--mode=filter	the same, where a system call that maps code is the end
 *	--mode=fork	as whole, then the same in a child and its parent at once
 *	SIGUSR2		nobody takes anything until the next one
 */
#include <dlfcn.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <termios.h>
#include <ucontext.h>

#include "tracee.h"

#define MEGA (1 << 20)
#define PERIOD 251 /* of the bytes in a stream: a prime */
#define PIECES 700 /* of vectors */
#define MESSAGES 200
#define ERESTARTSYS 512

enum way { PIPE, UNIX, TCP, TERMINAL, DATAGRAMS, NOWHERE };

struct channel;
struct kind {
	const char *name;
	enum way way;
	/* `n` bytes at place `at` of the stream, or of a new buffer; the count. */
	ssize_t (*push)(struct channel *ch, long at, size_t n);
	ssize_t (*pull)(struct channel *ch, char *to, size_t n);
	size_t size; /* of a transfer, MEGA if 0 */
};

struct channel {
	const struct kind *kind;
	int from, to;
	int spare[2]; /* a pipe to splice out of */
	pthread_t threads[2];
	long transfers, short_ones;
};

static atomic_bool stop, paused;
static bool forgiving;
static char data[MEGA + PERIOD]; /* a stream's bytes */
static int file; /* the same */

static char *bytes_at(long at)
{
	return data + at % PERIOD;
}

/* ---- giving all at once ---- */

static ssize_t push_write(struct channel *ch, long at, size_t n)
{
	return write(ch->to, bytes_at(at), n);
}

/* A few bytes in the first ones, empty ones in between. */
static int cut(struct iovec *v, char *from, size_t n)
{
	size_t done = 0, size;
	int i = 0;

	while (done < n && i < PIECES - 1) {
		size = i % 10 == 3 ? 0 : (size_t)(i % 7) * 400 + 1;
		size = size < n - done ? size : n - done;
		v[i++] = (struct iovec){ from + done, size };
		done += size;
	}
	v[i++] = (struct iovec){ from + done, n - done };
	return i;
}

static ssize_t push_writev(struct channel *ch, long at, size_t n)
{
	struct iovec v[PIECES];

	return writev(ch->to, v, cut(v, bytes_at(at), n));
}

static ssize_t push_send(struct channel *ch, long at, size_t n)
{
	return send(ch->to, bytes_at(at), n, 0);
}

static ssize_t push_sendmsg(struct channel *ch, long at, size_t n)
{
	struct iovec v[PIECES];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)cut(v, bytes_at(at), n) };

	return sendmsg(ch->to, &m, MSG_NOSIGNAL);
}

static ssize_t push_sendfile(struct channel *ch, long at, size_t n)
{
	off_t from = at % PERIOD, begin = from;
	ssize_t done = sendfile(ch->to, file, &from, n);

	CHECK(done < 0 || from == begin + done, "sendfile: %ld, but at %ld", (long)done,
	      (long)(from - begin));
	return done;
}

static ssize_t push_sendfile_on(struct channel *ch, long at, size_t n)
{
	TRY(lseek(file, at % PERIOD, SEEK_SET));
	return sendfile(ch->to, file, NULL, n);
}

static ssize_t push_splice(struct channel *ch, long at, size_t n)
{
	ssize_t filled = write(ch->spare[1], bytes_at(at), n), done;
	char rest[4096];

	CHECK(filled == (ssize_t)n, "a pipe with room for it took %ld", (long)filled);
	done = splice(ch->spare[0], NULL, ch->to, NULL, n, 0);
	for (size_t left = n - (size_t)(done > 0 ? done : 0); left;)
		left -= (size_t)read(ch->spare[0], rest, left < sizeof(rest) ? left : sizeof(rest));
	return done;
}

/* ---- taking all at once ---- */

static ssize_t pull_recv(struct channel *ch, char *to, size_t n)
{
	return recv(ch->from, to, n, MSG_WAITALL);
}

static ssize_t pull_recvmsg(struct channel *ch, char *to, size_t n)
{
	struct iovec v[PIECES];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)cut(v, to, n) };

	return recvmsg(ch->from, &m, MSG_WAITALL);
}

/* Datagrams of one byte. */
static ssize_t pull_recvmmsg(struct channel *ch, char *to, size_t n)
{
	struct mmsghdr m[MESSAGES];
	struct iovec v[MESSAGES];
	int got;

	for (size_t i = 0; i < n; i++) {
		v[i] = (struct iovec){ to + i, 1 };
		m[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &v[i], .msg_iovlen = 1 } };
	}
	got = recvmmsg(ch->from, m, (unsigned)n, 0, NULL);
	return got > 0 && !m[0].msg_len ? 0 : got; /* empty ones, at the end */
}

static ssize_t pull_random(struct channel *ch, char *to, size_t n)
{
	(void)ch;
	return getrandom(to, n, 0);
}

/* Between two files, at places that are given or at their own positions. */
static ssize_t pull_copy(struct channel *ch, char *to, size_t n)
{
	loff_t from = 0, into = 0;
	bool own = ch->transfers % 2;
	ssize_t done;

	if (ch->from < 0) {
		TRY(ch->from = memfd_create("from", MFD_CLOEXEC));
		TRY(ch->to = memfd_create("to", MFD_CLOEXEC));
		CHECK(write(ch->from, data, sizeof(data)) == sizeof(data), "memfd");
	}
	if (own) {
		TRY(lseek(ch->from, 0, SEEK_SET));
		TRY(lseek(ch->to, 0, SEEK_SET));
	}
	TRY(ftruncate(ch->to, 0));
	done = copy_file_range(ch->from, own ? NULL : &from, ch->to, own ? NULL : &into, n, 0);
	if (own) {
		from = lseek(ch->from, 0, SEEK_CUR);
		into = lseek(ch->to, 0, SEEK_CUR);
	}
	CHECK(done < 0 || (from == done && into == done), "copy_file_range: %ld, but at %ld, %ld",
	      (long)done, (long)from, (long)into);
	CHECK(done < 0 || pread(ch->to, to, n, 0) == done, "copy_file_range: not there");
	CHECK(done < 0 || !memcmp(to, data, (size_t)done), "copy_file_range: wrong bytes");
	return done;
}

static ssize_t pull_device(struct channel *ch, char *to, size_t n)
{
	struct iovec v[2] = { { to, n / 3 }, { to + n / 3, n - n / 3 } };

	if (ch->from < 0)
		TRY(ch->from = open("/dev/urandom", O_RDONLY | O_CLOEXEC));
	return ch->transfers % 2 ? preadv(ch->from, v, 2, 0) : pread(ch->from, to, n, 0);
}

static const struct kind kinds[] = {
	{ "write to a pipe", PIPE, push_write, NULL, 0 },
	{ "writev to a pipe", PIPE, push_writev, NULL, 0 },
	{ "send to a socket", UNIX, push_send, NULL, 0 },
	{ "write to a socket", UNIX, push_write, NULL, 0 },
	{ "send by TCP", TCP, push_send, NULL, 0 },
	{ "sendmsg by TCP", TCP, push_sendmsg, NULL, 0 },
	{ "sendfile to a socket", UNIX, push_sendfile, NULL, 0 },
	{ "sendfile by TCP", TCP, push_sendfile_on, NULL, 0 },
	{ "splice to a socket", UNIX, push_splice, NULL, 0 },
	{ "write to a terminal", TERMINAL, push_write, NULL, 0 },
	{ "recv(MSG_WAITALL)", UNIX, NULL, pull_recv, 0 },
	{ "recvmsg(MSG_WAITALL) by TCP", TCP, NULL, pull_recvmsg, 0 },
	{ "recvmmsg", DATAGRAMS, NULL, pull_recvmmsg, MESSAGES },
	{ "getrandom", NOWHERE, NULL, pull_random, 0 },
	{ "copy_file_range", NOWHERE, NULL, pull_copy, 0 },
	{ "pread, preadv", NOWHERE, NULL, pull_device, 0 },
};
#define KINDS ((long)(sizeof(kinds) / sizeof(kinds[0])))

/* ---- who hurries, and who does not ---- */

/* What was done of a transfer. Who takes each for a whole one would go on with
 * the next in any case. */
static size_t count(struct channel *ch, ssize_t n, size_t asked)
{
	/* Linux's recvmmsg() keeps the signal that interrupted it as the next call's error. */
	CHECK(n > 0 || errno == EINTR || (forgiving && errno == ERESTARTSYS), "%s: %s",
	      ch->kind->name, strerror(errno));
	CHECK((size_t)n <= asked || n < 0, "%s: %ld of %ld", ch->kind->name, (long)n, (long)asked);
	ch->transfers += n > 0;
	ch->short_ones += n > 0 && (size_t)n < asked;
	return !forgiving ? asked : n > 0 ? (size_t)n : 0;
}

static void check_bytes(const struct channel *ch, const char *bytes, size_t n, long at)
{
	CHECK(!memcmp(bytes, bytes_at(at), n), "%s: another byte than there should be",
	      ch->kind->name);
}

static size_t size_of(const struct channel *ch)
{
	return ch->kind->size ? ch->kind->size : MEGA;
}

static void *pusher(void *arg)
{
	struct channel *ch = arg;
	size_t n = size_of(ch);
	long at = 0;

	while (!stop)
		at += (long)count(ch, ch->kind->push(ch, at, n), n);
	close(ch->to);
	return NULL;
}

static void *puller(void *arg)
{
	struct channel *ch = arg;
	char *buffer = malloc(MEGA);
	size_t n = size_of(ch), left = 0;
	ssize_t got;
	long at = 0;

	while (!stop || left || ch->kind->way != NOWHERE) {
		left = left ? left : n;
		got = ch->kind->pull(ch, buffer, left);
		if (!got || (got < 0 && errno == EIO))
			break;
		got = (ssize_t)count(ch, got, left);
		if (ch->kind->way != NOWHERE)
			check_bytes(ch, buffer, (size_t)got, at);
		at += got;
		left -= (size_t)got;
		if (stop && !left && ch->kind->way == NOWHERE)
			break;
	}
	free(buffer);
	return NULL;
}

/* Odd small pieces, a pause now and then. */
static void *drain(void *arg)
{
	const struct channel *ch = arg;
	char buffer[7001];
	ssize_t n;
	long at = 0;

	while ((n = read(ch->from, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		check_bytes(ch, buffer, (size_t)n, at);
		at += n;
		if (at % 7 == 0)
			usleep(100);
		while (paused && !stop)
			usleep(1000);
	}
	CHECK(n == 0 || errno == EIO, "%s: read: %s", ch->kind->name, strerror(errno));
	return NULL;
}

static void *trickle(void *arg)
{
	const struct channel *ch = arg;
	long size = (long)size_of(ch), left = 0, piece = 0, at = 0;
	long most = ch->kind->way == DATAGRAMS ? 1 : 9001;

	while (!stop || left) {
		left = left ? left : size;
		piece = piece % most + (most > 1000 ? 1000 : 1);
		piece = piece < left ? piece : left;
		piece = piece < most ? piece : most;
		CHECK(write(ch->to, bytes_at(at), (size_t)piece) == piece, "%s: write",
		      ch->kind->name);
		at += piece;
		left -= piece;
		if (at % 5 == 0)
			usleep(50);
	}
	if (ch->kind->way == DATAGRAMS)
		close(ch->to);
	else
		shutdown(ch->to, SHUT_WR);
	return NULL;
}

/* ---- channels ---- */

static void connect_tcp(int pair[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(a);
	int listener;

	TRY(listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(bind(listener, (struct sockaddr *)&a, size));
	TRY(listen(listener, 1));
	TRY(getsockname(listener, (struct sockaddr *)&a, &size));
	TRY(pair[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	TRY(connect(pair[1], (struct sockaddr *)&a, size));
	TRY(pair[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	close(listener);
}

/* Its two ends, which pass bytes as they are. */
static void open_terminal(int *outer, int *inner)
{
	struct termios mode;

	TRY(*outer = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	TRY(grantpt(*outer));
	TRY(unlockpt(*outer));
	TRY(*inner = open(ptsname(*outer), O_RDWR | O_NOCTTY | O_CLOEXEC));
	TRY(tcgetattr(*inner, &mode));
	cfmakeraw(&mode);
	TRY(tcsetattr(*inner, TCSANOW, &mode));
}

static void open_channel(struct channel *ch)
{
	int pair[2] = { -1, -1 };

	switch (ch->kind->way) {
	case PIPE:
		TRY(pipe2(pair, O_CLOEXEC));
		break;
	case UNIX:
		TRY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
		break;
	case DATAGRAMS:
		TRY(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
		break;
	case TCP:
		connect_tcp(pair);
		break;
	case TERMINAL:
		open_terminal(&pair[0], &pair[1]);
		break;
	case NOWHERE:
		break;
	}
	ch->from = pair[0];
	ch->to = pair[1];
	TRY(pipe2(ch->spare, O_CLOEXEC));
	TRY(fcntl(ch->spare[1], F_SETPIPE_SZ, MEGA));
}

static void begin(struct channel *channels)
{
	for (long i = 0; i < KINDS; i++) {
		struct channel *ch = &channels[i];

		ch->kind = &kinds[i];
		open_channel(ch);
		ch->threads[0] = tracee_thread(ch->kind->push ? pusher : puller, ch);
		if (ch->kind->way != NOWHERE)
			ch->threads[1] = tracee_thread(ch->kind->push ? drain : trickle, ch);
	}
}

/* Returns how many were short. */
static long end(struct channel *channels, long *transfers)
{
	long short_ones = 0;

	stop = true;
	for (long i = 0; i < KINDS; i++) {
		struct channel *ch = &channels[i];

		pthread_join(ch->threads[0], NULL);
		if (ch->kind->way != NOWHERE)
			pthread_join(ch->threads[1], NULL);
		CHECK(forgiving || !ch->short_ones, "%s: %ld of %ld were short", ch->kind->name,
		      ch->short_ones, ch->transfers);
		CHECK(ch->transfers, "%s: none", ch->kind->name);
		if (opt.size)
			tracee_line(ch->kind->name, "%ld of %ld", ch->short_ones, ch->transfers);
		short_ones += ch->short_ones;
		*transfers += ch->transfers;
	}
	stop = false;
	return short_ones;
}

/* ---- signals ---- */

static void *interrupted_at(const void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

#ifdef __x86_64__
	return (void *)m->gregs[REG_RIP];
#else
	return (void *)m->pc;
#endif
}

static void on_signal(int sig, siginfo_t *si, void *context)
{
	Dl_info info;

	(void)sig;
	(void)si;
	CHECK(dladdr(interrupted_at(context), &info), "a signal at %p", interrupted_at(context));
}

/* Nobody else is interrupted by it. */
static void *wait_for_pauses(void *arg)
{
	const sigset_t *set = arg;
	int sig;

	while (!sigwait(set, &sig))
		paused = !paused;
	return NULL;
}

/* Whoever maps code dies. */
static void filter_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	TRY(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	TRY(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void *disturb(void *arg)
{
	struct channel *channels = arg;

	for (long i = 0; !stop; i = (i + 1) % KINDS) {
		pthread_kill(channels[i].threads[0], SIGUSR1);
		usleep(200);
	}
	return NULL;
}

static long run(struct channel *channels, long *transfers)
{
	bool signals = !strcmp(opt.mode, "signals") || !strcmp(opt.mode, "ignored");
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_RESTART | SA_SIGINFO };
	pthread_t disturber;
	long short_ones;

	if (!strcmp(opt.mode, "ignored"))
		action = (struct sigaction){ .sa_handler = SIG_IGN };
	sigaction(SIGUSR1, &action, NULL);
	begin(channels);
	if (signals)
		disturber = tracee_thread(disturb, channels);
	tracee_wait();
	stop = true;
	if (signals)
		pthread_join(disturber, NULL);
	short_ones = end(channels, transfers);
	return short_ones;
}

int main(int argc, char **argv)
{
	static struct channel channels[KINDS], others[KINDS];
	static sigset_t pause_set;
	long short_ones, transfers = 0;
	char path[64];
	pid_t child;

	tracee_begin("transfers", argc, argv,
		     (struct tracee_options){ .ms = 300, .mode = "whole" });
	forgiving = strcmp(opt.mode, "whole") && strcmp(opt.mode, "ignored") &&
		    strcmp(opt.mode, "fork");
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&pause_set);
	sigaddset(&pause_set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &pause_set, NULL);
	pthread_detach(tracee_thread(wait_for_pauses, &pause_set));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i % PERIOD);
	TRY(file = memfd_create("transfers", MFD_CLOEXEC));
	CHECK(write(file, data, sizeof(data)) == sizeof(data), "memfd");
	if (!strcmp(opt.mode, "filter"))
		filter_calls();
	short_ones = run(channels, &transfers);
	if (!strcmp(opt.mode, "fork")) {
		TRY(child = fork());
		/* Of its own position. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		TRY(file = open(path, O_RDONLY | O_CLOEXEC));
		run(others, &transfers);
		if (!child)
			_exit(0);
		CHECK(tracee_reap(child) == 0, "the child failed");
	}
	if (forgiving)
		return tracee_ok("%ld of %ld transfers were short", short_ones, transfers);
	return tracee_ok("every byte is there");
}
