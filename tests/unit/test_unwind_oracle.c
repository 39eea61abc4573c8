/* SPDX-License-Identifier: MIT
 *
 * The single-step oracle. A program is run one instruction at a time; a
 * shadow stack is kept from what the instructions do, not from any unwind
 * information:
 *
 *	a call pushes where it returns to and the registers at the call,
 *	a stack pointer above an entry's slot pops it,
 *	a signal pushes the interrupted registers and the trampoline.
 *
 * At each instruction the unwinder's frames are compared with it: every pc,
 * and every register that is claimed to be known.
 *
 * Just before a longjmp switches the stack, call frame information already
 * describes the frame that is jumped to; and libgcc, before it jumps to a
 * handler, overwrites what its own frame had saved with what the handler shall
 * find. These instructions are recognised afterwards, when the stack pointer
 * jumps without a return, and not judged.
 *
 *	test_unwind_oracle [--long] [--show N] TRACEE[:OPTION...]...
 *
 * Options of a tracee: "guess": it has code without call frame information,
 * so only frames that are not flagged as guessed must be right. "file": its
 * call frame information is found through its file; "memory": by a search of
 * its memory. "cold": functions are
 * called for the first time, through the dynamic linker; the other tracees
 * have done the work once before.
 */
#include "test.h"
#include "test_unwind.h"
#include "test_unwind_tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH_MAX 512
#define FRAMES_MAX 600
#define STACK_MAX (64u << 10)
#define SHORT_RUN 8000 /* steps of a tracee, without --long */
#define SIGNAL_EVERY 149

enum { SP = 7, PC = 16, RAX = 0, RDI = 5 };

#define BIT(n) (UINT64_C(1) << (n))

static bool long_run;
static unsigned show = 5;

/* A frame that waits for the one inside it. */
struct waiting {
	uint64_t pc; /* where it goes on */
	uint64_t slot; /* of the return address; for an interrupted frame, its sp */
	struct cp_regs regs; /* at the call, or at the interruption */
	bool interrupted;
};

struct score {
	size_t walks, right, wrong_pc, wrong_reg, ended_early, guessed;
};

struct oracle {
	const char *name;
	pid_t pid;
	bool guess, file, memory_only, cold;
	struct oracle_info info;
	uint64_t libgcc, libgcc_end; /* its code */
	struct cp_reader memory;
	struct cp_unwind_space *space;
	struct waiting stack[DEPTH_MAX];
	size_t depth;
	struct user_regs_struct u; /* now */
	bool transfer; /* in the middle of a longjmp or the like */
	/* Steps that were wrong and may turn out to be the start of a jump. */
	size_t doubts;
	struct score before_doubts[3]; /* own, blind, other */
	char doubt[256];
	uint64_t outer[16]; /* pcs beyond main, as the first walk had them */
	size_t nouter;
	size_t steps, skipped, signals;
	struct score own, blind, other;
};

static struct cp_frame frames[FRAMES_MAX];
static uint8_t stack_copy[STACK_MAX];

static struct cp_regs regs_of(const struct user_regs_struct *u)
{
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(u, &regs);
	return regs;
}

static void report(struct oracle *o, const char *what, size_t frame, uint64_t got, uint64_t want)
{
	if (!o->doubt[0])
		snprintf(o->doubt, sizeof(o->doubt),
			 "step %zu at %llx: %s in frame %zu is %lx, want %lx", o->steps, o->u.rip,
			 what, frame, got, want);
}

/* Registers of frame `k`, which is waiting as `w`. */
static void judge_regs(struct oracle *o, struct score *score, size_t k, const struct waiting *w)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t known = frames[k].regs.known;
	unsigned r;

	if (w->interrupted && score == &o->own && (known & (BIT(17) - 1)) != BIT(17) - 1) {
		score->wrong_reg++;
		report(o, "known set", k, known, BIT(17) - 1);
	}
	for (r = 0; r < arch->nregs; r++) {
		uint64_t want = w->regs.r[r];

		if (r == PC || !(known >> r & 1))
			continue;
		if (r == SP && !w->interrupted)
			want = w->slot + 8;
		if (frames[k].regs.r[r] != want) {
			score->wrong_reg++;
			report(o, arch->reg_names[r], k, frames[k].regs.r[r], want);
		}
	}
}

