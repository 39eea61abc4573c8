/* SPDX-License-Identifier: MIT
 *
 * One address space: which object covers a pc, and what to do there. The
 * answers are remembered by pc, which is what makes walks cheap.
 */
#ifndef CP_UNWIND_SPACE_H
#define CP_UNWIND_SPACE_H

#include "base/map.h"
#include "base/vec.h"
#include "unwind/table.h"
#include "unwind/unwind.h"

/* Something that may be an ELF object, mapped from its file offset 0. */
struct cp_space_object {
	struct cp_unwind_mapping mapping; /* of offset 0; path owned */
	bool tried; /* its headers were read */
	struct cp_table *table; /* NULL: not tried yet, or not an object */
	bool owned; /* the table, which else is the cache's */
	uint64_t bias; /* run-time minus link-time address */
};

struct cp_space_code {
	uint64_t start, end, file_offset;
	bool constant; /* a file's, not made at run time */
	uint32_t object; /* that it belongs to, or NO_OBJECT */
	uint32_t fallback; /* the object around anonymous code, or NO_OBJECT */
};

enum cp_step_kind {
	CP_STEP_UNMAPPED, /* not executable */
	CP_STEP_NONE, /* nothing is known here */
	CP_STEP_RULE,
	CP_STEP_SIGRETURN, /* a signal trampoline without CFI */
};

/* The step from a pc to its caller. */
struct cp_step {
	uint64_t pc;
	enum cp_step_kind kind;
	bool exact; /* part of the key */
	const struct cp_rule *rule;
	uint64_t function; /* start of the FDE's range, 0: unknown */
};

#define CP_SPACE_PAGE 4096u
#define CP_SPACE_PAGES 64u

struct cp_unwind_space {
	const struct cp_arch *arch;
	const struct cp_reader *memory;
	struct cp_unwind_cache *cache; /* may be NULL */
	struct cp_unwind_files files;
	uint64_t fingerprint; /* of the mapping list */
	CP_VEC(struct cp_space_object) objects; /* by address */
	CP_VEC(struct cp_space_code) code; /* executable mappings by address */
	struct cp_step *steps; /* direct-mapped by pc; pc 0: free */
	size_t nsteps; /* a power of two */
	size_t evicted;
	struct cp_space_page {
		uint64_t addr; /* of the page; 1: none */
		uint64_t walk; /* of what may change: the walk that read it; 0: it does not */
		uint8_t *bytes;
	} pages[CP_SPACE_PAGES];
	uint64_t walk; /* the number of the one under way; 0: none is */
	uint64_t walks; /* there were */
	struct cp_decoder *decoder; /* for guesses, made at the first one */
	/* What code tells itself (code.c), by pc and whether that is exact: rules, owned; 0: none. */
	struct cp_map code_rules;
	struct cp_space_guest {
		void *state; /* of another unwinder, made at its first walk */
		void (*destroy)(void *state);
	} libunwind, libunwind_ptrace;
};

static inline struct cp_step *cp_space_slot(const struct cp_unwind_space *space, uint64_t pc)
{
	return &space->steps[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 40 & (space->nsteps - 1)];
}

/* cp_space_step() of a pc that is not remembered. */
const struct cp_step *cp_space_make_step(struct cp_unwind_space *space, uint64_t pc, bool exact);

/* The step at `pc`: of an instruction about to run (exact), or a return address,
 * which may already belong to the next function. Good until the next call. */
static inline const struct cp_step *cp_space_step(struct cp_unwind_space *space, uint64_t pc,
						  bool exact)
{
	const struct cp_step *step = cp_space_slot(space, pc);

	if (step->pc == pc && step->exact == exact && pc)
		return step;
	return cp_space_make_step(space, pc, exact);
}

/* The executable mapping that holds `pc`, or NULL. */
const struct cp_space_code *cp_space_code_at(const struct cp_unwind_space *space, uint64_t pc);

/* The object whose segments cover `pc`, its table made if need be, or NULL. */
struct cp_space_object *cp_space_object_at(struct cp_unwind_space *space, uint64_t pc);

/* Reads what does not change: code and constants. Pages are remembered,
 * those of code made at run time are not. How many bytes were read. */
size_t cp_space_read_constant(struct cp_unwind_space *space, uint64_t addr, void *buffer,
			      size_t size);

/* Frees what code told, so far. */
void cp_space_forget_rules(struct cp_unwind_space *space);

#endif
