/* SPDX-License-Identifier: MIT
 *
 * Following pointers without a fault that the program sees:
 *
 *     in the first page, or the kernel's?                    can't be read
 *     nobody serves a fault (`read_until` is over)?          not tried
 *     from sp to the end of the thread's own stack?          readable
 *     in one of `known`, which are never unmapped?           readable
 *     in a page that was found to be so a moment ago?        readable
 *     is it sure that it is (CP_X86_SURE)?                   readable
 *     may the kernel be asked?                               else not tried
 *     rt_sigprocmask(-1, page + 8, NULL, 8): EFAULT, or          can't be read
 *         EINVAL, for the kernel could read it and then      readable
 *         found that -1 is nothing that it does
 *
 * Between that and the load another thread may unmap the page: the tracer then moves
 * the thread to where it goes on without (cp_detour_fault()).
 *
 * The time is that of the record, or of before its tests.
 *
 *     rsi  source                      rdi  up to here it is readable
 *     r8   bytes that are left         r9   index in the buffer
 *     r10  index of the word for how it went; its highest bit: it is sure
 */
#include "arch/x86_64/detour_reach.h"

#include <asm/unistd_64.h>
#include <errno.h>
#include <stddef.h>

#include "arch/x86_64/detour_ring.h"

/* What a pointer becomes that can't be read, or was not tried: nothing is there, nor
 * within 2 GiB. The highest four bits tell. */
#define BAD UINT64_C(0x9800000000000000)
#define NOT UINT64_C(0xd800000000000000)
_Static_assert(BAD >> 62 == CP_DETOUR_READ_BAD && NOT >> 62 == CP_DETOUR_READ_NOT, "how");
_Static_assert(CP_DETOUR_PAGES == 64 && CP_DETOUR_KNOWN * 16 == 128, "in the code below");
_Static_assert(sizeof(((struct cp_detour_ring *)0)->pages[0]) == 16, "in the code below");
_Static_assert(sizeof(struct cp_detour_range) == 16, "in the code below");

enum { RDX = 1, RSI = 4, RDI = 5, R8 = 8, R9, R10, R11 };

struct label {
	size_t from[4];
	size_t count;
};

struct reach {
	struct cp_x86_emit *e;
	const struct cp_detour_rings *rings;
	struct cp_x86_load *loads;
	size_t load_count, faults_from; /* the first load of what is being made */
	uint64_t readable; /* address */
	struct cp_x86_place inside; /* as things are there */
};

#define TO(r, label, jump) to(r, label, jump, sizeof(jump) - 1)
static void to(struct reach *r, struct label *label, const char *jump, size_t size)
{
	label->from[label->count++] = cp_x86_put_forward(r->e, jump, size);
}

static void land(struct reach *r, const struct label *label)
{
	size_t i;

	for (i = 0; i < label->count; i++)
		cp_x86_land(r->e, label->from[i]);
}

static uint32_t in_head(const struct reach *r, size_t member)
{
	return r->rings->zero + (uint32_t)member;
}
#define HEAD(r, member) in_head(r, offsetof(struct cp_detour_ring, member))

static void put64(struct cp_x86_emit *e, uint8_t rex, uint8_t opcode, uint64_t value)
{
	uint8_t bytes[10] = { rex, opcode };
	unsigned i;

	for (i = 0; i < 8; i++)
		bytes[2 + i] = (uint8_t)(value >> (8 * i));
	cp_x86_put(e, bytes, sizeof(bytes));
}

static void save(struct cp_x86_emit *e, const char *push, unsigned reg)
{
	cp_x86_put(e, push, reg >= 8 ? 2 : 1);
	e->now.pushed += 8;
	e->now.saved[reg] = e->now.pushed;
}

static void restore(struct cp_x86_emit *e, const char *pop, unsigned reg)
{
	cp_x86_put(e, pop, reg >= 8 ? 2 : 1);
	e->now.pushed -= 8;
	e->now.saved[reg] = 0;
}

/* Of something in between. */
static void keep(struct cp_x86_emit *e, const char *push)
{
	cp_x86_put(e, push, 1);
	e->now.pushed += 8;
}