/* Frame `k` against the shadow; false when there is no more to compare. */
static bool judge_frame(struct oracle *o, struct score *score, size_t k, size_t count, bool regs)
{
	const struct waiting *w = &o->stack[o->depth - k];
	bool guessed = k < count && frames[k].flags & CP_FRAME_GUESSED;

	if (k >= count) {
		score->ended_early++;
		if (!o->guess && score == &o->own)
			report(o, "count", k, count, o->depth + 1);
		return false;
	}
	if (frames[k].pc.v != w->pc) {
		if (guessed) {
			score->guessed++;
		} else {
			score->wrong_pc++;
			if (score != &o->other)
				report(o, score == &o->own ? "pc" : "blind pc", k, frames[k].pc.v,
				       w->pc);
		}
		return false;
	}
	if (regs && !guessed)
		judge_regs(o, score, k, w);
	return true;
}

static bool judge(struct oracle *o, struct score *score, size_t count, bool regs)
{
	size_t k;

	score->walks++;
	for (k = 1; k <= o->depth; k++) {
		if (!judge_frame(o, score, k, count, regs))
			return false;
	}
	score->right++;
	return true;
}

/* What is outside of main stays the same all the time, up to the root. */
static void judge_outer(struct oracle *o, size_t count, enum cp_unwind_end end)
{
	size_t i, n = count - o->depth - 1;

	if (!o->nouter) {
		for (i = 0; i < n && i < CP_ARRAY_SIZE(o->outer); i++)
			o->outer[i] = frames[o->depth + 1 + i].pc.v;
		o->nouter = n;
	}
	if (end != CP_UNWIND_END_ROOT || n != o->nouter) {
		o->own.ended_early++;
		report(o, "frames outside of main", o->depth, n, o->nouter);
		return;
	}
	for (i = 0; i < n && i < CP_ARRAY_SIZE(o->outer); i++)
		CHECK(frames[o->depth + 1 + i].pc.v == o->outer[i]);
}

static void capture(struct oracle *o, struct cp_unwind_capture *c)
{
	uint64_t bottom = o->u.rsp - 128, top = o->stack[0].slot + 4096;
	size_t size = top - bottom;
	size_t i;

	c->held = false;
	for (i = 0; i < o->depth; i++)
		c->held |= o->stack[i].interrupted; /* perhaps on its own stack */
	if (o->u.rsp > o->stack[0].slot || size > STACK_MAX)
		size = STACK_MAX;
	c->regs = regs_of(&o->u);
	c->stack = stack_copy;
	c->stack_base = bottom;
	c->stack_size = test_read_pid(&o->pid, bottom, stack_copy, size);
}

static void judge_step(struct oracle *o)
{
	struct cp_unwind_capture c = { 0 };
	enum cp_unwind_end end;
	size_t count;
	bool right;

	capture(o, &c);
	cp_unwind_walk(o->space, CP_UNWINDER_OWN, &c, frames, FRAMES_MAX, &count, &end);
	right = judge(o, &o->own, count, true);
	if (right && !o->guess)
		judge_outer(o, count, end);
	if (o->steps % 7 == 0 && !o->guess) {
		cp_unwind_walk(o->space, CP_UNWINDER_LIBUNWIND, &c, frames, FRAMES_MAX, &count,
			       &end);
		judge(o, &o->other, count, false);
	}
	if (o->steps % 3 == 0) {
		c.regs.known = BIT(SP) | BIT(PC);
		cp_unwind_walk(o->space, CP_UNWINDER_OWN, &c, frames, FRAMES_MAX, &count, &end);
		judge(o, &o->blind, count, true);
	}
}

