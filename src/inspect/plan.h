/* SPDX-License-Identifier: MIT
 *
 * What a stop has to read: see plan.c.
 */
#ifndef CP_INSPECT_PLAN_H
#define CP_INSPECT_PLAN_H

#include "inspect/signature.h"

#define CP_PLAN_SHARED 32

/* A plan in the making. */
struct cp_plan {
	const struct cp_signature *signature;
	struct cp_image *image;
	struct cp_fetches *to;
	unsigned steps; /* left */
	size_t most; /* fetches */
	uint64_t most_bytes;
	bool failed;
	/* Virtual bases of the object that is planned, each of which is read once. */
	const struct cp_type *shared[CP_PLAN_SHARED];
	unsigned shared_first, shared_count;
	bool is_base; /* what comes next: it is of the same object */
};

/* Bytes that are being read, and where their parts are: in registers, or in
 * the block of a fetch. */
struct cp_plan_source {
	const struct cp_place *place; /* registers; NULL: block */
	uint16_t block; /* index of the fetch */
	uint16_t level; /* of fetches that start here */
	uint32_t size; /* that are read */
};

/* What elements of one container lead to takes half of the room that there is, lest nothing
 * be left for what comes behind it. */
struct cp_plan_room {
	size_t most;
	uint64_t most_bytes;
};
struct cp_plan_room cp_plan_share(struct cp_plan *p);
void cp_plan_share_end(struct cp_plan *p, struct cp_plan_room before);

/* The number of the new fetch; -1: there is no room. */
int cp_plan_add(struct cp_plan *p, struct cp_fetch f);
/* The fetch that starts at the pointer `at` bytes into the source; false: it
 * is not where a fetch could take it from. */
bool cp_plan_pointer(const struct cp_plan_source *s, uint64_t at, struct cp_fetch *ret);
/* Plans what a value of `type`, `at` bytes into the source, leads to. */
void cp_plan_type(struct cp_plan *p, const struct cp_type *type, const struct cp_plan_source *s,
		  uint64_t at, unsigned depth, unsigned hops);

/* Adds to `to` what `parameter` needs, and sets the CP_SITE_* flags. Reads
 * details of types. False without memory. */
bool cp_plan_parameter(const struct cp_signature *signature, struct cp_image *image,
		       const struct cp_parameter *parameter, struct cp_fetches *to,
		       unsigned *flags);
/* Adds one fetch; its number, or -1 where there is no room. */
int cp_plan_fetch(const struct cp_signature *signature, struct cp_fetches *to, struct cp_fetch f);
/* Adds a chain of fetches, each of which begins at the pointer that the one before reads,
 * unless it is there; false: there is no room for all of it, or no memory. */
bool cp_plan_chain(struct cp_fetches *to, const struct cp_fetch *chain, size_t count);
/* Orders the fetches by level. */
bool cp_plan_finish(struct cp_fetches *fetches);
/* The number of the fetch that such a chain ends with; -1: it is not there. */
int cp_plan_find(const struct cp_fetch *fetches, size_t fetch_count, const struct cp_fetch *chain,
		 size_t count);

#endif
