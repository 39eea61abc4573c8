/* SPDX-License-Identifier: MIT
 *
 * The program that the tests of breakpoints trace: it calls functions whose
 * every instruction is known, counts the calls, checks each result, and waits
 * where it is told to.
 *
 *	tracer_program MODE THREADS	the board is descriptor BOARD_FD
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tracer_board.h"

static struct board *board;
static const char *mode;

#define FUNCTION(name, body) \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name \
		":\n" body ".globl " #name "_end\n" #name "_end:\n.size " #name ", .-" #name \
		"\n"); \
	extern char name##_end[]; \
	uint64_t name(uint64_t x, const char *text, double value)

FUNCTION(f_plain, "push %rbx\n"
		  "mov %rdi, %rbx\n"
		  "lea 7(%rbx,%rbx,2), %rax\n"
		  "pop %rbx\n"
		  "ret\n");
FUNCTION(f_pad, "endbr64\n"
		"lea 3(%rdi,%rdi,4), %rax\n"
		"ret\n");
FUNCTION(f_tiny, "ret\n");
FUNCTION(f_tail, "test $1, %edi\n"
		 "jne f_plain\n"
		 "lea 1(%rdi), %rax\n"
		 "ret\n");
FUNCTION(f_block, "mov $39, %eax\n" /* getpid */
		  "syscall\n"
		  "ret\n");

__asm__(".text\n.p2align 4\n.globl bulk\nbulk:\n"
	".rept 2000\npush %rbx\nmov %edi, %eax\npop %rbx\nret\n.p2align 4\n.endr\n");
extern char bulk[];

static const char *const texts[] = { "a", "text of some length", "" };

static void check(uint64_t got, uint64_t want)
{
	if (got != want)
		board->wrong++;
}

static void one_round(uint64_t n, uint64_t *calls)
{
	const char *text = texts[n % 3];

	check(f_plain(n, text, (double)n), 3 * n + 7);
	calls[F_PLAIN]++;
	check(f_pad(n, text, 0.5), 5 * n + 3);
	calls[F_PAD]++;
	f_tiny(n, text, 0);
	calls[F_TINY]++;
	check(f_tail(n, text, 0), n & 1 ? 3 * n + 7 : n + 1);
	calls[F_TAIL]++;
	calls[F_PLAIN] += n & 1;
}

static void call_bulk(void)
{
	uint64_t i;

	for (i = 0; i < BULK; i++)
		check(((uint64_t(*)(uint64_t))(uintptr_t)(bulk + i * BULK_SIZE))(i), i);
}

static void wait_for(uint32_t stage)
{
	const struct timespec nap = { 0, 200000 };

	board->ready = stage;
	while (board->go < stage)
		nanosleep(&nap, NULL);
}

static void *work(void *arg)
{
	size_t self = (size_t)(uintptr_t)arg;
	uint64_t calls[F_COUNT] = { 0 }, n;

	for (n = 0; board->limit ? n < board->limit : !board->stop; n++) {
		one_round(n, calls);
		board->rounds[self] = n + 1;
	}
	for (n = 0; n < F_COUNT; n++)
		board->calls[n] += calls[n];
	return NULL;
}

static void work_all(long threads)
{
	pthread_t ids[BOARD_THREADS];
	long i;

	for (i = 1; i < threads; i++)
		pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i);
	work(NULL);
	for (i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
}

/* ---- signals ---- */

static uint64_t pc_of(void *context)
{
	return (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	uint64_t pc = pc_of(context);

	(void)sig;
	(void)info;
	board->signals++;
	board->in_area += pc >= board->area && pc < board->area_end;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	board->own_traps++;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = handler;
	sigaction(sig, &action, NULL);
}

static void signal_storm(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } };

	handle(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &often, NULL);
	work(NULL);
	setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
}

