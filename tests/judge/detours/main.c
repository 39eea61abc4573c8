/* SPDX-License-Identifier: MIT
 *
 * scripts/judge-detours: see there.
 *
 * Both processes are stepped. Wherever the one with detours is, in the program's code or
 * in that of a detour, cp_detour_leave() says what it would be in the program: that has
 * to be the native one's registers and flags, of now or after its next instruction.
 * Behind each detour all vector registers are compared, too, and the stack around sp.
 */
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "place.h"

#define FLAGS (~UINT64_C(0x10100)) /* without TF and RF, which are the stepping's */
#define AROUND 256 /* bytes of stack */
#define RED_ZONE 128
#define VISITED 64

struct judge {
	struct half native, detoured;
	struct places *places;
	const struct place *last; /* the last detour that was entered */
	bool inside; /* the detoured one is in it */
	unsigned long steps, limit, moved, entered, records, spoil;
	/* Since it came in: instructions that it stood at. */
	struct {
		uint64_t pc, sp;
	} visited[VISITED];
	size_t visited_count;
	const char *ended; /* why before the limit */
	bool wrong;
};

/* ---- what is compared ---- */

static const struct {
	const char *name;
	size_t offset;
} registers[] = {
#define REG(name) \
	{ \
#name, offsetof(struct user_regs_struct, name) \
	}
	REG(rip), REG(rsp), REG(rax), REG(rbx), REG(rcx), REG(rdx),
	REG(rsi), REG(rdi), REG(rbp), REG(r8),	REG(r9),  REG(r10),
	REG(r11), REG(r12), REG(r13), REG(r14), REG(r15), REG(fs_base),
#undef REG
};
#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

static uint64_t value(const struct user_regs_struct *regs, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)regs + registers[i].offset, sizeof(v));
	return v;
}

static bool same(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	size_t i;

	for (i = 0; i < REGISTERS; i++) {
		if (value(a, i) != value(b, i))
			return false;
	}
	return (a->eflags & FLAGS) == (b->eflags & FLAGS);
}

static void begin_difference(struct judge *j, const char *what)
{
	j->wrong = true;
	printf("after %lu instructions %s at ", j->steps, what);
	places_show_address(j->places, j->native.regs.rip);
	putchar('\n');
}

static void end_difference(const struct judge *j)
{
	if (j->last)
		places_show(j->places, &j->detoured, j->last);
}

static void show_registers(struct judge *j, const struct user_regs_struct *other)
{
	const struct user_regs_struct *own = &j->native.regs;
	size_t i;

	begin_difference(j, "registers differ");
	for (i = 0; i < REGISTERS; i++) {
		if (value(own, i) != value(other, i))
			printf("  %s: %lx natively, %lx detoured\n", registers[i].name,
			       (unsigned long)value(own, i), (unsigned long)value(other, i));
	}
	if ((own->eflags ^ other->eflags) & FLAGS)
		printf("  flags: %llx natively, %llx detoured\n", own->eflags, other->eflags);
	end_difference(j);
}

/* All vector and floating-point registers; not the addresses of the last x87
 * instruction and its operand, which moved. */
static size_t vectors(const struct half *h, uint8_t *to, size_t size)
{
	struct iovec all = { to, size };

	if (ptrace(PTRACE_GETREGSET, h->pid, (void *)(uintptr_t)NT_X86_XSTATE, &all))
		die("vector registers: %s", strerror(errno));
	memset(to + 6, 0, 18);
	memset(to + 464, 0, 64); /* left to software, and which parts are in use */
	return all.iov_len;
}

static void compare_behind(struct judge *j)
{
	static uint8_t own[16384], other[16384];
	size_t n = vectors(&j->native, own, sizeof(own)), i;
	uint64_t low = UINT64_MAX, sp = 0;

	for (i = 0; i < j->visited_count; i++) {
		sp = j->visited[i].sp > sp ? j->visited[i].sp : sp;
		low = j->visited[i].sp < low ? j->visited[i].sp : low;
	}
	sp -= RED_ZONE;
	if (vectors(&j->detoured, other, sizeof(other)) != n || memcmp(own, other, n)) {
		begin_difference(j, "vector registers differ");
		end_difference(j);
	}
	n = half_read(&j->native, sp, own, AROUND);
	if (half_read(&j->detoured, sp, other, AROUND) != n || memcmp(own, other, n)) {
		begin_difference(j, "the stack differs");
		end_difference(j);
	}
	/* Below the red zone a detour may write, as a signal's handler may. */
	low -= RED_ZONE + AROUND;
	n = half_read(&j->native, low, own, sp - low < sizeof(own) ? sp - low : 0);
	half_write(&j->detoured, low, own, n);
}

/* What was recorded since it came in: of instructions that it came to. */
static void compare_records(struct judge *j)
{
	uint64_t pc, sp;
	size_t i;

	while (places_record(j->places, &pc, &sp)) {
		for (i = 0; i < j->visited_count && j->visited[i].pc != pc; i++)
			;
		j->records++;
		if (i < j->visited_count && ((j->visited[i].sp ^ sp) & 0x7fffffff8) == 0)
			continue;
		begin_difference(j, "there is a record of what was not done");
		printf("  pc %lx, sp %lx\n", (unsigned long)pc, (unsigned long)sp);
		end_difference(j);
	}
	j->visited_count = 0;
}

/* ---- instructions ---- */

enum kind { PLAIN, SYSTEM_CALL, UNSTEADY };

/* What one instruction says may be something else the next time. */
static enum kind kind_at(const struct half *h, uint64_t pc)
{
	static struct {
		uint64_t pc;
		uint8_t kind;
	} known[1 << 14];
	size_t slot = (pc ^ pc >> 14) % (sizeof(known) / sizeof(known[0]));
	uint8_t code[6] = { 0 }, *p = code;
	enum kind kind = PLAIN;

