/* SPDX-License-Identifier: MIT
 *
 * The code that finishes a transfer (arch/finish.h):
 *
 *      0  0: syscall
 *      2  mov  done, %rcx        rcx and r11 are changed by any system call
 *      9  test %rax, %rax
 *     12  jg   1f
 *     14  cmp  $-512, %rax
 *     20  jne  3f
 *     22  mov  nr, %rax
 *     29  jmp  0b
 *     31  3: cmp  $-EINTR, %rax
 *     35  jne  2f
 *     37  cmpq $0, tell
 *     45  je   2f
 *     47  gettid() into %edi
 *     56  mov  tell, %rsi
 *     63  tkill()
 *     70  mov  done, %rcx
 *     77  mov  $-EINTR, %rax
 *     84  2: and  mask, %rax
 *     91  1: add  %rax, %rcx
 *     94  mov  %rcx, %rax
 *     97  mov  args, %rdi %rsi %rdx %r10 %r8 %r9
 *    139  mov  ret, %rcx
 *    146  movl $0, busy
 *    156  jmp  *%rcx
 *
 * The kernel starts a call again by going back two bytes: to the beginning. The
 * code of its own for that, -ERESTARTSYS, never gets to a program, but Linux's
 * recvmmsg() keeps it as the error of the next call.
 */
#include "arch/finish.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	CALLED = 2,
	NUMBER = 22,
	LOOK = 31,
	TELL = 47,
	TOLD = 70,
	MASK = 84,
	ADD = 91,
	SET = 94,
	RESULT = 97,
	JUMP = 156,
	SIZE = 158
};

/* By DWARF number. */
enum { RAX = 0, RDX = 1, RCX = 2, RSI = 4, RDI = 5, R8 = 8, R9 = 9, R10 = 10, RIP = 16 };
static const uint8_t arguments[6] = { RDI, RSI, RDX, R10, R8, R9 };

struct code {
	uint8_t *bytes;
	size_t size;
	uint64_t at, record;
	bool far;
};

static void add(struct code *c, const void *bytes, size_t size)
{
	memcpy(c->bytes + c->size, bytes, size);
	c->size += size;
}

/* The displacement of a member of the record, `behind` bytes before the end of
 * its instruction. */
static void add_place(struct code *c, size_t member, unsigned behind)
{
	int64_t away = (int64_t)(c->record + member - (c->at + c->size + 4 + behind));
	int32_t displacement = (int32_t)away;

	c->far |= displacement != away;
	add(c, &displacement, sizeof(displacement));
}

/* mov member(%rip), register: REX.W, REX.R for those from r8 on */
static void add_load(struct code *c, size_t member, bool high, unsigned number)
{
	const uint8_t bytes[] = { high ? 0x4c : 0x48, 0x8b, (uint8_t)(number << 3 | 5) };

	add(c, bytes, sizeof(bytes));
	add_place(c, member, 0);
}