static void take(struct cp_x86_emit *e, const char *pop)
{
	cp_x86_put(e, pop, 1);
	e->now.pushed -= 8;
}

static void prologue(struct cp_x86_emit *e)
{
	e->now = (struct cp_x86_place){ 0 };
	save(e, "\x52", RDX);
	save(e, "\x56", RSI);
	save(e, "\x57", RDI);
	save(e, "\x41\x50", R8);
	save(e, "\x41\x51", R9);
	save(e, "\x41\x52", R10);
}

static void epilogue(struct cp_x86_emit *e)
{
	restore(e, "\x41\x5a", R10);
	restore(e, "\x41\x59", R9);
	restore(e, "\x41\x58", R8);
	restore(e, "\x5f", RDI);
	restore(e, "\x5e", RSI);
	restore(e, "\x5a", RDX);
	PUT(e, "\xc3");
}

/* A load that may fault. */
#define LOAD(r, bytes) put_load(r, bytes, sizeof(bytes) - 1)
static void put_load(struct reach *r, const void *bytes, size_t size)
{
	r->loads[r->load_count++].at = (uint32_t)r->e->size;
	cp_x86_put(r->e, bytes, size);
}

/* Here is where those go on that were made since. */
static void land_faults(struct reach *r)
{
	for (; r->faults_from < r->load_count; r->faults_from++)
		r->loads[r->faults_from].on = (uint32_t)r->e->size;
}

/* ---- readable: rsi; carry: up to rdi; else rcx is BAD or NOT. rax: the time; rdx is free ---- */

/* The stack that it is on, the own one or another that is known (detour_slow.c), from where it
 * is in use; what is always readable. */
static void put_known(struct reach *r, struct label *known)
{
	struct label other = { 0 }, elsewhere = { 0 }, next = { 0 }, last = { 0 };
	struct cp_x86_emit *e = r->e;
	uint64_t again;

	PUT(e, "\x48\x39\xe6"); /* cmp %rsp,%rsi */
	TO(r, &elsewhere, "\x0f\x82"); /* jb */
	PUT32(e, "\x65\x48\x8b\x3c\x25", HEAD(r, stack_end)); /* mov %gs:stack_end,%rdi */
	PUT(e, "\x48\x85\xff"); /* test %rdi,%rdi */
	TO(r, &elsewhere, "\x0f\x84"); /* je */
	PUT32(e, "\x65\x48\x3b\x24\x25", HEAD(r, stack_low)); /* cmp %gs:stack_low,%rsp */
	TO(r, &other, "\x0f\x82"); /* jb */
	PUT(e, "\x48\x39\xfe"); /* cmp %rdi,%rsi */
	TO(r, known, "\x0f\x82"); /* jb */
	PUT(e, "\x48\x39\xfc"); /* cmp %rdi,%rsp */
	TO(r, &elsewhere, "\x0f\x82"); /* jb */
	land(r, &other);
	PUT32(e, "\x65\x48\x8b\x3c\x25", HEAD(r, other_end)); /* mov %gs:other_end,%rdi */
	PUT(e, "\x48\x39\xfe"); /* cmp %rdi,%rsi */
	TO(r, known, "\x0f\x82"); /* jb */
	land(r, &elsewhere);
	PUT(e, "\x31\xc9"); /* xor %ecx,%ecx */
	again = e->at + e->size;
	PUT32(e, "\x65\x48\x8b\xb9", HEAD(r, known[0].end)); /* mov %gs:end(%rcx),%rdi */
	PUT(e, "\x48\x85\xff"); /* test %rdi,%rdi */
	TO(r, &last, "\x0f\x84"); /* je */
	PUT(e, "\x48\x39\xfe"); /* cmp %rdi,%rsi */
	TO(r, &next, "\x0f\x83"); /* jae */
	PUT32(e, "\x65\x48\x3b\xb1", HEAD(r, known[0].start)); /* cmp %gs:start(%rcx),%rsi */
	TO(r, known, "\x0f\x83"); /* jae */
	land(r, &next);
	PUT(e, "\x83\xc1\x10"); /* add $16,%ecx */
	PUT(e, "\x83\xf9\x7f"); /* cmp $127,%ecx */
	cp_x86_put_to(e, "\x0f\x86", 2, again); /* jbe */
	land(r, &last);
}

