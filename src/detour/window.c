/* SPDX-License-Identifier: MIT */
#include "detour/window.h"

#include <string.h>

#define INSN_MAX 15
#define PADDING 0xcc
#define REACH 130 /* of a hop, and a little more */

bool cp_window_is_free(const struct cp_detour_text *t, uint64_t at, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (cp_detour_bit(t, &t->taken, at + i) || cp_detour_bit(t, &t->lent, at + i))
			return false;
	}
	return true;
}

static bool decode(const struct cp_detour_text *t, uint64_t at, struct cp_insn *ret)
{
	uint8_t code[INSN_MAX];
	size_t size = t->memory->read(t->memory->ctx, at, code, sizeof(code));

	return cp_decode(t->decoder, code, size, at, ret);
}

static bool goes_on(const struct cp_insn *insn)
{
	return insn->flow == CP_FLOW_ON || insn->flow == CP_FLOW_BRANCH;
}

static bool calls(const struct cp_insn *insn)
{
	return insn->flow == CP_FLOW_CALL || insn->flow == CP_FLOW_CALL_INDIRECT;
}

/* Bytes from `at`, which nothing comes to by going on, up to `most`, that are nothing:
 * nops and breakpoints, or between functions. */
static size_t padding(const struct cp_detour_text *t, uint64_t at, size_t most)
{
	struct cp_insn insn;
	size_t size = 0, i;
	uint8_t byte;

	while (size < most && at + size < t->end) {
		if (t->memory->read(t->memory->ctx, at + size, &byte, 1) != 1)
			return size;
		if (byte == PADDING)
			insn.size = 1;
		else if (!decode(t, at + size, &insn) || !insn.nop)
			return size;
		for (i = 0; i < insn.size; i++) {
			if (cp_detour_bit(t, &t->leads, at + size + i))
				return size;
		}
		size += insn.size;
	}
	return size < most ? size : most;
}

/* ---- instructions ---- */

/* A jump around a prefix leads to the middle of an instruction: `je 1f; lock; 1: cmpxchg`. */
static bool leads_within(const struct cp_detour_text *t, uint64_t at, size_t size)
{
	size_t i;

	for (i = 1; i < size; i++) {
		if (cp_detour_bit(t, &t->leads, at + i))
			return true;
	}
	return false;
}

/* Adds the next instruction. */
static enum cp_window_end add(const struct cp_detour_text *t, struct cp_detour_window *w,
			      struct cp_insn *ret)
{
	uint64_t at = w->address + w->size;

	if (w->size && cp_detour_bit(t, &t->leads, at))
		return CP_WINDOW_LEADS;
	if (!cp_detour_bit(t, &t->starts, at) || !decode(t, at, ret) ||
	    w->size + ret->size > CP_DETOUR_WINDOW)
		return CP_WINDOW_FIXED;
	if (leads_within(t, at, ret->size))
		return CP_WINDOW_LEADS;
	if (!cp_window_is_free(t, at, ret->size))
		return CP_WINDOW_TAKEN;
	if (w->size)
		w->begins |= 1u << w->size;
	w->size = (uint8_t)(w->size + ret->size);
	return CP_WINDOW_OK;
}

/* All of its instructions are there: can they be moved, is there room? */
static enum cp_window_end finish(const struct cp_detour_text *t, struct cp_detour_window *w,
				 const struct cp_insn *last, size_t want)
{
	uint64_t end = w->address + w->size;
	size_t behind = 0;

	if (t->memory->read(t->memory->ctx, w->address, w->code, w->size) != w->size ||
	    !cp_detour_movable(t->arch, w->code, w->size, w->address))
		return CP_WINDOW_FIXED;
	if (!goes_on(last) && !calls(last))
		behind = padding(t, end, CP_DETOUR_JUMP + CP_DETOUR_PREFIXES);
	while (behind && !cp_window_is_free(t, end, behind))
		behind--;
	w->room = (uint8_t)(w->size + behind);
	return w->room >= want ? CP_WINDOW_OK : CP_WINDOW_SHORT;
}