/* ---- doubts ---- */

#define DOUBTS_MAX 16
#define DOUBTS_IN_LIBGCC 1500

static bool in_libgcc(const struct oracle *o, uint64_t pc)
{
	return pc >= o->libgcc && pc < o->libgcc_end;
}

/* How long a mistake may be in doubt here. */
static size_t doubts_max(const struct oracle *o)
{
	size_t i;

	for (i = 0; i < o->depth; i++) {
		if (in_libgcc(o, o->stack[i].pc))
			return DOUBTS_IN_LIBGCC;
	}
	return in_libgcc(o, o->u.rip) ? DOUBTS_IN_LIBGCC : DOUBTS_MAX;
}

static size_t mistakes(const struct oracle *o)
{
	return o->own.wrong_pc + o->own.wrong_reg + o->own.ended_early + o->own.guessed +
	       o->blind.wrong_pc + o->blind.wrong_reg;
}

/* Judges a step; a mistake is in doubt until a few more have passed. */
static void judge_in_doubt(struct oracle *o)
{
	struct score before[] = { o->own, o->blind, o->other };
	size_t had = mistakes(o);

	judge_step(o);
	if (!o->doubts && mistakes(o) != had)
		memcpy(o->before_doubts, before, sizeof(before));
	if (o->doubts || mistakes(o) != had)
		o->doubts++;
	if (o->doubts >= doubts_max(o)) {
		if (o->doubt[0] && show) {
			show--;
			fprintf(stderr, "%s: %s\n", o->name, o->doubt);
		}
		o->doubt[0] = 0;
		o->doubts = 0;
	}
}

/* It was a jump: as if the steps had not been judged. */
static void drop_doubts(struct oracle *o)
{
	if (o->doubts) {
		o->own = o->before_doubts[0];
		o->blind = o->before_doubts[1];
		o->other = o->before_doubts[2];
		o->skipped += o->doubts;
	}
	o->doubts = 0;
	o->doubt[0] = 0;
}

/* ---- what an instruction does ---- */

static bool is_call(const uint8_t *p)
{
	while (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x3e || (*p & 0xf0) == 0x40)
		p++;
	return *p == 0xe8 || (*p == 0xff && (p[1] >> 3 & 7) == 2);
}

static bool is_ret(const uint8_t *p)
{
	while (*p == 0xf2 || *p == 0xf3)
		p++;
	return *p == 0xc3 || *p == 0xc2;
}

static bool is_indirect_jump(const uint8_t *p)
{
	while (*p == 0xf2 || *p == 0x3e || (*p & 0xf0) == 0x40)
		p++;
	return *p == 0xff && (p[1] >> 3 & 7) == 4;
}

static void push(struct oracle *o, uint64_t pc, uint64_t slot, const struct user_regs_struct *regs,
		 bool interrupted)
{
	if (o->depth == DEPTH_MAX)
		abort();

	o->stack[o->depth++] = (struct waiting){ pc, slot, regs_of(regs), interrupted };
}

static uint64_t word_at(const struct oracle *o, uint64_t addr)
{
	uint64_t word = 0;

	cp_read_exact(&o->memory, addr, &word, sizeof(word));
	return word;
}

static size_t pop_above(struct oracle *o, uint64_t sp)
{
	size_t popped = 0;

	while (o->depth && !o->stack[o->depth - 1].interrupted &&
	       o->stack[o->depth - 1].slot < sp) {
		o->depth--;
		popped++;
	}
	return popped;
}

/* Brings the shadow stack from `old` to o->u; `code` is what was at old->rip,
 * `sig` the signal that came in before it, or 0. */