/* The page with number rdi, slot rcx, at time rax: edx becomes what the kernel says. */
static void put_probe(struct reach *r)
{
	struct cp_x86_emit *e = r->e;

	keep(e, "\x50");
	keep(e, "\x51");
	keep(e, "\x56");
	keep(e, "\x57");
	/* r10 was saved, but is in use. */
	cp_x86_put(e, "\x41\x52", 2);
	e->now.pushed += 8;
	save(e, "\x41\x53", R11); /* the kernel changes it, and rcx */
	PUT(e, "\x48\x89\xfe"); /* mov %rdi,%rsi */
	PUT(e, "\x48\xc1\xe6\x0c"); /* shl $12,%rsi */
	PUT(e, "\x48\x83\xce\x08"); /* or $8,%rsi: not NULL, at which it doesn't look */
	PUT(e, "\x48\x83\xcf\xff"); /* or $-1,%rdi */
	PUT(e, "\x31\xd2"); /* xor %edx,%edx */
	PUT32(e, "\x41\xba", 8); /* mov $8,%r10d */
	PUT32(e, "\xb8", __NR_rt_sigprocmask); /* mov $...,%eax */
	PUT(e, "\x0f\x05"); /* syscall */
	PUT(e, "\x89\xc2"); /* mov %eax,%edx */
	restore(e, "\x41\x5b", R11);
	cp_x86_put(e, "\x41\x5a", 2);
	e->now.pushed -= 8;
	take(e, "\x5f");
	take(e, "\x5e");
	take(e, "\x59");
	take(e, "\x58");
}

static void put_readable(struct reach *r)
{
	struct label kernel = { 0 }, known = { 0 }, page = { 0 }, probe = { 0 }, not = { 0 },
		     failed = { 0 }, bad = { 0 };
	struct cp_x86_emit *e = r->e;

	e->now = r->inside;
	r->readable = e->at + e->size;
	PUT(e, "\x48\x85\xf6"); /* test %rsi,%rsi */
	TO(r, &kernel, "\x0f\x88"); /* js */
	PUT32(e, "\x48\x81\xfe", 4096); /* cmp $4096,%rsi */
	TO(r, &bad, "\x0f\x82"); /* jb: nothing is there */
	PUT32(e, "\x65\x48\x3b\x04\x25", HEAD(r, read_until)); /* cmp %gs:read_until,%rax */
	TO(r, &not, "\x0f\x83"); /* jae */
	put_known(r, &known);
	PUT(e, "\x48\x89\xf7"); /* mov %rsi,%rdi */
	PUT(e, "\x48\xc1\xef\x0c"); /* shr $12,%rdi */
	PUT(e, "\x89\xf9"); /* mov %edi,%ecx */
	PUT(e, "\x83\xe1\x3f"); /* and $63,%ecx */
	PUT(e, "\xc1\xe1\x04"); /* shl $4,%ecx */
	PUT32(e, "\x65\x48\x3b\xb9", HEAD(r, pages[0].page)); /* cmp %gs:page(%rcx),%rdi */
	TO(r, &probe, "\x0f\x85"); /* jne */
	PUT32(e, "\x65\x48\x3b\x81", HEAD(r, pages[0].until)); /* cmp %gs:until(%rcx),%rax */
	TO(r, &page, "\x0f\x82"); /* jb */
	land(r, &probe);
	PUT(e, "\x4d\x85\xd2"); /* test %r10,%r10 */
	TO(r, &page, "\x0f\x88"); /* js */
	PUT32(e, "\x65\x48\x8b\x14\x25", HEAD(r, may_probe)); /* mov %gs:may_probe,%rdx */
	PUT(e, "\x48\x85\xd2"); /* test %rdx,%rdx */
	TO(r, &not, "\x0f\x84"); /* je */
	put_probe(r);
	PUT32(e, "\x81\xfa", -EINVAL); /* cmp $-EINVAL,%edx */
	TO(r, &failed, "\x0f\x85"); /* jne */
	PUT32(e, "\x65\x48\x89\xb9", HEAD(r, pages[0].page)); /* mov %rdi,%gs:page(%rcx) */
	PUT32(e, "\x65\x48\x03\x04\x25", HEAD(r, page_life)); /* add %gs:page_life,%rax */
	PUT32(e, "\x65\x48\x89\x81", HEAD(r, pages[0].until)); /* mov %rax,%gs:until(%rcx) */
	land(r, &page);
	PUT(e, "\x48\xff\xc7"); /* inc %rdi */
	PUT(e, "\x48\xc1\xe7\x0c"); /* shl $12,%rdi */
	land(r, &known);
	PUT(e, "\xf9"); /* stc */
	PUT(e, "\xc3");
	land(r, &kernel);
	PUT(e, "\x48\x89\xf1"); /* mov %rsi,%rcx */
	PUT(e, "\x48\xc1\xe9\x3c"); /* shr $60,%rcx */
	PUT(e, "\x83\xf9\x0d"); /* cmp $0xd,%ecx: the highest of NOT */
	TO(r, &not, "\x0f\x84"); /* je */
	TO(r, &bad, "\xe9");
	land(r, &failed);
	PUT32(e, "\x81\xfa", -EFAULT); /* cmp $-EFAULT,%edx */
	TO(r, &not, "\x0f\x85"); /* jne: a filter answers, perhaps */
	land(r, &bad);
	put64(e, 0x48, 0xb9, BAD); /* mov $BAD,%rcx */
	PUT(e, "\xf8"); /* clc */
	PUT(e, "\xc3");
	land(r, &not );
	put64(e, 0x48, 0xb9, NOT);
	PUT(e, "\xf8");
	PUT(e, "\xc3");
}

