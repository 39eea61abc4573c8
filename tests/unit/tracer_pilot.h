/* SPDX-License-Identifier: MIT
 *
 * The controller's part in the tests of breakpoints: a program, a tracer, and
 * plans made by hand.
 */
#ifndef TRACER_PILOT_H
#define TRACER_PILOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "link/sites.h"
#include "tracer_board.h"

#define PILOT_SITES 64

/* Ids of sites: function * 16 + flags' kind. */
struct pilot_site {
	uint32_t id;
	uint64_t address;
	uint64_t hits;
};

struct pilot {
	struct board *board;
	int board_fd;
	pid_t program, tracer;
	struct cp_link link;
	uint64_t area, area_size;
	uint32_t slots; /* used */
	struct pilot_site sites[PILOT_SITES];
	unsigned site_count;
	uint8_t *text; /* as it was before */
	uint64_t events[CP_EVENT_LEFT + 1]; /* seen, by type */
	uint64_t bad; /* events that made no sense */
	bool left;
	/* called for each hit, NULL: none */
	void (*on_hit)(struct pilot *p, const struct cp_event_hit *hit);
	void *ctx;
};

/* Starts the program in a mode; returns when it waits at the first stage. */
void pilot_start(struct pilot *p, const char *program, const char *mode, int threads,
		 uint64_t limit);
void pilot_trace(struct pilot *p, uint32_t flags);
/* Errno of the request, 0 fine. */
int pilot_map(struct pilot *p, uint64_t slots);
/* Arms entry and exits of a function in one batch; `flags` are added to the
 * entry, `fetches` are the entry's. Returns the errno. */
struct pilot_want {
	enum board_function function;
	uint16_t flags;
	const struct cp_fetch *fetches;
	unsigned fetch_count;
	uint32_t max_rate;
};
int pilot_arm(struct pilot *p, const struct pilot_want *wants, unsigned count);
int pilot_arm_all(struct pilot *p);
/* A RETURN site for a function, at an address it returns to. */
int pilot_arm_return(struct pilot *p, enum board_function function, uint64_t at);
/* Entry and exit of all of the small functions, with ids 2n and 2n + 1. */
int pilot_arm_bulk(struct pilot *p);
/* Of `count` of them, with CP_ARM_* as flags. */
int pilot_arm_piece(struct pilot *p, uint32_t first, uint32_t count, uint32_t flags);
int pilot_request(struct pilot *p, struct cp_request rq, struct cp_answer *answer);
/* Reads what is in the ring. */
void pilot_drain(struct pilot *p);
/* Reads until the board says that the program is at that stage. */
void pilot_until(struct pilot *p, uint32_t stage);
void pilot_go(struct pilot *p, uint32_t stage);
uint64_t pilot_hits(const struct pilot *p, enum board_function function, uint16_t kind);
/* Lets go; false when the tracer did not end well. */
bool pilot_leave(struct pilot *p);
bool pilot_text_is_clean(struct pilot *p);
/* Has the program so many threads, each in a stop that nobody has served? */
bool pilot_is_stopped(const struct pilot *p, unsigned threads);
/* Has the program a handler for SIGTRAP? */
bool pilot_catches_trap(const struct pilot *p);
/* Waits until nobody traces the program: who was killed may be dying still. */
void pilot_await_untraced(const struct pilot *p);
/* Lets the program end: its status. */
int pilot_end(struct pilot *p);

#endif