	if (known[slot].pc == pc)
		return known[slot].kind;
	half_read(h, pc, code, sizeof(code));
	while (*p == 0x66 || *p == 0xf3 || (*p & 0xf0) == 0x40)
		p++;
	if (p[0] == 0x0f && p[1] == 0x05)
		kind = SYSTEM_CALL;
	else if (p[0] == 0x0f && (p[1] == 0x31 || (p[1] == 0x01 && p[2] == 0xf9) || p[1] == 0xa2 ||
				  (p[1] == 0xc7 && p[2] >= 0xf0)))
		kind = UNSTEADY; /* rdtsc, rdtscp, cpuid, rdrand, rdseed */
	known[slot].pc = pc;
	known[slot].kind = (uint8_t)kind;
	return kind;
}

/* Nothing of a detour's is saved right behind an instruction of the program's. */
static void give_same(struct judge *j)
{
	struct user_regs_struct regs = j->native.regs;

	regs.rip = j->detoured.regs.rip;
	regs.rsp = j->detoured.regs.rsp;
	regs.gs_base = j->detoured.regs.gs_base;
	half_set_regs(&j->detoured, &regs);
}

static void visit(struct judge *j, const struct user_regs_struct *regs)
{
	if (j->visited_count && j->visited[j->visited_count - 1].pc == regs->rip)
		return;
	if (j->visited_count == VISITED)
		j->visited_count = 0;
	j->visited[j->visited_count].pc = regs->rip;
	j->visited[j->visited_count++].sp = regs->rsp;
}

/* The detoured one came out of a detour. */
static void came_out(struct judge *j)
{
	compare_behind(j);
	compare_records(j);
	if (j->entered == j->spoil) {
		j->detoured.regs.r11 ^= 1;
		half_set_regs(&j->detoured, &j->detoured.regs);
	}
}

/* The native one's next instruction; the detoured one did it. */
static void follow(struct judge *j, const struct place *at, bool was_inside)
{
	enum kind kind = kind_at(&j->native, j->native.regs.rip);
	struct user_regs_struct as_if;
	const struct place *place;

	if (half_step(&j->native)) {
		j->ended = "it gets a signal";
		return;
	}
	j->steps++;
	j->moved += was_inside;
	if (kind == UNSTEADY)
		give_same(j);
	as_if = j->detoured.regs;
	if (!places_leave(j->places, &j->detoured, &as_if, &place) ||
	    !same(&as_if, &j->native.regs)) {
		j->last = at ? at : j->last;
		show_registers(j, &as_if);
	}
}

/* One instruction of the detoured one. */
static void step(struct judge *j)
{
	bool was_inside = j->inside;
	struct user_regs_struct as_if;
	const struct place *at;
	int signal = half_step(&j->detoured);

	as_if = j->detoured.regs;
	if (signal || !places_leave(j->places, &j->detoured, &as_if, &at)) {
		begin_difference(j, signal ? "the detoured one gets a signal"
					   : "there is no way out of the detour");
		printf("  signal %d, pc %llx\n", signal, j->detoured.regs.rip);
		end_difference(j);
		return;
	}
	j->inside = at != NULL;
	if (at) {
		j->entered += !was_inside;
		j->last = at;
		visit(j, &as_if);
	}
	if (!same(&as_if, &j->native.regs))
		follow(j, at, was_inside);
	if (was_inside && !at && !j->wrong && !j->ended)
		came_out(j);
}

static void judge(struct judge *j)
{
	unsigned long stuck = 0, before;

	while (j->steps < j->limit && !j->wrong && !j->ended) {
		before = j->steps;
		if (!j->inside && j->native.regs.rip == j->detoured.regs.rip &&
		    kind_at(&j->native, j->native.regs.rip) == SYSTEM_CALL) {
			j->ended = pair_system_call(&j->native, &j->detoured);
			j->steps += !j->ended;
		} else {
			step(j);
		}
		stuck = j->steps == before ? stuck + 1 : 0;
		if (stuck > 10000) {
			begin_difference(j, "the detoured one does not go on");
			end_difference(j);
		}
	}
}

/* ---- the command ---- */

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end)
		die("'%s' is no number", text);
	return n;
}

static void conclude(const struct judge *j)
{
	size_t counts[3];

	places_counts(j->places, counts);
	printf("%zu of %zu functions detoured, %zu windows\n", counts[1], counts[0], counts[2]);
	printf("%lu instructions, %lu of them moved, %lu detours entered, %lu records, %d "
	       "difference%s%s%s\n",
	       j->steps, j->moved, j->entered, j->records, j->wrong, j->wrong ? "" : "s",
	       j->ended ? "; not further, for " : "", j->ended ? j->ended : "");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "from", required_argument, NULL, 'f' },
		{ "only", required_argument, NULL, 'o' },
		{ "spoil", required_argument, NULL, 'x' },
		{ 0 },
	};
	const char *from = NULL, *only = NULL;
	struct judge j = { .limit = 300000 };
	uint64_t start;
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) >= 0) {
		if (option == 's')
			j.limit = number(optarg);
		else if (option == 'f')
			from = optarg;
		else if (option == 'o')
			only = optarg;
		else if (option == 'x')
			j.spoil = number(optarg);
		else
			return 2;
	}
	if (optind == argc)
		die("which program?");
	pair_start(&j.native, argv + optind);
	start = places_find(&j.native, from);
	if (!start || !pair_run_to(&j.native, start))
		die("%s does not come to %s", argv[optind], from ? from : "main");
	pair_fork(&j.native, &j.detoured);
	j.places = places_create(&j.detoured, only);
	judge(&j);
	conclude(&j);
	places_destroy(j.places);
	return j.wrong;
}
