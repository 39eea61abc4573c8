/* SPDX-License-Identifier: MIT
 *
 * Coroutines and signal handlers whose stacks are arrays in frames of the thread's
 * own stack. Every function of the namespace `told` writes down when it is entered,
 * left or jumped out of, and how many of them are around it on its own stack, so
 * that the program's own account stands on standard output:
 *
 *	THREAD enter|leave|unwind FUNCTION DEPTH
 *
 * --mode=generate	main calls others while it rests, is resumed from deeper calls
 *	several		four of them in one array, which resume each other
 *	nested		one has another one's stack in its own frame
 *	jump		longjmp and throw on either side while the other one rests
 *	handler		sigaltstack, with a jump out of the handler
 *	same		the same functions, from the same place, on both kinds of stack
 *	plain		no coroutines: calls, longjmp and throw
 *	abandon		what rests is given up with the frame that its stack is in
 *	bare		a switch of its own (x86-64), on a stack whose first return address is 0
 *	blind		the same, entered by code without unwind information, on a stack that
 *			begins with what is no address
 */
#include <initializer_list>
#include <setjmp.h>
#include <ucontext.h>

#include "tracee.h"

#define STACK (32 * 1024)
#define LINES 65536

struct line {
	const char *what, *function;
	int depth;
};

struct side; /* a stack, and what is known of it */

struct account {
	struct line lines[LINES];
	unsigned count;
	side *on;
	sigjmp_buf jump;
};

static thread_local account *told_to;

struct side {
	ucontext_t context;
	void *sp;
	int depth;
	bool done;

	explicit side(int deep = 0) : context(), sp(), depth(deep), done()
	{
	}
};

static void tell(const char *what, const char *function)
{
	account *a = told_to;

	CHECK(a->count < LINES, "too many events");
	a->lines[a->count++] = { what, function, a->on->depth };
}

/* A traced call, as the program knows it. */
struct call {
	const char *name;
	bool over = false;

	explicit call(const char *function) : name(function)
	{
		tell("enter", name);
		told_to->on->depth++;
	}
	void end(const char *how)
	{
		over = true;
		told_to->on->depth--;
		tell(how, name);
	}
	~call()
	{
		if (!over)
			end("unwind"); /* by an exception */
	}
};

#define TOLD call self(__func__)
#define RETURN \
	do { \
		self.end("leave"); \
		return; \
	} while (0)

/* A jump leaves `n` calls, the innermost first. */
static void jumped(std::initializer_list<const char *> names)
{
	for (const char *name : names) {
		told_to->on->depth--;
		tell("unwind", name);
	}
}

/* ---- switches ---- */

static bool bare;

#ifdef __x86_64__
extern "C" void bare_switch(void **from, void *to);
extern "C" void blind_start(void);
__asm__(".pushsection .text\n"
	"bare_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	/* Without .cfi: nobody can know who called. */
	"blind_start:\n"
	"	sub $8, %rsp\n"
	"	call *%rbx\n"
	"	ud2\n"
	".popsection\n");
#endif

static NOIPA void go(side *to)
{
	side *from = told_to->on;

	told_to->on = to;
#ifdef __x86_64__
	if (bare) {
		bare_switch(&from->sp, to->sp);
		return;
	}
#endif
	swapcontext(&from->context, &to->context);
}

static void prepare(side *s, char *stack, size_t size, void (*body)(), bool blind = false)
{
	s->depth = 0;
	s->done = false;
#ifdef __x86_64__
	if (bare) {
		void **top = (void **)(((uintptr_t)stack + size) & ~(uintptr_t)15);

		*--top = nullptr;
		/* Where the first function would return to. */
		*--top = blind ? (void *)1 : nullptr;
		*--top = blind ? (void *)blind_start : (void *)body;
		*--top = blind ? (void *)1 : nullptr; /* rbp */
		*--top = (void *)body; /* rbx */
		for (int i = 0; i < 4; i++)
			*--top = nullptr;
		s->sp = top;
		return;
	}
#endif
	(void)blind;
	getcontext(&s->context);
	s->context.uc_stack.ss_sp = stack;
	s->context.uc_stack.ss_size = size;
	s->context.uc_link = nullptr;
	makecontext(&s->context, body, 0);
}

/* ---- what is traced ---- */

static thread_local side *home, *away; /* the sides of a simple mode */