/* The bit moves from r8 to r10. */
static void put_sure(struct cp_x86_emit *e)
{
	PUT(e, "\x41\x0f\xba\xf0\x0f"); /* btr $15,%r8d */
	PUT(e, "\x73\x05"); /* jnc */
	PUT(e, "\x49\x0f\xba\xea\x3f"); /* bts $63,%r10 */
}

/* Asks it with the time that the caller had on top of its stack: above what the prologue saved,
 * and the return address. One more look at the clock would cost as much as all the rest. */
static void put_ask(struct reach *r)
{
	PUT(r->e, "\x48\x8b\x44\x24\x38"); /* mov 56(%rsp),%rax */
	cp_x86_put_to(r->e, "\xe8", 1, r->readable);
}

/* ---- a word ---- */

static void put_word(struct reach *r)
{
	struct label out = { 0 }, fits = { 0 }, eight = { 0 }, four = { 0 }, two = { 0 },
		     done = { 0 };
	struct cp_x86_emit *e = r->e;
	struct cp_x86_place end;
	uint64_t back;

	prologue(e);
	PUT(e, "\x41\x89\xc0"); /* mov %eax,%r8d */
	PUT(e, "\x45\x31\xd2"); /* xor %r10d,%r10d */
	put_sure(e);
	PUT(e, "\x48\x89\xce"); /* mov %rcx,%rsi */
	PUT(e, "\x49\x89\xc9"); /* mov %rcx,%r9 */
	put_ask(r);
	TO(r, &out, "\x0f\x83"); /* jnc */
	PUT(e, "\x4b\x8d\x34\x01"); /* lea (%r9,%r8),%rsi */
	PUT(e, "\x48\x39\xfe"); /* cmp %rdi,%rsi */
	TO(r, &fits, "\x0f\x86"); /* jbe */
	PUT(e, "\x48\x89\xfe"); /* mov %rdi,%rsi */
	put_ask(r);
	TO(r, &out, "\x0f\x83"); /* jnc */
	land(r, &fits);
	PUT(e, "\x41\x83\xf8\x04"); /* cmp $4,%r8d */
	TO(r, &eight, "\x0f\x87"); /* ja */
	TO(r, &four, "\x0f\x84"); /* je */
	PUT(e, "\x41\x83\xf8\x02"); /* cmp $2,%r8d */
	TO(r, &two, "\x0f\x84"); /* je */
	LOAD(r, "\x41\x0f\xb6\x09"); /* movzbl (%r9),%ecx */
	TO(r, &done, "\xe9");
	land(r, &two);
	LOAD(r, "\x41\x0f\xb7\x09"); /* movzwl (%r9),%ecx */
	TO(r, &done, "\xe9");
	land(r, &four);
	LOAD(r, "\x41\x8b\x09"); /* mov (%r9),%ecx */
	TO(r, &done, "\xe9");
	land(r, &eight);
	LOAD(r, "\x49\x8b\x09"); /* mov (%r9),%rcx */
	land(r, &done);
	PUT(e, "\xf9"); /* stc */
	land(r, &out);
	back = e->at + e->size;
	end = e->now;
	epilogue(e);
	e->now = end;
	land_faults(r);
	put64(e, 0x48, 0xb9, BAD); /* mov $BAD,%rcx */
	PUT(e, "\xf8"); /* clc */
	cp_x86_put_to(e, "\xe9", 1, back);
}

