/* SPDX-License-Identifier: MIT
 *
 * Detours: a call is seen without a stop. A few instructions of the program, the
 * window, are replaced by a jump to code that writes a record into a ring and then
 * does what was replaced. Pure: bytes in, bytes out.
 *
 *     window:  jmp ─────────►  save, record, restore    (reserve ─ fill ─ commit)
 *     next:    mov …  ◄──┐     push %rbp                what was in the window,
 *                        │     mov  %rsp,%rbp           relocated
 *                        └──── jmp next
 *
 * Nothing is left behind on the stack and no return address is changed, so
 * unwinders, throw, longjmp and coroutines find what they would without us. All
 * registers and flags and the red zone are as they were; what is written on the stack
 * is 128 to 168 bytes below it, to 288 where pointers are followed and 720 for st0. When
 * nobody reads, the ring is full and records are dropped.
 *
 * A thread may be taken out at any instruction (cp_detour_leave()), to the place
 * in the program that it stands for. What the code does up to there is told by
 * making it once more, so no table has to be kept beside it.
 *
 * Each thread has a ring of its own, found by the base of segment gs, which
 * programs do not use (who finds it not to be 0 places no detours): nothing is
 * locked, and no line of the caches is written by two.
 *
 *     gs base = ring - zero          `zero`, below 2 GiB, is where a ring lies for
 *                                    threads whose base is still 0. It is closed.
 */
#ifndef CP_ARCH_DETOUR_H
#define CP_ARCH_DETOUR_H

#include "arch/detour_count.h"
#include "arch/detour_jump.h"
#include "arch/detour_ring.h"
#include "arch/insn.h"

struct cp_detour_rings {
	uint32_t zero; /* address of the ring for a gs base of 0 */
	uint8_t log;
	uint64_t slow; /* address of what cp_detour_slow() makes */
};

/* ---- what a detour records ---- */

enum cp_detour_value_kind {
	CP_DETOUR_GENERAL, /* register by DWARF number */
	CP_DETOUR_VECTOR, /* low 8 bytes of a vector register */
	CP_DETOUR_VECTOR16, /* low 16 bytes */
	CP_DETOUR_STACK, /* word at stack pointer + offset */
	/* All of one that has 32 or 64 bytes, on processors that have such. */
	CP_DETOUR_VECTOR32,
	CP_DETOUR_VECTOR64,
	CP_DETOUR_X87, /* st0: 10 bytes, and what cp_detour_x87_there() needs; 16 in all */
	/* Word at reg (NONE: 0; the pc's: of the instruction behind the record) + index * scale
	 * + at[0]: that instruction reads it, too, so a fault is the program's. */
	CP_DETOUR_WORD,
	CP_DETOUR_CHOSEN, /* of a record that SAMPLES: was its block chosen? */
};
#define CP_DETOUR_NONE 0xff

/* By the second word of a CP_DETOUR_X87: there is something in st0. */
static inline bool cp_detour_x87_there(uint64_t second)
{
	return second >> (32 + (second >> (16 + 11) & 7)) & 1;
}

enum cp_detour_reach {
	CP_DETOUR_ITSELF,
	/* Not the value, but what is where it points to. In the record stands one word for
	 * how it went, struct cp_detour_reached, and then the bytes, up to whole words.
	 * Strings stand behind all that is no string, and have no more room than they need
	 * (but for a signal's handler in between). */
	CP_DETOUR_BYTES, /* `size` of them */
	CP_DETOUR_STRING, /* up to a NUL, which is not among them, or to `size` */
};

#define CP_DETOUR_THROUGH 3
#define CP_DETOUR_REACH_MAX 4096 /* bytes; all of a record without the stack have 8192 */
struct cp_detour_value {
	uint8_t kind; /* enum cp_detour_value_kind */
	uint8_t reg;
	int16_t offset;
	uint8_t reach; /* enum cp_detour_reach; of general registers and the stack */
	uint8_t through : 4; /* pointers that lie between: at at[0] from the value, ... */
	uint8_t beside : 4; /* the one with that number is how far it is from the value; 0: none */
	uint8_t sure; /* enum cp_detour_sure */
	union {
		uint16_t size;
		struct {
			uint8_t index, scale; /* WORD */
		};
	};
	int32_t at[CP_DETOUR_THROUGH + 1]; /* and at at[through] from the last, the bytes */
	uint32_t guard; /* SURE_IF, SURE_IF_LIKE */
};
/* What the program is about to read itself can be, or if it may by the value's first word. */
enum cp_detour_sure {
	CP_DETOUR_ASKED, /* the kernel is, unless it is known */
	CP_DETOUR_SURE,
	CP_DETOUR_SURE_IF, /* its low 32 bits are `guard`; else it can't be read */
	CP_DETOUR_SURE_IF_LIKE, /* but for the lowest 8 */
};

