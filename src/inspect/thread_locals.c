/* SPDX-License-Identifier: MIT
 *
 * glibc has tables for debuggers (nptl_db's) that tell where in its structures the
 * members are that lead to a thread's variables:
 *
 *     _rtld_global._dl_stack_user -> list of struct pthread -> the one with our tid
 *     (of a program that is linked statically: _dl_stack_user, without _rtld_global)
 *     its dtv[module] -> the module's variables of that thread, once it used one
 *     _r_debug -> list of struct link_map -> the module's number, and how far below the
 *                 thread's struct its variables are, where they are there from the start
 *
 * No register is needed, so nobody is stopped. The lists change while they are read:
 * they are walked for so many steps, and what is found is checked.
 */
#include "inspect/thread_locals.h"

#include <cprof/value.h>

#include "base/text.h"

#include "image/jit.h"

#define THREADS_MAX 100000
#define MODULES_MAX 10000
#define NOT_ALLOCATED UINT64_MAX

struct member {
	uint32_t bits, count, offset; /* as in nptl_db */
};

static uint64_t word_at(const struct cp_thread_library *l, uint64_t address)
{
	uint64_t word = 0;

	return cp_read_exact(l->memory, address, &word, sizeof(word)) ? word : 0;
}

static uint64_t symbol(const struct cp_placed_image *in, const char *name)
{
	struct cp_vaddr at;

	return in->image && cp_image_variable(in->image, name, &at) ? at.v + in->bias : 0;
}

static bool member(const struct cp_thread_library *l, const char *name, struct member *ret)
{
	uint64_t at = symbol(&l->libc, name);

	return at && cp_read_exact(l->memory, at, ret, sizeof(*ret)) && ret->offset < 65536;
}

void cp_thread_library_meet(struct cp_thread_library *library, const struct cp_placed_image *of,
			    const char *path, bool program)
{
	const char *name = cp_basename(path);
	struct cp_vaddr at;

	program = program && !cp_image_has_interpreter(of->image);
	if ((program || cp_starts_with(name, "libc")) &&
	    cp_image_variable(of->image, "_thread_db_pthread_tid", &at))
		library->libc = *of;
	if (cp_starts_with(name, "ld") && cp_image_variable(of->image, "_rtld_global", &at))
		library->linker = *of;
	else if (program && cp_image_variable(of->image, "_dl_stack_user", &at))
		library->linker = *of;
}

/* Where a list of threads begins; 0: not known. */
static uint64_t list_of(const struct cp_thread_library *l, const char *name, const char *within)
{
	uint64_t global = symbol(&l->linker, "_rtld_global");
	struct member head;

	if (!global)
		return symbol(&l->linker, name);
	return member(l, within, &head) ? global + head.offset : 0;
}

/* The struct pthread of a thread in the list that begins at `first`; 0: it is not there. */
static uint64_t find_in(const struct cp_thread_library *l, uint64_t first, pid_t tid)
{
	struct member link, id;
	int32_t found;
	uint64_t at;
	unsigned i;

	if (!first || !member(l, "_thread_db_pthread_list", &link) ||
	    !member(l, "_thread_db_pthread_tid", &id))
		return 0;
	for (i = 0, at = word_at(l, first); at && at != first && i < THREADS_MAX; i++) {
		if (cp_read_exact(l->memory, at - link.offset + id.offset, &found, sizeof(found)) &&
		    found == tid)
			return at - link.offset;
		at = word_at(l, at);
	}
	return 0;
}

/* The struct link_map of an image; 0: it has none. */
static uint64_t link_map_of(const struct cp_thread_library *l, const struct cp_placed_image *of,
			    bool program)
{
	uint64_t at = symbol(&l->linker, "_r_debug");
	unsigned i;

	for (i = 0, at = at ? word_at(l, at + 8) : 0; at && i < MODULES_MAX; i++) {
		if (program || word_at(l, at) == of->bias)
			return at;
		at = word_at(l, at + 24);
	}
	/* Linked statically, a program has one that no list for debuggers tells of. */
	return program ? word_at(l, symbol(&l->linker, "_dl_ns")) : 0;
}

uint8_t cp_thread_local(const struct cp_thread_library *l, pid_t tid,
			const struct cp_placed_image *of, bool program, uint64_t offset,
			uint64_t *ret)
{
	uint64_t thread, map = link_map_of(l, of, program), number, below, block;
	struct member id, distance, table, slot;

	thread = find_in(l, list_of(l, "_dl_stack_user", "_thread_db_rtld_global__dl_stack_user"),
			 tid);
	if (!thread)
		thread = find_in(l,
				 list_of(l, "_dl_stack_used",
					 "_thread_db_rtld_global__dl_stack_used"),
				 tid);
	if (!thread || !map || !member(l, "_thread_db_link_map_l_tls_modid", &id) ||
	    !member(l, "_thread_db_link_map_l_tls_offset", &distance) ||
	    !member(l, "_thread_db_pthread_dtvp", &table) ||
	    !member(l, "_thread_db_dtv_dtv", &slot))
		return CPROF_VALUE_UNAVAILABLE;
	number = word_at(l, map + id.offset);
	below = word_at(l, map + distance.offset);
	/* 0 and -1, -2: not told, never to be. */
	if (below && below < UINT64_MAX - 1) {
		*ret = thread - below + offset;
		return CPROF_VALUE_OK;
	}
	block = word_at(l, thread + table.offset);
	if (!number || !block || slot.bits % 8)
		return CPROF_VALUE_UNAVAILABLE;
	/* The word before the first says how many there are. */
	if (number > word_at(l, block - slot.bits / 8))
		return CPROF_VALUE_NOT_ALLOCATED;
	block = word_at(l, block + number * (slot.bits / 8) + slot.offset);
	if (!block || block == NOT_ALLOCATED)
		return CPROF_VALUE_NOT_ALLOCATED;
	*ret = block + offset;
	return CPROF_VALUE_OK;
}
