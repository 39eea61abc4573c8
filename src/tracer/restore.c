/* SPDX-License-Identifier: MIT
 *
 * What a killed tracer left: found by the areas' magic, one mapping each.
 * The program may have written anything there, so each number is checked.
 */
#include "tracer/restore.h"

#include <cprof/trace_format.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/detour_ring.h"
#include "arch/insn.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "link/code.h"
#include "link/sites.h"

#define AT_ONCE 256

bool cp_sigcall_jumps(const uint8_t *jump, const uint8_t *now)
{
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	return !memcmp(now + size, jump + size, CP_SIGCALL_JUMP - size) &&
	       (!memcmp(now, jump, size) || !memcmp(now, trap, size));
}

/* The instruction at such a site loads a small number: its last byte is 0. */
bool cp_sigcall_unjump(int mem, uint64_t site, const uint8_t *jump, const uint8_t *now,
		       const uint8_t *original, bool still)
{
	size_t size, rest;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	uint8_t whole[CP_SIGCALL_JUMP] = { 0 };

	if (!cp_sigcall_jumps(jump, now))
		return false;
	memcpy(whole, original, CP_TRAP_MAX);
	if (still)
		return pwrite(mem, whole, sizeof(whole), (off_t)site) == sizeof(whole);
	rest = CP_SIGCALL_JUMP - size;
	return pwrite(mem, trap, size, (off_t)site) == (ssize_t)size &&
	       pwrite(mem, whole + size, rest, (off_t)(site + size)) == (ssize_t)rest;
}

static uint64_t slot_of(uint64_t slots, const struct cp_area_entry *e)
{
	return slots + UINT64_C(1) * (e->slot & CP_AREA_SLOT) * CP_SLOT_SIZE;
}

/* The bytes of both instructions; false: there is no jump there. */
static bool codes(int mem, uint64_t slots, const struct cp_area_entry *e, uint8_t *jump,
		  uint8_t *now)
{
	return e->slot & CP_AREA_JUMP && cp_sigcall_jump(e->site, slot_of(slots, e), jump) &&
	       pread(mem, now, CP_SIGCALL_JUMP, (off_t)e->site) == CP_SIGCALL_JUMP &&
	       cp_sigcall_jumps(jump, now);
}

static size_t restore_entries(int mem, uint64_t slots, const struct cp_area_entry *entries,
			      size_t count, bool jumps, bool still)
{
	const uint8_t *trap;
	uint8_t jump[CP_SIGCALL_JUMP], now[CP_SIGCALL_JUMP];
	size_t size, i, done = 0;

	trap = cp_trap_code(cp_arch_host(), &size);
	for (i = 0; i < count; i++) {
		off_t at = (off_t)entries[i].site;

		if (entries[i].slot & (CP_AREA_WINDOW | CP_AREA_LANDING))
			continue;
		if (codes(mem, slots, &entries[i], jump, now) != jumps)
			continue;
		if (jumps &&
		    cp_sigcall_unjump(mem, entries[i].site, jump, now, entries[i].original, still))
			done += still;
		if (pread(mem, now, size, at) == (ssize_t)size && !memcmp(now, trap, size) &&
		    pwrite(mem, entries[i].original, size, at) == (ssize_t)size)
			done++;
	}
	return done;
}

/* A thread that was on a detour (hits/calibrate.c) passes it: a trap there would be
 * its end, once the handler that waits for it is not ours any more. */
static void end_detours(int mem, uint64_t slots, const struct cp_area_entry *entries, size_t count)
{
	uint8_t code[CP_SLOT_SIZE];
	const uint8_t *nop;
	unsigned offset;
	size_t size, i;

	nop = cp_nop_code(cp_arch_host(), &size);
	for (i = 0; i < count; i++) {
		off_t slot = (off_t)slot_of(slots, &entries[i]);

		if (pread(mem, code, sizeof(code), slot) != sizeof(code))
			continue;
		offset = cp_slot_detour(cp_arch_host(), code);
		if (offset && pwrite(mem, nop, size, slot + offset) != (ssize_t)size)
			continue; /* nobody can be there */
	}
}

/* Does something with the area at `start`, in a mapping that ends at `end`. */
typedef void (*visit_fn)(void *ctx, uint64_t start, uint64_t end);

/* A line of /proc/PID/maps: private, read and execute, no file. */
static bool is_code_of_no_file(const char *line, unsigned long *start, unsigned long *end)
{
	unsigned long offset, inode;
	char perms[5], device[16];

	return sscanf(line, "%lx-%lx %4s %lx %15s %lu", start, end, perms, &offset, device,
		      &inode) == 6 &&
	       !strcmp(perms, "r-xp") && !inode && !strchr(line, '[');
}

