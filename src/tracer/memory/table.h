/* SPDX-License-Identifier: MIT
 *
 * The table of sites, and what it is made of.
 */
#ifndef CP_TRACER_TABLE_H
#define CP_TRACER_TABLE_H

#include "base/vec.h"
#include "link/sites.h"

#define SITE_NONE UINT32_MAX
#define LARGE_PAGES ((size_t)4 << 20) /* for memory from so many bytes on */
#define SITE_LATER (CP_SITE_COUNT | CP_SITE_LATER)
#define SITE_FETCHES 256 /* of one site */
#define SITE_COUNTS (CP_SITE_COUNT | CP_SITE_BRANCH)
#define SITE_WATCHES (CP_SITE_SIGACTION | CP_SITE_SIGCALL)
#define SITE_JUMPS (CP_SITE_WINDOW | CP_SITE_HOP) /* a jump may stand there */
/* They never have a breakpoint of the tracer's. */
#define SITE_PASSIVE (CP_SITE_LANDING | CP_SITE_HOP | CP_SITE_RING | CP_SITE_FOREIGN)
#define SITE_DETOURS (CP_SITE_WINDOW | SITE_PASSIVE)
#define SITE_SILENT (SITE_COUNTS | SITE_WATCHES | SITE_DETOURS) /* no events */

struct site {
	uint64_t address;
	uint64_t slot; /* its address */
	uint32_t id; /* the controller's */
	uint32_t group; /* index in space->groups */
	uint32_t first_fetch, fetch_count; /* in space->fetches */
	uint32_t room; /* most bytes that its fetches take in an event */
	uint32_t next; /* another one at the same address, or SITE_NONE */
	uint32_t batch; /* that it came with */
	/* Of SITE_JUMPS: index in the table's windows. Of those that count: the next branch that
	 * waits for the block (hits/unreached.c), or SITE_NONE. */
	uint32_t window;
	uint32_t flags; /* CP_SITE_* */
	uint32_t ways[2]; /* of LATER */
	bool first; /* at its address: the one that is found by it */
	uint8_t original[CP_TRAP_MAX];
	struct cp_step step;
};

struct site_group {
	struct cp_site_group g;
	double second_ns; /* by the space's clock, when the second began in which `entries` are
			     counted */
	uint32_t entries;
};

struct area {
	uint64_t address, size;
	uint64_t slot_count;
	uint64_t *owners; /* of each slot: the address of its site, 0 none; owned */
	uint32_t *records; /* of each: number of the site that had it last; owned */
	bool twin; /* the table in use is the second one */
};

/* Shared by processes that were forked (table.c). */
struct site_table {
	unsigned users; /* spaces */
	CP_VEC(struct area) areas;
	CP_VEC(struct site) sites;
	CP_VEC(struct cp_fetch) fetches;
	CP_VEC(struct cp_window) windows;
	struct site_place *index; /* by hash of the address: the first site there */
	size_t index_size, indexed;
	uint32_t free; /* sites that are gone, chained; or SITE_NONE */
};

struct space;

struct site_table *table_create(void);
void table_release(struct site_table *table);
/* Before anything of the table is changed: makes it the space's own. */
bool table_own(struct space *space);
bool table_share(struct space *to, const struct space *from);
/* The first site at an address, or SITE_NONE. */
uint32_t table_find(const struct site_table *table, uint64_t address);
/* The address will be looked for soon. */
void table_expect(const struct site_table *table, uint64_t address);
/* Room for more sites; then table_add() can't fail: an unarmed one behind
 * `last` of its address, or, with SITE_NONE, the first one there. All but address,
 * flags and fetches (none) is to be filled in. */
bool table_reserve(struct space *space, size_t more);
uint32_t table_add(struct space *space, uint64_t address, uint32_t last);
void table_remove(struct space *space, uint32_t number);

#endif