/* ---- bytes and strings ---- */

/* A NUL among the eight bytes in rcx: the lowest byte of rax that is not 0 says which;
 * those above it may say so of others. */
static void put_nul(struct reach *r, struct label *nul)
{
	struct cp_x86_emit *e = r->e;

	put64(e, 0x48, 0xb8, UINT64_C(0xfefefefefefefeff)); /* mov $...,%rax */
	PUT(e, "\x48\x01\xc8"); /* add %rcx,%rax */
	PUT(e, "\x48\xf7\xd1"); /* not %rcx */
	PUT(e, "\x48\x21\xc8"); /* and %rcx,%rax */
	put64(e, 0x48, 0xb9, UINT64_C(0x8080808080808080)); /* mov $...,%rcx */
	PUT(e, "\x48\x21\xc8"); /* and %rcx,%rax */
	TO(r, nul, "\x0f\x85"); /* jne */
}

/* rdi bytes from rsi, all readable, to r9; then to `more`. */
static void put_copy(struct reach *r, bool string, uint64_t more, struct label *nul,
		     struct label *ended)
{
	struct label tail = { 0 };
	struct cp_x86_emit *e = r->e;
	uint64_t again = e->at + e->size;

	PUT(e, "\x48\x83\xff\x08"); /* cmp $8,%rdi */
	TO(r, &tail, "\x0f\x82"); /* jb */
	LOAD(r, "\x48\x8b\x0e"); /* mov (%rsi),%rcx */
	PUT32(e, "\x65\x49\x89\x89", cp_x86_buffer_at(r->rings, 0)); /* mov %rcx,%gs:(%r9) */
	if (string)
		put_nul(r, nul);
	PUT(e, "\x48\x83\xc6\x08"); /* add $8,%rsi */
	PUT(e, "\x41\x83\xc1\x08"); /* add $8,%r9d */
	PUT(e, "\x48\x83\xef\x08"); /* sub $8,%rdi */
	cp_x86_put_to(e, "\xe9", 1, again);
	land(r, &tail);
	again = e->at + e->size;
	PUT(e, "\x48\x85\xff"); /* test %rdi,%rdi */
	cp_x86_put_to(e, "\x0f\x84", 2, more); /* je */
	LOAD(r, "\x0f\xb6\x0e"); /* movzbl (%rsi),%ecx */
	if (string) {
		PUT(e, "\x85\xc9"); /* test %ecx,%ecx */
		TO(r, ended, "\x0f\x84"); /* je */
	}
	PUT32(e, "\x65\x41\x88\x89", cp_x86_buffer_at(r->rings, 0)); /* mov %cl,%gs:(%r9) */
	PUT(e, "\x48\xff\xc6"); /* inc %rsi */
	PUT(e, "\x41\xff\xc1"); /* inc %r9d */
	PUT(e, "\x48\xff\xcf"); /* dec %rdi */
	cp_x86_put_to(e, "\xe9", 1, again);
}