typedef void (*line_fn)(void *ctx, const char *line);

static void visit_maps(pid_t pid, line_fn visit, void *ctx)
{
	char path[64], line[512];
	bool whole = true;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (whole)
			visit(ctx, line);
		whole = strchr(line, '\n') != NULL; /* a long name goes on */
	}
}

struct visit_area {
	int mem;
	visit_fn visit;
	void *ctx;
};

/* The kernel joins areas that lie side by side, so each page is looked at. */
static void visit_mapping(void *ctx, const char *line)
{
	const struct visit_area *v = ctx;
	unsigned long start, end, at;
	uint64_t magic;

	if (!is_code_of_no_file(line, &start, &end))
		return;
	for (at = start; at < end; at += 4096) {
		if (pread(v->mem, &magic, sizeof(magic), (off_t)at) != sizeof(magic))
			break;
		if (magic == CP_AREA_MAGIC)
			v->visit(v->ctx, at, end);
	}
}

static void visit_areas(pid_t pid, int mem, visit_fn visit, void *ctx)
{
	struct visit_area v = { mem, visit, ctx };

	visit_maps(pid, visit_mapping, &v);
}

/* Does something with `count` entries of the table of an area. */
struct visit_entries {
	int mem;
	uint64_t over_ns; /* only of areas that were taken out then; 0: which are there yet */
	void (*entries)(void *ctx, uint64_t slots, const struct cp_area_entry *entries,
			size_t count);
	void *ctx;
};

static void visit_table(void *ctx, uint64_t start, uint64_t end)
{
	const struct visit_entries *v = ctx;
	struct cp_area_entry entries[AT_ONCE];
	struct cp_area_header header;
	uint64_t at;
	size_t n;

	if (pread(v->mem, &header, sizeof(header), (off_t)start) != sizeof(header) ||
	    header.magic != CP_AREA_MAGIC || header.over_ns != v->over_ns || header.table < start ||
	    header.table > end || header.count > (end - header.table) / sizeof(entries[0]))
		return;
	for (at = 0; at < header.count; at += n) {
		n = header.count - at < AT_ONCE ? header.count - at : AT_ONCE;
		if (pread(v->mem, entries, n * sizeof(entries[0]),
			  (off_t)(header.table + at * sizeof(entries[0]))) !=
		    (ssize_t)(n * sizeof(entries[0])))
			break;
		v->entries(v->ctx, header.slots, entries, n);
	}
}

struct restoring {
	int mem;
	bool still;
	size_t done;
};

static void take_out_traps(void *ctx, uint64_t slots, const struct cp_area_entry *entries,
			   size_t count)
{
	struct restoring *r = ctx;

	r->done += restore_entries(r->mem, slots, entries, count, false, false);
	end_detours(r->mem, slots, entries, count);
}

static void take_out_jumps(void *ctx, uint64_t slots, const struct cp_area_entry *entries,
			   size_t count)
{
	struct restoring *r = ctx;

	r->done += restore_entries(r->mem, slots, entries, count, true, r->still);
}

/* ---- windows ---- */

/* Breakpoints in the place of jumps, so that nobody is in one any more; then what is
 * behind those, and hops' jumps, to which nobody comes any more; then they go. While threads run
 * there has to be a handler for them. A hop's jump is in the middle of what its host has moved
 * away, so it is never a breakpoint, and gone before that one's first byte is back: who wakes up
 * then would run into what is half of an instruction. */
enum step { STEP_TRAPS, STEP_REST, STEP_FIRST, STEPS };

struct unjumping {
	int mem;
	bool still;
	enum step step;
	size_t done;
};

static bool is_mixture(const struct cp_window *w, const uint8_t *now)
{
	size_t i;

	for (i = 1; i < w->size; i++)
		if (now[i] != w->jump[i] && now[i] != w->original[i])
			return false;
	return true;
}

static void restore_hop(struct unjumping *u, const struct cp_window *w, uint64_t site)
{
	uint8_t now[CP_DETOUR_FILLED];

	if (u->step == STEP_REST && pread(u->mem, now, w->size, (off_t)site) == w->size &&
	    !memcmp(now, w->jump, w->size))
		u->done += pwrite(u->mem, w->original, w->size, (off_t)site) == w->size;
}

