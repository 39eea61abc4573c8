/* SPDX-License-Identifier: MIT
 *
 * The code that finishes a transfer (arch/finish.h):
 *
 *      0  0: syscall
 *      2  mov  done, %rcx        rcx and r11 are changed by any system call
 *      9  test %rax, %rax
 *     12  jg   1f
 *     14  cmp  $-512, %rax
 *     20  jne  2f
 *     22  mov  nr, %rax
 *     29  jmp  0b
 *     31  2: and  mask, %rax
 *     38  1: add  %rax, %rcx
 *     41  mov  %rcx, %rax
 *     44  mov  args, %rdi %rsi %rdx %r10 %r8 %r9
 *     86  mov  ret, %rcx
 *     93  movl $0, busy
 *    103  jmp  *%rcx
 *
 * The kernel starts a call again by going back two bytes: to the beginning. The
 * code of its own for that, -ERESTARTSYS, never gets to a program, but Linux's
 * recvmmsg() keeps it as the error of the next call.
 */
#include "arch/finish.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum {
	CALLED = 2,
	NUMBER = 22,
	MASK = 31,
	ADD = 38,
	SET = 41,
	RESULT = 44,
	JUMP = 103,
	SIZE = 105
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

size_t cp_finish_code(const struct cp_arch *arch, uint64_t at, uint64_t record, uint8_t *to)
{
	static const uint8_t look[] = { 0x48, 0x85, 0xc0, 0x7f, ADD - 14, 0x48,		0x3d,
					0x00, 0xfe, 0xff, 0xff, 0x75,	  MASK - NUMBER };
	static const uint8_t again[] = { 0xeb, (uint8_t)-MASK };
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
	if (offset < CALLED || (offset >= NUMBER && offset < MASK) || (raw <= -512 && raw > -4096))
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
