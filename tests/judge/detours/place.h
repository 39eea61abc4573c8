/* SPDX-License-Identifier: MIT
 *
 * Detours for all functions of a stopped process's images.
 */
#ifndef JUDGE_PLACE_H
#define JUDGE_PLACE_H

#include "arch/detour.h"
#include "pair.h"

struct place; /* one detour */

struct places;
/* `only`: a glob for names of files; NULL: all. */
struct places *places_create(struct half *h, const char *only);
void places_destroy(struct places *all);
/* Functions that were looked at, those that have detours, and their windows. */
void places_counts(const struct places *all, size_t counts[3]);

/* A thread with these registers is, in the program, at other ones. False: where it is
 * can't be told. *ret: the detour that it is in, or NULL. */
bool places_leave(const struct places *all, struct half *h, struct user_regs_struct *regs,
		  const struct place **ret);
/* The next record. False: none, and there is room again. */
bool places_record(struct places *all, uint64_t *pc_ret, uint64_t *sp_ret);
/* For people. */
void places_show(const struct places *all, const struct half *h, const struct place *place);
void places_show_address(const struct places *all, uint64_t address);

/* Where the program's function of that name is, or where main() is for NULL; 0: there
 * is none. */
uint64_t places_find(const struct half *h, const char *name);

#endif