static void restore_window(struct unjumping *u, const struct cp_window *w, uint64_t site)
{
	uint8_t now[CP_DETOUR_FILLED];
	size_t size, rest = w->size - 1u;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	off_t at = (off_t)site;

	if (pread(u->mem, now, w->size, at) != w->size)
		return;
	if (u->step == STEP_TRAPS && !memcmp(now, w->jump, w->size) &&
	    memcmp(w->jump, w->original, w->size) != 0)
		u->done += pwrite(u->mem, trap, 1, at) == 1;
	if (now[0] != trap[0] || w->original[0] == trap[0] || !is_mixture(w, now))
		return;
	if (u->step == STEP_REST && memcmp(now + 1, w->original + 1, rest) != 0)
		u->done += pwrite(u->mem, w->original + 1, rest, at + 1) == (ssize_t)rest;
	if (u->step == STEP_FIRST && !memcmp(now + 1, w->original + 1, rest))
		u->done += pwrite(u->mem, w->original, 1, at) == 1;
}

static void restore_windows(void *ctx, uint64_t slots, const struct cp_area_entry *entries,
			    size_t count)
{
	struct unjumping *u = ctx;
	struct cp_window w;
	size_t i;

	for (i = 0; i < count; i++) {
		off_t at = (off_t)(slot_of(slots, &entries[i]) + CP_SLOT_SIZE - sizeof(w));

		if (!(entries[i].slot & CP_AREA_WINDOW) ||
		    (entries[i].slot & CP_AREA_STILL && !u->still))
			continue;
		if (pread(u->mem, &w, sizeof(w), at) != sizeof(w) || !w.size ||
		    w.size > CP_DETOUR_FILLED)
			continue;
		if (entries[i].slot & CP_AREA_LANDING)
			restore_hop(u, &w, entries[i].site);
		else
			restore_window(u, &w, entries[i].site);
	}
}

/* How many bytes were put back, first ones. */
static size_t unjump(pid_t pid, int mem, bool traps, bool still)
{
	struct unjumping u = { .mem = mem, .still = still };
	struct visit_entries v = { mem, 0, restore_windows, &u };

	for (u.step = traps ? STEP_TRAPS : STEP_REST; u.step < STEPS; u.step++) {
		u.done = 0;
		visit_areas(pid, mem, visit_table, &v);
	}
	return u.done;
}

size_t cp_restore_windows(pid_t pid, int mem)
{
	return unjump(pid, mem, true, true);
}

/* ---- all of it ---- */

size_t cp_restore_traps(pid_t pid, int mem)
{
	struct restoring r = { .mem = mem };
	struct visit_entries v = { mem, 0, take_out_traps, &r };

	r.done = unjump(pid, mem, cp_restore_handler(pid, mem), false);
	visit_areas(pid, mem, visit_table, &v);
	return r.done;
}

size_t cp_restore_memory(pid_t pid, int mem, bool still)
{
	struct restoring r = { .mem = mem, .still = still };
	struct visit_entries v = { mem, 0, take_out_jumps, &r };

	r.done = cp_restore_traps(pid, mem);
	visit_areas(pid, mem, visit_table, &v);
	return r.done;
}

struct finding {
	int mem;
	uint64_t found;
};

/* When the last ones were taken out. */
static void visit_over(void *ctx, uint64_t start, uint64_t end)
{
	struct cp_area_header header;
	struct finding *f = ctx;

	(void)end;
	if (pread(f->mem, &header, sizeof(header), (off_t)start) == sizeof(header) &&
	    header.over_ns > f->found)
		f->found = header.over_ns;
}

struct looking {
	uint64_t site, slot;
	bool window;
};

static void look_at(void *ctx, uint64_t slots, const struct cp_area_entry *entries, size_t count)
{
	struct looking *l = ctx;
	size_t i;

	for (i = 0; i < count; i++)
		if (entries[i].site == l->site && (!l->window || entries[i].slot & CP_AREA_WINDOW))
			l->slot = slot_of(slots, &entries[i]);
}

uint64_t cp_restore_slot(pid_t pid, int mem, uint64_t site, bool window)
{
	struct looking l = { .site = site, .window = window };
	struct visit_entries v = { mem, 0, look_at, &l };
	struct finding last = { mem, 0 };

	visit_areas(pid, mem, visit_table, &v);
	if (l.slot || window)
		return l.slot;
	/* Who is on the way from a breakpoint may be so for long. */
	visit_areas(pid, mem, visit_over, &last);
	v.over_ns = last.found;
	if (last.found)
		visit_areas(pid, mem, visit_table, &v);
	return l.slot;
}

/* ---- the code of detours ---- */

struct piece { /* of memory that is executed and of no file */
	uint64_t start, end;
	bool ours;
};