static void follow(struct oracle *o, const struct user_regs_struct *old, const uint8_t *code,
		   int sig)
{
	const struct user_regs_struct *now = &o->u;
	bool handler = now->rip == o->info.handler || now->rip == o->info.alt_handler;

	if (handler && sig) {
		push(o, old->rip, old->rsp, old, true);
		push(o, word_at(o, now->rsp), now->rsp, now, false);
		o->signals++;
		return;
	}
	if (code[0] == 0x0f && code[1] == 0x05 && old->rax == 15) {
		o->depth--; /* sigreturn: the interrupted frame goes on */
		return;
	}
	if (is_call(code) && now->rsp == old->rsp - 8)
		push(o, word_at(o, now->rsp), now->rsp, old, false);
	if (pop_above(o, now->rsp) && !is_ret(code)) {
		o->transfer = true;
		drop_doubts(o);
	}
	if (is_ret(code) || is_indirect_jump(code))
		o->transfer = false;
}

static bool has_interrupted(const struct oracle *o)
{
	size_t i;

	for (i = 0; i < o->depth; i++) {
		if (o->stack[i].interrupted)
			return true;
	}
	return false;
}

/* Signals come in at odd places, in turn to both stacks. */
static int signal_due(const struct oracle *o)
{
	if (o->steps % SIGNAL_EVERY || o->transfer || o->doubts || o->depth < 2 ||
	    has_interrupted(o))
		return 0;
	return o->steps / SIGNAL_EVERY % 2 ? SIGUSR1 : SIGUSR2;
}

static bool step(struct oracle *o)
{
	struct user_regs_struct old = o->u;
	uint8_t code[16] = { 0 };
	int status, sig = signal_due(o);

	test_read_pid(&o->pid, old.rip, code, sizeof(code));
	if (ptrace(PTRACE_SINGLESTEP, o->pid, NULL, (long)sig) ||
	    waitpid(o->pid, &status, 0) != o->pid || !WIFSTOPPED(status))
		return false;
	if (WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETREGS, o->pid, NULL, &o->u)) {
		fprintf(stderr, "%s: stopped with signal %d\n", o->name, WSTOPSIG(status));
		test_failures++;
		return false;
	}
	follow(o, &old, code, sig);
	o->steps++;
	return true;
}

/* ---- a tracee ---- */

/* The file's call frame sections, as src/image would hand them over. */
static size_t find_sections(void *ctx, const struct cp_unwind_mapping *object,
			    struct cp_unwind_section *ret, size_t max)
{
	static uint8_t file[8 << 20]; /* one object at a time: they are copied */
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(const void *)file;
	const Elf64_Shdr *sh;
	size_t count = 0, i;
	FILE *f = fopen(object->path, "re");
	size_t size = f ? fread(file, 1, sizeof(file), f) : 0;

	(void)ctx;
	if (f)
		fclose(f);
	if (size < sizeof(*eh) || eh->e_shoff + eh->e_shnum * sizeof(*sh) > size)
		return 0;
	sh = (const Elf64_Shdr *)(const void *)(file + eh->e_shoff);
	for (i = 0; i < eh->e_shnum && count < max; i++) {
		const char *name =
			(const char *)file + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name;

		if (strcmp(name, ".eh_frame") && strcmp(name, ".debug_frame"))
			continue;
		ret[count++] = (struct cp_unwind_section){
			.bytes = file + sh[i].sh_offset,
			.size = sh[i].sh_size,
			.addr = { sh[i].sh_addr },
			.debug_frame = name[1] == 'd',
		};
	}
	return count;
}

static void refresh(struct oracle *o)
{
	struct test_maps maps = test_maps(o->pid);
	size_t i;

	for (i = 0; i < maps.count; i++) {
		if (maps.items[i].executable && strstr(maps.items[i].path, "libgcc_s")) {
			o->libgcc = maps.items[i].start;
			o->libgcc_end = maps.items[i].end;
		}
	}
	CHECK_OK(cp_unwind_space_set_mappings(o->space, maps.items, maps.count));
	test_maps_free(&maps);
}