extern "C" {

NOIPA void leaf(int n)
{
	TOLD;
	__asm__ volatile("" ::"r"(n) : "memory");
	RETURN;
}

NOIPA void yielding(int depth)
{
	TOLD;
	leaf(depth);
	if (depth)
		yielding(depth - 1);
	else
		go(home);
	leaf(depth);
	RETURN;
}

NOIPA void step(int n)
{
	TOLD;
	volatile char room[64];

	room[n % 64] = 1;
	(void)room[0];
	leaf(n);
	go(away);
	leaf(n);
	RETURN;
}

NOIPA void deeper(int n, void (*then)(int))
{
	TOLD;
	volatile char room[256];

	room[n % 256] = 1;
	(void)room[0];
	if (n)
		deeper(n - 1, then);
	else
		then(n);
	RETURN;
}

NOIPA void jumper(int n)
{
	TOLD;
	leaf(n);
	siglongjmp(told_to->jump, 1);
}

NOIPA void thrower(int n)
{
	TOLD;
	leaf(n);
	throw n;
}

NOIPA void handler(int sig)
{
	TOLD;
	leaf(sig);
	if (told_to->on->done)
		siglongjmp(told_to->jump, 1);
	RETURN;
}

NOIPA void interrupted(int n)
{
	TOLD;
	leaf(n);
	raise(SIGUSR1);
	leaf(n);
	RETURN;
}
}

/* ---- not traced ---- */

static NOIPA void generator()
{
	for (int i = 0; i < 6; i++) {
		yielding(i);
		leaf(i);
		go(home);
	}
	away->done = true;
	go(home);
}

static NOIPA void generate()
{
	char stack[STACK];
	side here(told_to->on->depth), there;

	home = told_to->on = &here;
	away = &there;
	prepare(away, stack, sizeof(stack), generator);
	for (int i = 0; !away->done; i++) {
		leaf(i);
		if (i % 3 == 0)
			go(away);
		else if (i % 3 == 1)
			step(i);
		else
			deeper(i % 4, step);
	}
	leaf(0);
}

#define COUNT 4
static thread_local side *sides[COUNT];

extern "C" NOIPA void worker(int mine)
{
	TOLD;

	for (int i = 0; i < 5; i++) {
		leaf(i);
		go(sides[(mine + i + 1) % COUNT]);
		deeper(i, leaf);
	}
	RETURN;
}

static NOIPA void work()
{
	for (int i = 0; i < COUNT; i++)
		if (told_to->on == sides[i])
			worker(i);
	told_to->on->done = true;
	for (;;) {
		int next = 0;

		while (next < COUNT && sides[next]->done)
			next++;
		go(next < COUNT ? sides[next] : home);
	}
}

static NOIPA void several()
{
	char stacks[COUNT][STACK];
	side here(told_to->on->depth), all[COUNT];

	home = told_to->on = &here;
	for (int i = 0; i < COUNT; i++) {
		sides[i] = &all[i];
		prepare(&all[i], stacks[i], STACK, work);
	}
	away = sides[1]; /* in the middle */
	deeper(2, step);
	leaf(0);
}

static NOIPA void innermost()
{
	yielding(1);
	away->done = true;
	go(home);
}

static NOIPA void inner()
{
	char stack[STACK / 4];
	side *before = home, *mine = away, there;

	leaf(1);
	go(before);
	home = mine;
	away = &there;
	prepare(away, stack, sizeof(stack), innermost);
	deeper(2, step);
	while (!away->done)
		step(2);
	home = before;
	away = mine;
	leaf(3);
	away->done = true;
	go(home);
}

static NOIPA void nested()
{
	char stack[STACK];
	side here(told_to->on->depth), there;

	home = told_to->on = &here;
	away = &there;
	prepare(away, stack, sizeof(stack), inner);
	while (!away->done)
		deeper(1, step);
	leaf(4);
}

static NOIPA void leap()
{
	volatile int i;

	for (i = 0; i < 3; i = i + 1) {
		if (!sigsetjmp(told_to->jump, 0))
			deeper(i, jumper);
		else {
			jumped({ "jumper" });
			for (int k = 0; k <= i; k++)
				jumped({ "deeper" });
		}
		leaf(i);
		try {
			deeper(i, thrower);
		} catch (int) {
		}
		leaf(i);
	}
}

static NOIPA void leaper()
{
	leap();
	yielding(2);
	leap();
	go(home);
	leaf(5);
	yielding(1);
	away->done = true;
	go(home);
}

static NOIPA void jump()
{
	char stack[STACK];
	side here(told_to->on->depth), there;

	home = told_to->on = &here;
	away = &there;
	prepare(away, stack, sizeof(stack), leaper);
	leap();
	step(1);
	leap();
	while (!away->done) {
		deeper(1, step);
		leap();
	}
}

