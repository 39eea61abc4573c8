/* SPDX-License-Identifier: MIT
 *
 * Ground for detours in a test's own process: memory for their code near its own, a
 * ring for each thread, and windows that are patched and put back.
 */
#ifndef CP_TEST_DETOUR_GROUND_H
#define CP_TEST_DETOUR_GROUND_H

#include "arch/detour.h"
#include "link/records.h"

#include <signal.h>

#define GROUND_LOG 18 /* of the rings */
#define GROUND_MADE 512

struct ground {
	struct cp_detour_rings rings;
	uint8_t *code; /* where detours are made */
	size_t size, room;
	struct {
		struct cp_detour detour;
		uint64_t at;
		size_t size;
	} made[GROUND_MADE];
	size_t count;
};
extern struct ground ground;

/* A state that detour_run() gives a form and takes back. */
struct state {
	uint64_t r[16], flags;
	uint8_t x[16][16];
};
void detour_run(struct state *state, const void *form);

struct form {
	uint8_t *start, *window, *over, *record;
	uint64_t taken;
	const char *name;
};
extern const struct form detour_forms[], detour_forms_end[];
uint64_t detour_called(uint64_t a, uint64_t b), detour_plain(uint64_t a, uint64_t b);
extern uint8_t detour_called_exit[], detour_called_end[];

void ground_prepare(void);
/* The ring of the calling thread; `which` from 1. */
void *ground_ring(unsigned which);
void ground_use_ring(unsigned which);
/* The number of the detour that was made. -1: it can't be. */
int ground_make(const struct cp_detour *detour);
struct cp_detour ground_window(const void *start, const void *end);
struct cp_detour_record ground_record(uint32_t site, size_t before);
/* The jump is written over the window, or what it replaced again. */
void ground_patch(int number);
void ground_unpatch(int number);

/* ---- in a signal's handler ---- */

void ground_regs(const ucontext_t *context, struct cp_regs *ret);
void ground_set_regs(ucontext_t *context, const struct cp_regs *regs, uint64_t flags);
extern const struct cp_reader ground_memory;
bool ground_is_inside(uint64_t pc);
/* A thread in the code of a detour: what it would be in the program. The detour's
 * number; -1: the pc is not inside, or it can't be told. */
int ground_leave(struct cp_regs *regs, uint64_t *flags, struct cp_detour_left left_ret[2]);
/* The same, with what is then to be written to its ring, and a pc at which it may
 * go on. */
bool ground_take_out(ucontext_t *context, struct cp_detour_ring *ring);

#endif