/* Runs to the trap in oracle_entry(). */
static bool start(struct oracle *o, const char *path)
{
	struct cp_unwind_files files = { find_sections, NULL };
	int status;

	o->pid = fork();
	if (o->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		unsetenv("LD_BIND_NOW");
		execl(path, path, long_run ? "6" : "1", o->cold ? "cold" : "warm", (char *)NULL);
		_exit(127);
	}
	o->memory = (struct cp_reader){ test_read_pid, &o->pid };
	if (waitpid(o->pid, &status, 0) != o->pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, o->pid, NULL, (long)PTRACE_O_EXITKILL);
	if (ptrace(PTRACE_CONT, o->pid, NULL, NULL) || waitpid(o->pid, &status, 0) != o->pid ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, o->pid, NULL, &o->u))
		return false;
	if (!cp_read_exact(&o->memory, o->u.rdi, &o->info, sizeof(o->info)))
		return false;
	CHECK_OK(cp_unwind_space_create(cp_arch_host(), &o->memory, NULL, &o->space));
	if (o->file)
		cp_unwind_space_set_files(o->space, &files);
	refresh(o);
	push(o, word_at(o, o->u.rsp), o->u.rsp, &o->u, false);
	return true;
}

static void print_score(const char *what, const struct score *s)
{
	printf("  %-10s %7zu walks, %7zu right, wrong: %zu pcs, %zu registers; "
	       "%zu ended early, %zu guessed wrong\n",
	       what, s->walks, s->right, s->wrong_pc, s->wrong_reg, s->ended_early, s->guessed);
}

static void judge_scores(const struct oracle *o, size_t at_least)
{
	CHECK(o->steps >= at_least);
	CHECK_U64(o->own.wrong_pc, 0);
	CHECK_U64(o->own.wrong_reg, 0);
	CHECK_U64(o->blind.wrong_pc, 0);
	CHECK_U64(o->blind.wrong_reg, 0);
	CHECK(o->skipped * (o->libgcc ? 20 : 200) < o->steps);
	CHECK(o->signals >= 10);
	if (o->guess) {
		CHECK(o->own.right * 10 > o->own.walks * 8);
	} else {
		CHECK_U64(o->own.right, o->own.walks);
		CHECK_U64(o->own.ended_early, 0);
		CHECK_U64(o->own.guessed, 0);
		CHECK(o->blind.right * 100 >= o->blind.walks * 95);
	}
	if (!o->guess && !o->file && !o->memory_only)
		CHECK(o->other.right * 100 > o->other.walks * 90);
}

static void run_tracee(char *path)
{
	static struct oracle o;
	char *option = strchr(path, ':');

	memset(&o, 0, sizeof(o));
	if (option)
		*option++ = 0;
	o.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	o.guess = option && strstr(option, "guess");
	o.file = option && strstr(option, "file");
	o.memory_only = option && strstr(option, "memory");
	o.cold = option && strstr(option, "cold");
	CHECK(start(&o, path));
	while (o.depth && o.space && (long_run || o.steps < SHORT_RUN)) {
		if (o.transfer)
			o.skipped++;
		else
			judge_in_doubt(&o);
		if (!step(&o))
			break;
	}
	printf("%s: %zu steps, %zu skipped in the middle of a jump, %zu signals\n", o.name, o.steps,
	       o.skipped, o.signals);
	print_score("own", &o.own);
	print_score("blocked", &o.blind);
	print_score("libunwind", &o.other);
	fflush(stdout);
	judge_scores(&o, 2000);
	cp_unwind_space_destroy(o.space);
	if (o.pid > 0) {
		kill(o.pid, SIGKILL);
		waitpid(o.pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	int i;

	long_run = getenv("CPROF_TEST_LONG") != NULL;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--long"))
			long_run = true;
		else if (!strcmp(argv[i], "--show") && i + 1 < argc)
			show = (unsigned)atoi(argv[++i]);
		else
			run_tracee(argv[i]);
	}
	TEST_MAIN_END;
}