static NOIPA void on_signal()
{
	char stack[STACK];
	stack_t alternate = { .ss_sp = stack, .ss_flags = 0, .ss_size = sizeof(stack) }, before;
	struct sigaction action = {}, was;
	side here(told_to->on->depth);

	told_to->on = &here;
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	TRY(sigaltstack(&alternate, &before));
	TRY(sigaction(SIGUSR1, &action, &was));
	for (int i = 0; i < 4; i++) {
		interrupted(i);
		deeper(i, interrupted);
	}
	here.done = true;
	if (!sigsetjmp(told_to->jump, 1))
		deeper(1, interrupted);
	else
		jumped({ "handler", "interrupted", "deeper", "deeper" });
	leaf(1);
	TRY(sigaltstack(&before, nullptr));
}

static NOIPA void helper()
{
	volatile char room[40];

	room[0] = 0;
	leaf(room[0]);
	deeper(1, leaf);
}

static NOIPA void helped()
{
	for (int i = 0; i < 5; i++) {
		helper();
		go(home);
	}
	yielding(2);
	away->done = true;
	go(home);
}

static NOIPA void same()
{
	char stack[STACK];
	side here(told_to->on->depth), there;

	home = told_to->on = &here;
	away = &there;
	helper();
	prepare(away, stack, sizeof(stack), helped);
	while (!away->done) {
		helper();
		step(1);
	}
}

static NOIPA void resting()
{
	deeper(2, yielding);
}

static NOIPA void give_up()
{
	char stack[STACK];
	side here(told_to->on->depth), there, *before = told_to->on;

	home = told_to->on = &here;
	away = &there;
	prepare(away, stack, sizeof(stack), resting);
	step(1);
	told_to->on = &there; /* where it rests in the middle of these */
	jumped({ "yielding", "deeper", "deeper", "deeper" });
	told_to->on = before;
}

static NOIPA void abandon()
{
	leaf(1);
	give_up();
	leaf(2);
}

static NOIPA void blindly()
{
	char stack[STACK];
	side here(told_to->on->depth), there;

	home = told_to->on = &here;
	away = &there;
	prepare(away, stack, sizeof(stack), generator, true);
	for (int i = 0; !away->done; i++)
		deeper(i % 4, step);
	leaf(0);
}

/* ---- all of it ---- */

static void (*chosen())()
{
	static const struct {
		const char *name;
		void (*run)();
	} modes[] = {
		{ "generate", generate }, { "several", several },   { "nested", nested },
		{ "jump", jump },	  { "handler", on_signal }, { "same", same },
		{ "plain", leap },	  { "abandon", abandon },   { "bare", generate },
		{ "blind", blindly },
	};

	for (auto &m : modes)
		if (!strcmp(m.name, opt.mode))
			return m.run;
	tracee_fail("no mode %s", opt.mode);
}

extern "C" NOIPA void around(void (*run)())
{
	TOLD;
	side *before = told_to->on;

	run();
	told_to->on = before;
	RETURN;
}

static void *a_thread(void *)
{
	side outermost;
	account *a = (account *)calloc(1, sizeof(*a));

	CHECK(a, "no memory");
	told_to = a;
	a->on = &outermost;
	for (long i = 0; i < opt.size; i++) {
		chosen()();
		a->on = &outermost;
		around(chosen());
		a->on = &outermost;
	}
	return a;
}

static void print(account *a, long thread)
{
	for (unsigned i = 0; i < a->count; i++)
		printf("%ld %s %s %d\n", thread, a->lines[i].what, a->lines[i].function,
		       a->lines[i].depth);
}

int main(int argc, char **argv)
{
	pthread_t threads[TRACEE_THREADS];

	tracee_options usual = {};

	usual.mode = "generate";
	usual.rounds = 1;
	usual.size = 2;
	tracee_begin("embedded", argc, argv, usual);
	bare = !strcmp(opt.mode, "bare") || !strcmp(opt.mode, "blind");
	while (tracee_more()) {
		for (long i = 0; i < opt.threads; i++)
			threads[i] = tracee_thread(a_thread, NULL);
		print((account *)a_thread(NULL), 0);
		for (long i = 0; i < opt.threads; i++) {
			void *a;

			pthread_join(threads[i], &a);
			print((account *)a, i + 1);
		}
		fflush(stdout);
	}
	return tracee_ok("%s", opt.mode);
}