enum cp_window_end cp_window_forward(const struct cp_detour_text *text, uint64_t address,
				     size_t want, struct cp_detour_window *ret)
{
	struct cp_detour_window w = { .address = address };
	enum cp_window_end end;
	struct cp_insn insn;

	do {
		end = add(text, &w, &insn);
		if (end != CP_WINDOW_OK)
			return end;
	} while (w.size < want && goes_on(&insn));
	end = finish(text, &w, &insn, want);
	if (end == CP_WINDOW_OK)
		*ret = w;
	return end;
}

enum cp_window_end cp_window_over(const struct cp_detour_text *text, uint64_t address,
				  uint64_t last, size_t want, struct cp_detour_window *ret)
{
	struct cp_detour_window w = { .address = address };
	struct cp_insn insn = { .flow = CP_FLOW_ON };
	enum cp_window_end end;

	while (w.address + w.size <= last) {
		/* What follows in the window would not be reached. */
		if (!goes_on(&insn))
			return CP_WINDOW_FIXED;
		end = add(text, &w, &insn);
		if (end != CP_WINDOW_OK)
			return end;
	}
	/* Something overlaps. */
	if (w.address + w.size - insn.size != last)
		return CP_WINDOW_FIXED;
	end = finish(text, &w, &insn, want);
	if (end == CP_WINDOW_OK)
		*ret = w;
	return end;
}

/* Where the instruction before the one at `at` begins; 0: none is known. */
static uint64_t before(const struct cp_detour_text *t, uint64_t at)
{
	struct cp_insn insn;
	uint64_t p;

	for (p = at - 1; at - p <= INSN_MAX && p >= t->start; p--) {
		if (cp_detour_bit(t, &t->starts, p))
			return decode(t, p, &insn) && p + insn.size == at ? p : 0;
	}
	return 0;
}

enum cp_window_end cp_window_backward(const struct cp_detour_text *text, uint64_t last, size_t want,
				      struct cp_detour_window *ret)
{
	enum cp_window_end end;
	uint64_t address = last;

	for (;;) {
		end = cp_window_over(text, address, last, want, ret);
		if (end != CP_WINDOW_SHORT)
			return end;
		if (cp_detour_bit(text, &text->leads, address))
			return CP_WINDOW_LEADS;
		address = before(text, address);
		if (!address)
			return CP_WINDOW_SHORT;
	}
}

/* ---- hops ---- */

/* Nothing comes to the byte at `at` by going on. */
static bool is_dead(const struct cp_detour_text *t, uint64_t at)
{
	struct cp_insn insn;
	uint64_t p;

	if (cp_detour_bit(t, &t->starts, at) || !cp_detour_bit(t, &t->code, at)) {
		p = before(t, at);
		return p && decode(t, p, &insn) && !goes_on(&insn) && !calls(&insn) &&
		       insn.flow != CP_FLOW_SYSCALL;
	}
	return false;
}

static bool hop_to(const struct cp_detour_text *t, struct cp_detour_window *w, uint64_t at)
{
	uint8_t code[CP_DETOUR_HOP];

	/* Not on top of the hop. */
	if (at < w->address + CP_DETOUR_HOP && at + CP_DETOUR_JUMP > w->address)
		return false;
	if (!cp_window_is_free(t, at, CP_DETOUR_JUMP) ||
	    !cp_detour_hop(w->begins, w->address, at, code))
		return false;
	w->hop = at;
	return true;
}

bool cp_window_find_hop(const struct cp_detour_text *text, struct cp_detour_window *window)
{
	uint64_t low = window->address < REACH ? 0 : window->address - REACH, at;
	size_t size, i;

	for (at = low; at < window->address + REACH; at++) {
		if (!is_dead(text, at))
			continue;
		size = padding(text, at, REACH);
		for (i = 0; i + CP_DETOUR_JUMP <= size; i++) {
			if (hop_to(text, window, at + i))
				return true;
		}
	}
	return false;
}

