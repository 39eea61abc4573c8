/* SPDX-License-Identifier: MIT
 *
 * Every blocking call, each in a thread of its own, which must come back with
 * what it waited for and with nothing else. A profiler that interrupts a
 * blocked thread, or lets an ignored signal wake it, shows here as EINTR.
 *
 *	prepare		sets the scene (descriptors, locks, a child)
 *	block		makes the call once: its result, or -errno
 *	release		gives the call what it waits for, when the program ends
 *
 * Calls with a timeout are made in a loop (30 ms each) until the end; they must
 * time out, and not early. SIGUSR1 and the signals that sigwait and signalfd
 * wait for are blocked everywhere; SIGUSR2's handler ends pause() and
 * sigsuspend(), which return EINTR then, and only then.
 */
#include <sys/stat.h>

#include "eintr.h"

atomic_bool stop;
__thread struct slot *self;
char scratch[32] = "/tmp/eintr.XXXXXX";

static struct slot slots[100];
static size_t slot_count;

static void on_usr2(int sig)
{
	(void)sig;
	if (self)
		self->handled++;
}

static void *waiter(void *arg)
{
	struct slot *s = arg;

	self = s;
	s->tid = tracee_tid();
	for (;;) {
		uint64_t begin = tracee_clock(CLOCK_MONOTONIC);
		long got;

		s->entered = true;
		got = s->call->block(s);
		if (got == -EINTR) {
			s->interrupted++;
			continue;
		}
		CHECK(got == s->call->want, "%s returned %ld, not %ld", s->call->name, got,
		      s->call->want);
		if (s->call->release) {
			CHECK(stop, "%s returned before it was released", s->call->name);
			break;
		}
		CHECK(tracee_clock(CLOCK_MONOTONIC) - begin >= NAP_NS * 9ULL / 10,
		      "%s: time was up too early", s->call->name);
		if (stop)
			break;
	}
	s->done = true;
	return NULL;
}

/* Blocked, says the kernel: the release must not come before the call. */
static void await_blocked(struct slot *s)
{
	char path[64], state;
	FILE *f;

	while (!s->entered || !s->tid)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)s->tid);
	do {
		f = fopen(path, "re");
		CHECK(f, "%s: %s", path, strerror(errno));
		CHECK(fscanf(f, "%*d (%*[^)]) %c", &state) == 1, "%s", path);
		fclose(f);
	} while (state == 'R');
}

/* --mode=NAME begins only that one. */
static void begin_table(const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct slot *s = &slots[slot_count];

		s->call = &calls[i];
		if (opt.mode && strcmp(opt.mode, s->call->name))
			continue;
		if (s->call->prepare && !s->call->prepare(s)) {
			fprintf(stderr, "eintr: left out: %s: %s\n", s->call->name,
				strerror(errno));
			continue;
		}
		slot_count++;
		s->thread = tracee_thread_of(65536, waiter, s);
	}
}

static void begin_all(void)
{
	struct sigaction action = { .sa_handler = on_usr2 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaction(SIGUSR2, &action, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(mkdtemp(scratch), "mkdtemp: %s", strerror(errno));
	begin_table(descriptor_calls, descriptor_call_count);
	begin_table(other_calls, other_call_count);
	for (size_t i = 0; i < slot_count; i++)
		await_blocked(&slots[i]);
}

static int end_all(void)
{
	char text[900] = "";
	size_t len = 0;

	stop = true;
	for (size_t i = 0; i < slot_count; i++) {
		struct slot *s = &slots[i];

		if (s->call->release)
			s->call->release(s);
		pthread_join(s->thread, NULL);
		if (s->path[0])
			unlink(s->path);
		if (s->interrupted && len < sizeof(text) - 64)
			len += (size_t)snprintf(text + len, sizeof(text) - len, " %s x%ld",
						s->call->name, (long)s->interrupted);
	}
	rmdir(scratch);
	CHECK(!len, "EINTR from nowhere:%s", text);
	CHECK(slot_count, "no call named %s", opt.mode);
	return tracee_ok("no EINTR in %zu blocking calls", slot_count);
}

int main(int argc, char **argv)
{
	tracee_begin("eintr", argc, argv, (struct tracee_options){ .ms = 200 });
	begin_all();
	tracee_wait();
	return end_all();
}