/* The system calls are those of x86-64, whatever host this is compiled on. */
static void add_telling(struct code *c)
{
	static const uint8_t look[] = { 0x48, 0x83, 0xf8, (uint8_t)-EINTR, 0x75, MASK - 37,
					0x48, 0x83, 0x3d };
	static const uint8_t gettid[] = { 0, 0x74, MASK - TELL, 0xb8, 186,  0,
					  0, 0,	   0x0f,	0x05, 0x89, 0xc7 };
	static const uint8_t tkill[] = { 0xb8, 200, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t result[] = { 0x48, 0xc7, 0xc0, (uint8_t)-EINTR, 0xff, 0xff, 0xff };

	add(c, look, sizeof(look));
	add_place(c, offsetof(struct cp_finish_record, tell), 1);
	add(c, gettid, sizeof(gettid));
	add_load(c, offsetof(struct cp_finish_record, tell), false, 6);
	add(c, tkill, sizeof(tkill));
	add_load(c, offsetof(struct cp_finish_record, done), false, 1);
	add(c, result, sizeof(result));
}

size_t cp_finish_code(const struct cp_arch *arch, uint64_t at, uint64_t record, uint8_t *to)
{
	static const uint8_t look[] = { 0x48, 0x85, 0xc0, 0x7f, ADD - 14, 0x48,		0x3d,
					0x00, 0xfe, 0xff, 0xff, 0x75,	  LOOK - NUMBER };
	static const uint8_t again[] = { 0xeb, (uint8_t)-LOOK };
	static const uint8_t mask[] = { 0x48, 0x23, 0x05 };
	static const uint8_t sum[] = { 0x48, 0x01, 0xc1, 0x48, 0x89, 0xc8 };
	/* As ModRM counts them: rdi rsi rdx r10 r8 r9. */
	static const uint8_t number[6] = { 7, 6, 2, 2, 0, 1 };
	struct code c = { .bytes = to, .at = at, .record = record };
	unsigned i;

	if (arch->e_machine != EM_X86_64)
		return 0;
	add(&c, "\x0f\x05", 2);
	add_load(&c, offsetof(struct cp_finish_record, done), false, 1);
	add(&c, look, sizeof(look));
	add_load(&c, offsetof(struct cp_finish_record, nr), false, 0);
	add(&c, again, sizeof(again));
	add_telling(&c);
	add(&c, mask, sizeof(mask));
	add_place(&c, offsetof(struct cp_finish_record, mask), 0);
	add(&c, sum, sizeof(sum));
	for (i = 0; i < 6; i++)
		add_load(&c, offsetof(struct cp_finish_record, args) + 8 * i, i > 2, number[i]);
	add_load(&c, offsetof(struct cp_finish_record, ret), false, 1);
	add(&c, "\xc7\x05", 2);
	add_place(&c, offsetof(struct cp_finish_record, busy), 4);
	add(&c, "\0\0\0\0\xff\xe1", 6);
	return c.far ? 0 : c.size;
}

bool cp_finish_called(const struct cp_arch *arch, unsigned offset, const struct cp_regs *regs,
		      int64_t *result_ret)
{
	if (arch->e_machine != EM_X86_64 || offset != CALLED)
		return false;
	*result_ret = (int64_t)regs->r[RAX];
	return true;
}

bool cp_finish_told(const struct cp_arch *arch, unsigned offset)
{
	return arch->e_machine == EM_X86_64 && offset == TOLD;
}

/* The result of a thread that has not yet put it together. -512 and below: the
 * kernel was about to make the call again. */
static uint64_t result_at(unsigned offset, const struct cp_finish_record *record,
			  const struct cp_regs *regs)
{
	int64_t raw = (int64_t)regs->r[RAX];

	if (offset == SET)
		return regs->r[RCX];
	if (offset == ADD)
		return record->done + (uint64_t)raw;
	if (offset >= TELL && offset < MASK)
		raw = -EINTR;
	if (offset < CALLED || (offset >= NUMBER && offset < LOOK) || (raw <= -512 && raw > -4096))
		return (uint64_t)record->early;
	return record->done + (raw > 0 ? (uint64_t)raw : (uint64_t)raw & record->mask);
}

void cp_finish_leave(const struct cp_arch *arch, unsigned offset,
		     const struct cp_finish_record *record, struct cp_regs *regs)
{
	unsigned i;

	if (arch->e_machine != EM_X86_64 || offset >= SIZE)
		return;
	if (offset >= JUMP) { /* all is done, and the record may be another's by now */
		regs->r[RIP] = regs->r[RCX];
		return;
	}
	if (offset < RESULT)
		regs->r[RAX] = result_at(offset, record, regs);
	for (i = 0; i < 6; i++)
		regs->r[arguments[i]] = record->args[i];
	regs->r[RIP] = regs->r[RCX] = record->ret;
}
