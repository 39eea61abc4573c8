/* SPDX-License-Identifier: MIT
 *
 * Detours in another process, put there by the tracer: each call that the program counts
 * is in the records, its results are right, and the text is what it was afterwards.
 */
#include "test.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/decoder.h"
#include "arch/insn.h"
#include "base/clock.h"
#include "detour_pilot.h"

static const char *program;

/* ---- breakpoints that are written one by one ---- */

static uint64_t text; /* the program's that is looked at */
static size_t text_size;
static bool *starts; /* of its bytes: an instruction begins there */

/* Of a function; what is in none is not looked at. */
static void find_starts(struct cp_decoder *decoder, const uint8_t *code, size_t from, size_t size)
{
	struct cp_insn insn;
	size_t at, step;

	for (at = from; at < from + size; at += step) {
		step = cp_decode(decoder, code + at, from + size - at, text + at, &insn) ? insn.size
											 : 1;
		memset(starts + at + 1, 0, step - 1);
	}
}

static void find_instructions(const struct pilot *p)
{
	struct detour_file f;
	size_t i;

	CHECK_OK(detour_file_open(program, &f));
	text_size = p->board->text_end - p->board->text;
	starts = realloc(starts, text_size);
	memset(starts, true, text_size);
	text = p->board->text;
	for (i = 0; i < f.functions.count; i++) {
		const struct cp_probe_function *function = &f.functions.items[i];

		if (function->linkage_name && strncmp(function->linkage_name, "d_", 2) == 0)
			find_starts(f.decoder, p->text, function->address + p->board->bias - text,
				    function->size);
	}
	detour_file_close(&f);
}

ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t at);

/* Here and in tracers. In the middle of an instruction a breakpoint is none: whoever runs into
 * it has something else. */
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
	if (size == 1 && *(const uint8_t *)bytes == 0xcc && (uint64_t)at - text < text_size &&
	    !starts[(uint64_t)at - text]) {
		fprintf(stderr, "a breakpoint in the middle of an instruction, at %#lx\n",
			(unsigned long)((uint64_t)at - text));
		abort();
	}
	return __real_pwrite64(fd, bytes, size, at);
}

/* How it ended is said on the way. */
static bool is_alive(const struct pilot *p)
{
	siginfo_t si = { 0 };

	if (waitid(P_PID, (id_t)p->program, &si, WEXITED | WNOHANG | WNOWAIT))
		return false;
	if (si.si_pid)
		fprintf(stderr, "%s: ended, code %d, status %d\n", program, si.si_code,
			si.si_status);
	return !si.si_pid;
}

/* What is there, while the program lives. */
static void pump(struct pilot *p)
{
	if (!is_alive(p)) {
		fprintf(stderr, "%s: the program is gone\n", program);
		exit(1);
	}
	pilot_pump(p);
}

static void check_all(struct pilot *p)
{
	CHECK_U64(p->entered, p->board->calls);
	CHECK_U64(p->left + p->unwound, p->entered);
	CHECK_U64(p->wrong, 0);
	CHECK_U64(p->lost, 0);
	CHECK_U64(p->board->wrong, 0);
}

static void check_end(struct pilot *p)
{
	CHECK(pilot_leave(p));
	CHECK(pilot_text_is_clean(p));
	CHECK_U64((uint64_t)pilot_end(p), 0);
}

static void check_left(struct pilot *p)
{
	CHECK(pilot_leave(p));
	check_all(p);
	CHECK(pilot_text_is_clean(p));
	CHECK_U64((uint64_t)pilot_end(p), 0);
}

/* From before the first call: all of them. */
static void test_counts(const char *mode, int threads, uint64_t limit)
{
	struct pilot p;
	uint64_t began;

	pilot_start(&p, program, mode, threads, limit);
	/* Hundreds of threads that wait take nearly all of two processors from us. */
	p.soon = UINT64_C(1) << 42;
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_detour(&p), 0);
	CHECK_U64(pilot_jumps(&p), p.windows.count);
	began = cp_now();
	p.board->go = 1;
	pilot_until(&p, 9);
	fprintf(stderr, "%s, %d threads: %lu calls, %.1f ns each\n", mode, threads,
		(unsigned long)p.board->calls, (double)(cp_now() - began) / (double)p.board->calls);
	CHECK(p.threads > (uint64_t)threads && p.hits == 0);
	if (strcmp(mode, "work") != 0 && strcmp(mode, "forks") != 0) {
		fprintf(stderr, "%lu signals, %lu records cancelled\n",
			(unsigned long)p.board->signals, (unsigned long)p.cancelled);
		CHECK(p.board->signals > 10);
		CHECK_U64(p.board->strange, 0);
		CHECK_U64(p.board->cut, 0);
	}
	check_left(&p);
}

