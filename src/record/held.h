/* SPDX-License-Identifier: MIT
 *
 * Events in the order in which they came, of which some are held until it is known whether
 * they are wanted; then those go on, and what came behind them.
 *
 *     written   held: is it wanted?   behind it
 *     a b c     [enter of f  ?]       d  [enter of g  ?]  e
 *
 * One that is patient makes others wait for a while only: then it stands aside, and if it is
 * wanted it goes on when that is known, late.
 */
#ifndef CP_RECORD_HELD_H
#define CP_RECORD_HELD_H

#include "base/map.h"
#include "base/vec.h"
#include "record/calls.h"

struct cp_held; /* held.c */

/* Begins as zeros. */
struct cp_held_queue {
	CP_VEC(struct cp_held *) items;
	size_t head; /* of the items, the first that is there */
	uint64_t first; /* the number of items[0] */
	struct cp_map late; /* number -> struct cp_held *: those that stand aside */
};

/* Goes on at once, where nothing is held, or behind what is. Without memory it goes on now. */
void cp_held_add(struct cp_held_queue *q, struct cp_record_writer *w,
		 const struct cp_record_call *call);
/* Holds it; answers its number, from 1 on; 0 without memory: it went on. */
uint64_t cp_held_hold(struct cp_held_queue *q, struct cp_record_writer *w,
		      const struct cp_record_call *call, bool patient);
/* From now on it is not. Those that stand aside stay there. */
void cp_held_hurry(struct cp_held_queue *q, uint64_t number);
/* Does it stand aside? */
bool cp_held_is_late(const struct cp_held_queue *q, uint64_t number);
/* Is one of that number still there, undecided? */
bool cp_held_is_open(const struct cp_held_queue *q, uint64_t number);
/* That one is wanted, or not; all that waits for nothing else goes on. */
void cp_held_decide(struct cp_held_queue *q, struct cp_record_writer *w, uint64_t number,
		    bool wanted);
/* Those that are held since before `since_ns` are wanted, whatever becomes of them, or stand
 * aside. */
void cp_held_let_go(struct cp_held_queue *q, struct cp_record_writer *w, uint64_t since_ns);
size_t cp_held_count(const struct cp_held_queue *q);
void cp_held_deinit(struct cp_held_queue *q);

#endif
