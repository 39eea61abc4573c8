/* SPDX-License-Identifier: MIT
 *
 * The controller's part in the tests of detours by the tracer: it plans, sends what the
 * tracer puts into the program, and reads the records.
 */
#ifndef DETOUR_PILOT_H
#define DETOUR_PILOT_H

#include "detour/space.h"
#include "detour_board.h"
#include "detour_file.h"
#include "link/code.h"
#include "link/records.h"
#include "link/sites.h"

#define PILOT_RINGS 300
#define PILOT_LOG 17
#define PILOT_DEPTH 256

struct pilot_reader {
	struct cp_records records;
	int32_t tid; /* 0: nobody's */
	struct pilot_open {
		uint64_t sp;
		uint32_t function;
	} open[PILOT_DEPTH];
	size_t depth;
	/* Before the last record, which may be cancelled. */
	struct {
		size_t depth;
		struct pilot_open top;
	} before;
	uint64_t last_entered, last_left; /* by it */
};

struct pilot_site {
	uint32_t function;
	bool enters, leaves;
};

struct pilot {
	struct detour_board *board;
	int board_fd;
	pid_t program, tracer;
	struct cp_link link;
	const char *path;
	struct detour_file file;
	uint8_t *text; /* as it was */
	struct cp_detour_space *space;
	struct cp_detour_rings rings;
	uint8_t *memory; /* of all rings */
	uint64_t area, area_size;
	CP_VEC(struct pilot_site) sites;
	CP_VEC(struct pilot_window *) windows; /* owned */
	struct pilot_reader *readers; /* owned */
	uint64_t entered, left, unwound, cancelled, wrong, lost, threads, hits;
	unsigned refused; /* functions that had no place */
	uint64_t events[CP_EVENT_LEFT + 1];
	bool lossless;
	uint64_t soon; /* ticks that threads wait for us, or ask */
	bool gone; /* LEFT was read */
};

/* Starts the program; returns when it waits at its first stage. */
void pilot_start(struct pilot *p, const char *program, const char *mode, int threads,
		 uint64_t limit);
/* Starts a tracer that attaches. */
void pilot_trace(struct pilot *p, uint32_t flags);
int pilot_request(struct pilot *p, struct cp_request rq, struct cp_answer *answer, int *fd_ret);
/* Plans, and sends rings, code and sites, each of which may fail: errno. */
void pilot_plan(struct pilot *p);
int pilot_rings(struct pilot *p);
int pilot_code(struct pilot *p);
int pilot_map(struct pilot *p);
int pilot_arm(struct pilot *p);
int pilot_disarm(struct pilot *p);
/* All of it. */
int pilot_detour(struct pilot *p);
/* Reads what there is. */
void pilot_pump(struct pilot *p);
void pilot_until(struct pilot *p, uint32_t stage);
/* Lets go; false when the tracer did not end well. */
bool pilot_leave(struct pilot *p);
bool pilot_text_is_clean(struct pilot *p);
/* How many windows are jumps. */
size_t pilot_jumps(struct pilot *p);
int pilot_end(struct pilot *p);
/* What it knows of the tracer is forgotten, for another one. */
void pilot_forget(struct pilot *p);

#endif