static void own_traps(void)
{
	uint64_t calls[F_COUNT] = { 0 }, n;

	handle(SIGTRAP, on_trap);
	wait_for(2);
	for (n = 0; n < board->limit; n++) {
		one_round(n, calls);
		__asm__ volatile("int3");
	}
	for (n = 0; n < F_COUNT; n++)
		board->calls[n] += calls[n];
}

/* SIGTRAP blocked while breakpoints are hit: the mask stays, and so does what
 * happens to a SIGTRAP that is sent. */
static void blocked(void)
{
	sigset_t set, now;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR1);
	handle(SIGTRAP, on_trap);
	wait_for(2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
	work(NULL);
	sigprocmask(SIG_BLOCK, NULL, &now);
	board->wrong += !sigismember(&now, SIGTRAP);
	board->wrong += board->own_traps != 0;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	board->wrong += board->own_traps != 1;
}

/* ---- children ---- */

static void reap(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		board->wrong++;
}

static void forks(void)
{
	uint64_t i, calls[F_COUNT] = { 0 };
	pid_t pid;

	for (i = 0; i < board->limit; i++) {
		pid = fork();
		if (!pid) {
			one_round(i, calls);
			_exit(0);
		}
		reap(pid);
		one_round(i, calls);
	}
	for (i = 0; i < F_COUNT; i++)
		board->calls[i] += calls[i];
}

static void vforks(char **argv)
{
	char *const child[] = { argv[0], (char *)(uintptr_t) "nothing", (char *)(uintptr_t) "1",
				NULL };
	volatile uint64_t i;
	uint64_t calls[F_COUNT] = { 0 };
	pid_t pid;

	for (i = 0; i < board->limit; i++) {
		pid = vfork();
		if (!pid) {
			f_plain(1, "", 0);
			if (i % 2)
				_exit(0);
			execv("/proc/self/exe", child);
			_exit(1);
		}
		reap(pid);
		one_round(i, calls);
	}
	for (unsigned f = 0; f < F_COUNT; f++)
		board->calls[f] += calls[f];
}

/* ---- fences ---- */

static void forbid_mmap(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		board->wrong++;
}

static void no_memory(void)
{
	struct rlimit limit = { 1, 1 };

	setrlimit(RLIMIT_AS, &limit);
}

static void set_board(void)
{
	extern char __executable_start[], etext[];
	uint64_t (*const start[])(uint64_t, const char *, double) = { f_plain, f_pad, f_tiny,
								      f_tail, f_block };
	char *const end[] = { f_plain_end, f_pad_end, f_tiny_end, f_tail_end, f_block_end };
	int i;

	for (i = 0; i < F_COUNT; i++) {
		board->start[i] = (uint64_t)(uintptr_t)start[i];
		board->end[i] = (uint64_t)(uintptr_t)end[i];
	}
	board->bulk = (uint64_t)(uintptr_t)bulk;
	board->text = (uint64_t)(uintptr_t)__executable_start;
	board->text_end = (uint64_t)(uintptr_t)etext;
}

int main(int argc, char **argv)
{
	mode = argc > 2 ? argv[1] : "nothing";
	if (!strcmp(mode, "nothing"))
		return 0;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, BOARD_FD, 0);
	if (board == MAP_FAILED)
		return 2;
	set_board();
	if (!strcmp(mode, "seccomp"))
		forbid_mmap();
	if (!strcmp(mode, "no memory"))
		no_memory();
	wait_for(1);
	if (!strcmp(mode, "signals"))
		signal_storm();
	else if (!strcmp(mode, "own traps"))
		own_traps();
	else if (!strcmp(mode, "blocked"))
		blocked();
	else if (!strcmp(mode, "forks"))
		forks();
	else if (!strcmp(mode, "bulk"))
		call_bulk();
	else if (!strcmp(mode, "vforks"))
		vforks(argv);
	else
		work_all(strtol(argv[2], NULL, 10));
	wait_for(9);
	return board->wrong ? 1 : 0;
}