/* An exec takes everything with it: the next program has no detours, and no ring. */
static void test_exec(void)
{
	struct pilot p;

	pilot_start(&p, program, "exec", 2, 1000);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_detour(&p), 0);
	p.board->go = 1;
	pilot_until(&p, 9);
	CHECK_U64(p.events[CP_EVENT_EXEC], 1);
	CHECK_U64(p.entered * 4, p.board->calls * 3); /* of three threads, then one */
	CHECK_U64(p.wrong, 0);
	CHECK_U64(p.board->wrong, 0);
	CHECK(pilot_leave(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* Jumps come and go while the program runs and handles signals. */
static void test_disarm(void)
{
	struct pilot p;
	uint64_t until;
	int i;

	pilot_start(&p, program, "signals", 2, 0);
	p.soon = UINT64_C(1) << 28;
	p.board->go = 1;
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_detour(&p), 0);
	for (i = 0; i < 20; i++) {
		for (until = p.entered + 1000; p.entered < until;)
			pump(&p);
		CHECK_U64(pilot_jumps(&p), p.windows.count);
		CHECK_U64((uint64_t)pilot_disarm(&p), 0);
		CHECK(pilot_text_is_clean(&p));
		CHECK_U64((uint64_t)pilot_arm(&p), 0);
	}
	CHECK_U64(p.board->wrong + p.board->strange + p.board->cut, 0);
	check_end(&p);
}

/* More threads than rings: some are not seen, and nobody is the worse for it. */
static void test_no_ring(int threads)
{
	struct pilot p;

	pilot_start(&p, program, "rest", threads, 20);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_detour(&p), 0);
	p.board->go = 1;
	pilot_until(&p, 9);
	CHECK(p.threads > PILOT_RINGS / 2 && p.entered > 0 && p.entered <= p.board->calls);
	CHECK_U64(p.wrong, 0);
	CHECK_U64(p.board->wrong, 0);
	check_end(&p);
}

/* ---- killed ---- */

enum victim { TRACER, CONTROLLER, BOTH, VICTIMS };

/* A controller of its own, which puts jumps in and takes them out until it dies. */
static pid_t spawn_controller(struct pilot *p)
{
	pid_t pid = fork();
	uint64_t until;

	if (pid)
		return pid;
	p->lossless = false;
	p->soon = UINT64_C(1) << 27;
	pilot_trace(p, CP_TRACE_FOLLOW);
	if (pilot_detour(p))
		_exit(1);
	for (;;) {
		for (until = cp_now() + 3 * CP_NS_PER_MS; cp_now() < until;)
			pilot_pump(p);
		p->board->armed++;
		if (pilot_disarm(p) || pilot_arm(p))
			_exit(1);
	}
}

/* Waits until the program has made so many rounds more, and is alive. */
static bool runs_on(const struct pilot *p, uint64_t more)
{
	uint64_t want = p->board->rounds + more;

	while (p->board->rounds < want) {
		if (!is_alive(p))
			return false;
		usleep(100);
	}
	return true;
}

static void test_kill(const char *mode, enum victim victim, unsigned n, int threads)
{
	struct pilot p;
	pid_t controller;
	bool alive;

	pilot_start(&p, program, mode, threads, 0);
	p.board->go = 1;
	controller = spawn_controller(&p);
	while (!p.board->tracer || (n % 4 && !p.board->armed))
		usleep(100);
	usleep(500 + n * 3797 % 12011);
	if (victim != CONTROLLER)
		kill(p.board->tracer, SIGKILL);
	if (victim != TRACER)
		kill(controller, SIGKILL);
	alive = runs_on(&p, 4096);
	CHECK(alive);
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
	while (waitpid(p.board->tracer, NULL, 0) < 0 && errno == EINTR)
		;
	if (alive) {
		pilot_trace(&p, CP_TRACE_FOLLOW);
		CHECK(pilot_leave(&p));
		CHECK(pilot_text_is_clean(&p));
		CHECK(runs_on(&p, 4096));
	}
	CHECK_U64(p.board->wrong, 0);
	if (pilot_end(&p) || !alive)
		fprintf(stderr, "%s, victim %d, round %u\n", mode, victim, n);
}

static void test_kills(unsigned count)
{
	unsigned n;

	for (n = 0; n < count; n++)
		test_kill(n / VICTIMS % 2 ? "signals" : "work", n % VICTIMS, n, 2);
}

/* ---- nobody reads ---- */

/* A controller of its own, after whose last word the tracer has no room for anything. */
static pid_t spawn_silent(struct pilot *p)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	p->soon = UINT64_C(1) << 40;
	pilot_trace(p, CP_TRACE_FOLLOW);
	if (pilot_detour(p))
		_exit(1);
	pilot_pump(p);
	p->link.shared->tail = p->link.shared->head - CP_LINK_RING;
	p->board->armed = 1;
	p->board->go = 1;
	for (;;)
		pause();
}

static bool is_at_stop(const struct pilot *p)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->program);
	stat = fopen(path, "re");
	if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (stat)
		fclose(stat);
	return state == 't';
}

