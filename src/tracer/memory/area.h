/* SPDX-License-Identifier: MIT
 *
 * Areas of slots, and their tables.
 */
#ifndef CP_TRACER_AREA_H
#define CP_TRACER_AREA_H

#include <stdbool.h>
#include <stdint.h>

struct area;
struct space;

/* Memory that was mapped is an area from now on. `blank`: just now, so there is nothing in it.
 * False: without memory, or it can't be written to. */
bool area_keep(struct space *space, uint64_t address, uint64_t size, bool blank);
/* Registers the slots of new sites. False: taken by another address. */
bool area_claim(struct area *area, uint64_t slot, uint64_t address);
/* Writes the table anew; sites are those of the space. */
bool area_write_table(struct space *space, struct area *area);
/* Nobody is in its slots, and they are for any sites. False: it could not be written to. */
bool area_empty(struct space *space, struct area *area);
/* Empties the tables: the areas of a space mean nothing any more; unless its handler is left,
 * which finds the way of who comes to what is left. */
void area_forget(const struct space *space);

#endif