/* Where in the host the jump may be: behind the host's own, at the beginning of no
 * instruction. */
static bool find_room(struct cp_detour_window *host, struct cp_detour_window *window)
{
	uint8_t code[CP_DETOUR_HOP];
	uint64_t at;
	unsigned i;

	for (i = CP_DETOUR_JUMP; i + CP_DETOUR_JUMP <= host->size && i <= CP_DETOUR_FILLED; i++) {
		at = host->address + i;
		if (host->begins >> i & 1 ||
		    !cp_detour_hop(window->begins, window->address, at, code))
			continue;
		window->hop = at;
		window->hop_begins = host->begins >> i & 0x1e;
		host->room = (uint8_t)i;
		host->is_host = true;
		return true;
	}
	return false;
}

uint64_t cp_window_entry_end(const struct cp_detour_text *text, uint64_t entry)
{
	uint64_t at = entry, least = entry + CP_DETOUR_JUMP;
	struct cp_insn insn;

	while (at < least && decode(text, at, &insn)) {
		if (insn.landing_pad && at == entry)
			least += insn.size;
		at += insn.size;
	}
	return at > least ? at : least;
}

bool cp_window_host(const struct cp_detour_text *text, uint64_t address, size_t want,
		    struct cp_detour_window *window, struct cp_detour_window *host_ret)
{
	struct cp_detour_window host;
	struct cp_insn insn;
	uint64_t end;

	if (!cp_detour_bit(text, &text->starts, address) ||
	    cp_detour_bit(text, &text->leads, address) ||
	    cp_window_forward(text, address, want, &host) != CP_WINDOW_OK)
		return false;
	/* What leaves the function, or is right before it, is for its own window. */
	end = address + host.size;
	if (host.room != host.size || !decode(text, end, &insn) ||
	    (!goes_on(&insn) && !calls(&insn)) ||
	    (address < window->address + window->size && end > window->address) ||
	    !find_room(&host, window))
		return false;
	*host_ret = host;
	return true;
}

/* ---- puns ---- */

bool cp_window_pun(const struct cp_detour_text *text, uint64_t address, size_t known,
		   struct cp_detour_window *ret)
{
	struct cp_detour_window w = { .address = address, .how = CP_DETOUR_BY_PUN };
	uint8_t code[CP_DETOUR_JUMP];
	struct cp_insn insn;
	int32_t displacement;

	/* All that it says stays where it is, or is another window: no data. */
	if (add(text, &w, &insn) != CP_WINDOW_OK ||
	    !cp_window_is_free(text, address, CP_DETOUR_JUMP) ||
	    finish(text, &w, &insn, 1) != CP_WINDOW_OK ||
	    text->memory->read(text->memory->ctx, address, code, sizeof(code)) != sizeof(code) ||
	    (known < CP_DETOUR_JUMP - 1 &&
	     !cp_detour_bit(text, &text->code, address + CP_DETOUR_JUMP - 1)))
		return false;
	memcpy(w.behind, code + 1, sizeof(w.behind));
	memcpy(&displacement, w.behind, sizeof(displacement));
	w.hop = address + CP_DETOUR_JUMP + (uint64_t)(int64_t)displacement;
	*ret = w;
	return true;
}

/* ---- its detour ---- */

/* Of a jump that is changed: what it did, as a jump from where it is. A conditional one
 * comes here only if it jumps, and a thread that is taken out jumps again. */
void cp_detour_of_window(const struct cp_detour_window *window, struct cp_detour *ret)
{
	size_t at = window->how == CP_DETOUR_BY_CHANGE
			    ? cp_detour_displacement(window->code, window->size)
			    : 0;
	int32_t displacement;

	*ret = (struct cp_detour){ .pc = window->address, .size = window->size };
	memcpy(ret->code, window->code, window->size);
	if (at != 2)
		return;
	memcpy(&displacement, window->code + at, sizeof(displacement));
	displacement++;
	ret->size = 5;
	ret->code[0] = 0xe9;
	memcpy(ret->code + 1, &displacement, sizeof(displacement));
}