/* A thread asks for a ring, which can't be told; then the controller is killed. */
static void test_silent(void)
{
	struct pilot p;
	pid_t controller;

	pilot_start(&p, program, "work", 0, 0);
	controller = spawn_silent(&p);
	while (!p.board->armed || !is_at_stop(&p))
		usleep(100);
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
	while (waitpid(p.board->tracer, NULL, 0) < 0 && errno == EINTR)
		;
	CHECK(runs_on(&p, 4096));
	CHECK(pilot_text_is_clean(&p));
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

/* ---- nobody can be asked ---- */

/* Without the right to suspend filters of system calls; true: it was there. */
static bool set_admin(bool on)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	bool was;

	if (syscall(SYS_capget, &head, data))
		return false;
	was = data[0].effective >> CAP_SYS_ADMIN & 1;
	data[0].effective &= ~(UINT32_C(1) << CAP_SYS_ADMIN);
	data[0].effective |= (uint32_t)on << CAP_SYS_ADMIN;
	CHECK(!syscall(SYS_capset, &head, data));
	return was;
}

/* The program has filters of system calls since, so that it can't be asked for any. */
static void test_sandbox(void)
{
	bool admin = set_admin(false);
	struct pilot p;

	pilot_start(&p, program, "sandbox", 1, 0);
	pilot_trace(&p, CP_TRACE_FOLLOW);
	CHECK_U64((uint64_t)pilot_detour(&p), 0);
	p.board->go = 1;
	while (p.entered < 10000)
		pump(&p);
	CHECK(pilot_leave(&p));
	CHECK(pilot_text_is_clean(&p));
	CHECK(runs_on(&p, 4096));
	CHECK_U64(p.board->wrong, 0);
	CHECK_U64((uint64_t)pilot_end(&p), 0);
	if (admin)
		set_admin(true);
}

/* ---- again and again ---- */

/* But for code: each session of a pilot has a place of its own for that. */
static size_t count_mappings(const struct pilot *p)
{
	char path[64], line[512];
	size_t n = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->program);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		n += !strstr(line, " r-xp 00000000 00:00 0 \n");
	if (maps)
		fclose(maps);
	return n;
}

/* Sessions, one after the other; threads that rest have the rings of an earlier one. Rings
 * stay for one session longer where somebody may still have them (two mappings), or go at
 * once: what each session leaves for good shows in the fewest mappings of the later half. */
#define SESSIONS 8
static void test_again(const char *mode, bool killed)
{
	size_t first = 0, fewest = SIZE_MAX, now;
	struct pilot p;
	int i;

	pilot_start(&p, program, mode, 3, 0);
	find_instructions(&p);
	p.board->go = 1;
	for (i = 0; i < SESSIONS; i++) {
		p.entered = p.left = p.unwound = p.threads = p.wrong = 0;
		p.soon = UINT64_C(1) << 28;
		pilot_trace(&p, CP_TRACE_FOLLOW);
		CHECK_U64((uint64_t)pilot_detour(&p), 0);
		while (p.threads < 4 || p.entered < 4000)
			pump(&p);
		CHECK_U64(p.threads, 4);
		if (killed && i % 2 == 0) {
			kill(p.tracer, SIGKILL);
			waitpid(p.tracer, NULL, 0);
		} else {
			CHECK(pilot_leave(&p));
			CHECK(pilot_text_is_clean(&p));
		}
		now = count_mappings(&p);
		if (i == 0)
			first = now;
		else if (i >= SESSIONS / 2)
			fewest = now < fewest ? now : fewest;
		pilot_forget(&p);
	}
	CHECK(killed || fewest < first + SESSIONS / 2);
	fprintf(stderr, "%s: %zu mappings, later at least %zu\n", mode, first, fewest);
	text_size = 0;
	CHECK_U64((uint64_t)pilot_end(&p), 0);
}

static void test_agains(int count)
{
	while (count--)
		test_again("rest", true);
}

static void test_all(void)
{
	test_counts("work", 0, 20000);
	test_counts("work", 3, 20000);
	test_counts("signals", 2, 100000);
	test_counts("storm", 0, 60000);
	test_counts("forks", 20, 200);
	test_disarm();
	test_again("work", false);
	test_again("rest", false);
	test_again("rest", true);
	test_silent();
	test_sandbox();
	test_kills(6);
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("KILLS"), *again = getenv("AGAIN");
	int i;

	prctl(PR_SET_CHILD_SUBREAPER, 1L);
	for (i = 1; i < argc; i++) {
		program = argv[i];
		if (again)
			test_agains(atoi(again));
		else if (rounds)
			test_kills((unsigned)atoi(rounds));
		else
			test_all();
	}
	if (!rounds && !again) {
		program = argv[1];
		test_counts("work", 200, 500);
		test_exec();
		test_no_ring(400);
	}
	TEST_MAIN_END;
}
