/* SPDX-License-Identifier: MIT
 *
 * Which units of a file may have a DIE of a name: see mention.c.
 */
#ifndef CP_IMAGE_DWARF_MENTION_H
#define CP_IMAGE_DWARF_MENTION_H

#include "image/dwarf/debuginfo.h"

struct cp_mentions {
	bool all; /* any may */
	uint64_t *units; /* bits, by the numbers of dwarf->units; owned */
};

enum cp_mention_of {
	CP_MENTION_OF_ALL, /* but units */
	CP_MENTION_OF_VARIABLES, /* static members among them */
	CP_MENTION_OF_FUNCTIONS,
};
/* Names of DIEs are meant, without what they are in. Frees what was there before. */
void cp_dwarf_mentions(struct cp_dwarf *dwarf, const char *name, enum cp_mention_of of,
		       struct cp_mentions *to);
/* Leaves of these those that may have a function of a name, too. */
void cp_dwarf_mentions_function(struct cp_dwarf *dwarf, const char *name, struct cp_mentions *to);
void cp_mentions_free(struct cp_mentions *mentions);

static inline bool cp_is_mentioned(const struct cp_mentions *m, size_t unit)
{
	return m->all || (m->units[unit / 64] >> (unit % 64) & 1);
}

#endif