static void put_fetch(struct reach *r, bool string)
{
	struct label failed = { 0 }, nul = { 0 }, ended = { 0 }, done = { 0 };
	struct cp_x86_emit *e = r->e;
	uint64_t more;

	prologue(e);
	PUT(e, "\x48\x89\xce"); /* mov %rcx,%rsi */
	PUT(e, "\x44\x0f\xb7\xc0"); /* movzwl %ax,%r8d */
	PUT(e, "\xc1\xe8\x10"); /* shr $16,%eax */
	PUT(e, "\x44\x8d\x14\x10"); /* lea (%rax,%rdx),%r10d */
	PUT(e, "\x45\x8d\x4a\x08"); /* lea 8(%r10),%r9d */
	put_sure(e);
	more = e->at + e->size;
	PUT32(e, "\xb8", string ? CP_DETOUR_READ_CUT : CP_DETOUR_READ); /* mov $...,%eax */
	PUT(e, "\x45\x85\xc0"); /* test %r8d,%r8d */
	TO(r, &done, "\x0f\x84"); /* je */
	put_ask(r);
	TO(r, &failed, "\x0f\x83"); /* jnc */
	PUT(e, "\x48\x29\xf7"); /* sub %rsi,%rdi */
	PUT(e, "\x4c\x39\xc7"); /* cmp %r8,%rdi */
	PUT(e, "\x49\x0f\x47\xf8"); /* cmova %r8,%rdi */
	PUT(e, "\x49\x29\xf8"); /* sub %rdi,%r8 */
	put_copy(r, string, more, &nul, &ended);
	land_faults(r);
	put64(e, 0x48, 0xb9, BAD); /* mov $BAD,%rcx */
	land(r, &failed);
	PUT(e, "\x48\x89\xc8"); /* mov %rcx,%rax */
	PUT(e, "\x48\xc1\xe8\x3e"); /* shr $62,%rax */
	TO(r, &done, "\xe9");
	land(r, &nul);
	PUT(e, "\x48\x0f\xbc\xc0"); /* bsf %rax,%rax */
	PUT(e, "\xc1\xe8\x03"); /* shr $3,%eax */
	PUT(e, "\x41\x01\xc1"); /* add %eax,%r9d */
	land(r, &ended);
	PUT(e, "\x31\xc0"); /* xor %eax,%eax */
	land(r, &done);
	PUT(e, "\x44\x89\xc9"); /* mov %r9d,%ecx */
	PUT(e, "\x44\x29\xd1"); /* sub %r10d,%ecx */
	PUT(e, "\x83\xe9\x08"); /* sub $8,%ecx */
	PUT(e, "\x48\xc1\xe0\x20"); /* shl $32,%rax */
	PUT(e, "\x48\x09\xc8"); /* or %rcx,%rax */
	PUT(e, "\x45\x89\xd2"); /* mov %r10d,%r10d */
	PUT32(e, "\x65\x49\x89\x82", cp_x86_buffer_at(r->rings, 0)); /* mov %rax,%gs:(%r10) */
	epilogue(e);
}

size_t cp_x86_put_reach(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			struct cp_x86_load loads_ret[CP_X86_LOADS])
{
	struct reach r = { .e = e, .rings = rings, .loads = loads_ret };

	/* In `readable`: as behind any prologue, and with its return address. */
	r.inside = (struct cp_x86_place){ .pushed = 7 * 8 };
	r.inside.saved[RDX] = 1 * 8;
	r.inside.saved[RSI] = 2 * 8;
	r.inside.saved[RDI] = 3 * 8;
	r.inside.saved[R8] = 4 * 8;
	r.inside.saved[R9] = 5 * 8;
	r.inside.saved[R10] = 6 * 8;
	put_readable(&r);
	cp_x86_fill(e, CP_X86_WORD_AT);
	put_word(&r);
	cp_x86_fill(e, CP_X86_BYTES_AT);
	put_fetch(&r, false);
	cp_x86_fill(e, CP_X86_STRING_AT);
	put_fetch(&r, true);
	return r.load_count;
}