static void look_for_stops(void *ctx, uint64_t slots, const struct cp_area_entry *entries,
			   size_t count)
{
	struct piece *p = ctx;
	size_t i;

	(void)slots;
	for (i = 0; i < count; i++)
		p->ours |= entries[i].slot & CP_AREA_LANDING &&
			   entries[i].site - p->start < p->end - p->start;
}

struct finding_piece {
	uint64_t pc;
	struct piece piece;
};

static void find_piece(void *ctx, const char *line)
{
	struct finding_piece *f = ctx;
	unsigned long start, end;

	if (is_code_of_no_file(line, &start, &end) && f->pc - start < end - start)
		f->piece = (struct piece){ .start = start, .end = end };
}

bool cp_restore_inside(pid_t pid, int mem, uint64_t pc)
{
	struct finding_piece f = { .pc = pc };
	struct visit_entries v = { mem, 0, look_for_stops, &f.piece };

	visit_maps(pid, find_piece, &f);
	if (f.piece.end)
		visit_areas(pid, mem, visit_table, &v);
	return f.piece.ours;
}

struct silencing {
	int mem;
	uint64_t size; /* of a ring: that of the mapping which comes first, of one */
};

static void silence_ring(int mem, uint64_t ring)
{
	const uint64_t nobody = 0;
	const off_t fields[] = { offsetof(struct cp_detour_ring, wait_until),
				 offsetof(struct cp_detour_ring, read_until) };
	uint64_t until;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(fields); i++)
		if (pread(mem, &until, sizeof(until), (off_t)ring + fields[i]) == sizeof(until) &&
		    until && pwrite(mem, &nobody, sizeof(nobody), (off_t)ring + fields[i]) < 0)
			cp_debug("a ring at %lx stays as it is", (unsigned long)ring);
}

static void silence_rings(void *ctx, const char *line)
{
	struct silencing *s = ctx;
	unsigned long start, end;

	if (!strstr(line, "/memfd:" CP_RINGS_NAME) || sscanf(line, "%lx-%lx", &start, &end) != 2)
		return;
	if (!s->size)
		s->size = end - start;
	for (; start < end; start += s->size)
		silence_ring(s->mem, start);
}

void cp_restore_rings(pid_t pid, int mem)
{
	struct silencing s = { mem, 0 };

	visit_maps(pid, silence_rings, &s);
}

struct ending {
	int mem;
	uint64_t now_ns;
};

static void end_area(void *ctx, uint64_t start, uint64_t end)
{
	off_t at = (off_t)(start + offsetof(struct cp_area_header, over_ns));
	const struct ending *e = ctx;
	uint64_t before;

	(void)end;
	if (pread(e->mem, &before, sizeof(before), at) == sizeof(before) && !before &&
	    pwrite(e->mem, &e->now_ns, sizeof(before), at) != sizeof(before))
		cp_debug("what was left at %lx seems to be there still", (unsigned long)start);
}

void cp_restore_end(pid_t pid, int mem)
{
	struct ending e = { mem, cp_now() };

	visit_areas(pid, mem, end_area, &e);
}

static void visit_header(void *ctx, uint64_t start, uint64_t end)
{
	struct cp_area_header header;
	struct finding *f = ctx;

	if (pread(f->mem, &header, sizeof(header), (off_t)start) == sizeof(header) &&
	    header.installed == 1 && header.handler > start && header.handler < end)
		f->found = start;
}

uint64_t cp_restore_handler(pid_t pid, int mem)
{
	struct finding f = { .mem = mem };

	visit_areas(pid, mem, visit_header, &f);
	return f.found;
}

void cp_restore_annotations(pid_t pid, uint64_t root)
{
	off_t at = (off_t)(root + offsetof(cprof_trace_root, enabled));
	uint64_t magic;
	char path[64];
	uint8_t bits;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	CP_CLOSE int mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0 || pread(mem, &magic, sizeof(magic), (off_t)root) != sizeof(magic) ||
	    magic != CPROF_TRACE_MAGIC || pread(mem, &bits, 1, at) != 1)
		return;
	bits &= (uint8_t)~CPROF_TRACE_ENABLED_BY_CONTROLLER;
	if (pwrite(mem, &bits, 1, at) != 1)
		return; /* it is gone */
}

struct cp_error *cp_restore_text(pid_t pid, size_t *restored_ret)
{
	size_t done;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	CP_CLOSE int mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return cp_error_new(errno == ENOENT ? CP_ERR_GONE : CP_ERR_PERMISSION, errno,
				    "open the memory of process %d to remove breakpoints",
				    (int)pid);
	done = cp_restore_handler(pid, mem) ? cp_restore_traps(pid, mem)
					    : cp_restore_memory(pid, mem, false);
	if (restored_ret)
		*restored_ret = done;
	return NULL;
}