struct cp_detour_reached {
	uint32_t size; /* bytes that were read */
	uint32_t how; /* enum cp_detour_how_read */
};
enum cp_detour_how_read {
	CP_DETOUR_READ, /* all of it */
	CP_DETOUR_READ_CUT, /* there is no NUL among the first `size` */
	CP_DETOUR_READ_BAD, /* the next byte, or a pointer on the way, can't be read */
	CP_DETOUR_READ_NOT, /* nor was it tried: it was not allowed, or nobody would serve a fault */
};
struct cp_detour_found {
	const void *bytes; /* 8-aligned */
	uint32_t size; /* of them */
	uint8_t how; /* enum cp_detour_how_read */
};

enum cp_detour_op {
	CP_DETOUR_EQ,
	CP_DETOUR_NE,
	CP_DETOUR_LT,
	CP_DETOUR_LE,
	CP_DETOUR_GT,
	CP_DETOUR_GE,
	CP_DETOUR_BITS, /* any of these bits is set */
};

/* A comparison with the low `size` bytes of a value (no vector; if it has a reach, the
 * `size` bytes there: what can't be read is accepted, and no further test made). */
struct cp_detour_test {
	struct cp_detour_value value;
	uint8_t op; /* enum cp_detour_op */
	uint8_t size; /* 1, 2, 4, 8 */
	bool is_signed;
	uint64_t constant; /* extended to 64 bits as the value is */
};

enum cp_detour_when {
	CP_DETOUR_ALWAYS,
	/* If all tests hold. The exits of the call ask the table whether they did: */
	CP_DETOUR_DECIDES,
	CP_DETOUR_IF_DECIDED, /* the call with this stack pointer was accepted */
	/* Decides, too: a block of so many bytes is chosen, or what was at the address was. */
	CP_DETOUR_SAMPLES,
	CP_DETOUR_IF_CHOSEN, /* what is at the address may have been chosen */
};

/* Registers by DWARF number, or CP_DETOUR_NONE: `size` times `times` bytes, and the address
 * of a block that is freed or moved. */
struct cp_detour_block {
	uint8_t size, times, address;
};

#define CP_DETOUR_VALUES 24
#define CP_DETOUR_TESTS 4
#define CP_DETOUR_RECORDS 3
#define CP_DETOUR_STACK_MAX 16384

struct cp_detour_record {
	uint32_t site;
	uint8_t before; /* offset in the window of the instruction that it comes before */
	uint8_t when; /* enum cp_detour_when */
	uint8_t value_count, test_count;
	bool taken; /* a conditional jump: only where it jumps */
	uint16_t stack; /* bytes of the stack that it has a copy of, at most */
	bool stops; /* who wrote the record stops (cp_detour_stops()) */
	/* Of an entry: whoever is called from where is not known yet (cp_detour_caller())
	 * stops as on a foreign stack, and makes no record. */
	bool by_known;
	bool chooses; /* IF_DECIDED: at the address is a block that was chosen */
	struct cp_detour_block block; /* SAMPLES, IF_CHOSEN, `chooses` */
	struct cp_detour_value values[CP_DETOUR_VALUES];
	struct cp_detour_test tests[CP_DETOUR_TESTS];
};

/* Does the record say that a block is gone? Then what is known of its address is counted down
 * (detour_ring.h) from RESERVED on; who takes the thread out then counts it up again. */
static inline bool cp_detour_counts_down(const struct cp_detour_record *record)
{
	return (record->when == CP_DETOUR_SAMPLES || record->when == CP_DETOUR_IF_CHOSEN) &&
	       record->block.address != CP_DETOUR_NONE;
}

/* A value of such a record, whose values in the ring are `words`. False: they have no
 * such value; the program may have written there. */
bool cp_detour_find(const struct cp_detour_record *record, unsigned number, const uint64_t *values,
		    unsigned words, struct cp_detour_found *ret);
/* Units of 16 bytes that it takes, at most. */
unsigned cp_detour_units(const struct cp_detour_record *record);

#define CP_DETOUR_WINDOW 32 /* bytes of instructions, at most */
#define CP_DETOUR_CODE_MAX 2048

/* Plain data: the code can be made again from it, anywhere. Records are in the
 * order of `before`, at most one before an instruction. It has no counts beside them. */
struct cp_detour {
	uint64_t pc; /* of the window */
	uint8_t size; /* of its instructions */
	uint8_t record_count, count_count;
	struct cp_detour_count counts[CP_DETOUR_COUNTS];
	uint8_t code[CP_DETOUR_WINDOW]; /* its instructions */
	struct cp_detour_record records[CP_DETOUR_RECORDS];
};

/* The two windows, an entry's and an exit's behind it, of a function at `pc` that does
 * nothing, with a record each: for trials in a process of one's own. False: there are no
 * detours for this ISA. */
bool cp_detour_nothing(const struct cp_arch *arch, uint64_t pc, struct cp_detour windows_ret[2]);

/* ---- code ---- */

/* Can the code be moved to somewhere else at all? The same rules as of
 * cp_detour_make(), but for distances. */
bool cp_detour_movable(const struct cp_arch *arch, const uint8_t *code, size_t size, uint64_t pc);

/* The code for `at`, CP_DETOUR_CODE_MAX bytes of room; its size. 0: it can't be: an
 * instruction can't be executed there, or something is out of reach. enter_ret, if wanted:
 * for each byte of the window where in the code a thread goes on that comes there, to its
 * beginning or a later instruction, with what is recorded there; 0: none does. */
size_t cp_detour_make(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		      const struct cp_detour_rings *rings, uint8_t *code,
		      uint64_t enter_ret[CP_DETOUR_WINDOW]);
/* What all detours call, near them: when their ring is full, and to follow pointers. */
#define CP_DETOUR_SLOW_MAX 2048
size_t cp_detour_slow(const struct cp_arch *arch, const struct cp_detour_rings *rings,
		      uint8_t *code);

/* A breakpoint in the code of detours. The thread has the pc behind it, and goes on
 * there when its stop was served, or at `on` if nobody is there to serve it. */
struct cp_detour_stop {
	uint64_t pc, on;
};
/* Those of records that stop, how many. The registers are the program's but for the pc,
 * which cp_detour_leave() tells; there is nothing to serve that `on` would be without. */
size_t cp_detour_stops(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		       const struct cp_detour_rings *rings,
		       struct cp_detour_stop ret[CP_DETOUR_RECORDS]);
/* That of a thread which is not on its own stack: its call is told by who serves the stop,
 * and not recorded. */
bool cp_detour_slow_foreign(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			    struct cp_detour_stop *ret);
/* That of a thread which asks for a ring. If it was given one (by the base of gs), it
 * writes its record there, else at `on` it goes without. */
bool cp_detour_slow_stop(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			 struct cp_detour_stop *ret);

/* A thread that follows a pointer had a fault at `pc` (SIGSEGV, SIGBUS): where it goes
 * on, without what it wanted to read. 0: that is not what it does there. */
uint64_t cp_detour_fault(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			 uint64_t pc);

/* The same of a thread that is held in a detour's code, copying the stack, which has
 * ended before what `stack_end` said: pc and what the copy needs in `regs`, and in its
 * ring zeros for what is missing. False: that is not what it does there. */
bool cp_detour_stack_fault(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
			   const struct cp_detour_rings *rings, struct cp_regs *regs,
			   struct cp_detour_ring *ring);

enum cp_detour_stage {
	CP_DETOUR_NOTHING, /* of the record in the making is in the ring */
	/* Room was reserved: cp_detour_void() has to fill it. */
	CP_DETOUR_RESERVED,
	/* The thread's last record is of the instruction that it has yet to do: if it
	 * comes to the detour again, cp_detour_cancel() has to be called. */
	CP_DETOUR_COMMITTED,
};

struct cp_detour_left {
	uint8_t stage; /* enum cp_detour_stage */
	uint16_t units; /* RESERVED */
	uint16_t tag;
	uint32_t index; /* in the buffer */
	/* Numbers that went up for the instruction that it has yet to do, which will count
	 * again; 0: none. */
	uint32_t counted[2];
};

/* The thread with these registers (all known) and flags is in the code: they become
 * those that it would have in the program. False: it is at no instruction of it, or
 * memory can't be read. */
bool cp_detour_leave(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		     const struct cp_detour_rings *rings, struct cp_regs *regs, uint64_t *flags,
		     const struct cp_reader *memory, struct cp_detour_left *ret);
/* The same of a thread in what cp_detour_slow() made: its pc is one in a detour's
 * code then, which it has to leave next; if something was RESERVED, it is void first. */
bool cp_detour_leave_slow(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			  struct cp_regs *regs, const struct cp_reader *memory,
			  struct cp_detour_left *ret);

/* In the ring of a thread that is held. */
void cp_detour_void(struct cp_detour_ring *ring, const struct cp_detour_left *left);
void cp_detour_cancel(struct cp_detour_ring *ring, unsigned log, uint64_t stamp);
/* The same of what was told by a stop in the place of a record: the record before stays. */
void cp_detour_come_again(struct cp_detour_ring *ring, unsigned log, uint64_t stamp);

#endif
