/* SPDX-License-Identifier: MIT
 *
 * Stacks that profilers keep: places have numbers, and a stack is the numbers of its
 * places.
 *
 *     stack │ is it truncated │ places, innermost first        all of 32 bits
 */
#include <cprof/stack.h>
#include <cprof/stacks.h>
#include <cprof/process.h>
#include <cprof/profiler.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"
#include "engine/target/state.h"

struct cprof_stacks {
	struct cp_interner places, stacks;
	struct cp_buf walked; /* a stack, as it is interned */
	uint32_t truncated;
	bool failed; /* no memory for one of its places */
};

_Static_assert(sizeof(cprof_place) == 32, "places are interned: no padding");

cprof_stacks *cprof_stacks_create(void)
{
	return calloc(1, sizeof(cprof_stacks));
}

void cprof_stacks_free(cprof_stacks *s)
{
	if (!s)
		return;
	cp_interner_free(&s->places);
	cp_interner_free(&s->stacks);
	cp_buf_free(&s->walked);
	free(s);
}

/* ---- keeping ---- */

static void add_place(cprof_stacks *s, const cprof_place *place)
{
	uint32_t number;

	if (cp_intern(&s->places, place, sizeof(*place), &number, NULL))
		cp_buf_add(&s->walked, &number, sizeof(number));
	else
		s->failed = true;
}

static cprof_walk add_frame(const cprof_function *function, cprof_addr ip,
			    const cprof_frame_info *frame, size_t size,
			    const cprof_context *context, void *data)
{
	const cprof_image *image = cprof_frame_info_image(frame);
	const cprof_place place = {
		.assembly = image ? cprof_image_assembly(image) : NULL,
		.image = image ? cprof_image_name(image) : NULL,
		.address = cprof_frame_info_address(frame),
		.flags = cprof_frame_info_is_signal(frame) ? CPROF_PLACE_SIGNAL : 0,
	};
	cprof_stacks *s = data;

	(void)function;
	(void)ip;
	(void)size;
	(void)context;
	add_place(s, &place);
	s->truncated |= cprof_frame_info_is_truncated(frame);
	return CPROF_WALK_CONTINUE;
}

uint32_t cprof_stacks_current(cprof_stacks *s, cprof_addr ip)
{
	const cprof_place nowhere = { .address = ip };
	uint32_t number;

	s->truncated = 0;
	s->failed = false;
	cp_buf_clear(&s->walked);
	cp_buf_add(&s->walked, &s->truncated, sizeof(s->truncated));
	if (cprof_do_stack_snapshot(cprof_current_thread(), add_frame,
				    CPROF_SNAPSHOT_ALL_FRAMES | CPROF_SNAPSHOT_ADDRESSES, s, NULL,
				    0) != CPROF_OK)
		s->truncated = 1;
	if (s->walked.size == sizeof(s->truncated))
		add_place(s, &nowhere);
	if (s->failed || s->walked.failed)
		return CPROF_NO_STACK;
	memcpy(s->walked.bytes, &s->truncated, sizeof(s->truncated));
	return cp_intern(&s->stacks, s->walked.bytes, s->walked.size, &number, NULL)
		       ? number
		       : CPROF_NO_STACK;
}

/* ---- what there is ---- */

size_t cprof_stacks_count(const cprof_stacks *s)
{
	return s->stacks.count;
}

/* The numbers that a stack consists of; NULL: there is no such one. */
static const uint32_t *stack_at(const cprof_stacks *s, uint32_t stack, size_t *count_ret)
{
	if (stack >= s->stacks.count)
		return NULL;
	*count_ret = s->stacks.items[stack].size / sizeof(uint32_t);
	return s->stacks.items[stack].bytes;
}

size_t cprof_stacks_places(const cprof_stacks *s, uint32_t stack, const uint32_t **places_ret)
{
	size_t count = 0;
	const uint32_t *numbers = stack_at(s, stack, &count);

	*places_ret = numbers ? numbers + 1 : NULL;
	return numbers ? count - 1 : 0;
}

bool cprof_stacks_is_truncated(const cprof_stacks *s, uint32_t stack)
{
	size_t count = 0;
	const uint32_t *numbers = stack_at(s, stack, &count);

	return numbers && numbers[0];
}

const cprof_place *cprof_stacks_place(const cprof_stacks *s, uint32_t place)
{
	return place < s->places.count ? s->places.items[place].bytes : NULL;
}

size_t cprof_stacks_place_count(const cprof_stacks *s)
{
	return s->places.count;
}

/* ---- names ---- */

struct naming {
	cprof_symbolize_fn cb;
	void *data;
	uint64_t start; /* of a function without a name; 0: not known */
	bool named;
};

static void tell(const cprof_symbol *symbol, void *data)
{
	struct naming *n = data;

	if (!symbol->inlined)
		n->start = symbol->start;
	if (!symbol->name || !*symbol->name)
		return;
	n->named = true;
	n->cb(symbol, n->data);
}

/* As reports call what has no name. */
static void name_unknown(const cprof_place *place, uint64_t start, struct cp_buf *to)
{
	const char *file = place->image;

	if (place->flags & CPROF_PLACE_SIGNAL)
		cp_buf_str(to, "<signal handler called>");
	else if (!file || !*file)
		cp_buf_str(to, "[unknown]");
	else if (*file == '[')
		cp_buf_str(to, file);
	else if (start)
		cp_buf_printf(to, "%s+0x%" PRIx64, file, start);
	else
		cp_buf_printf(to, "[%s]", file);
}

void cprof_place_symbolize(const cprof_place *place, cprof_symbolize_fn cb, void *data)
{
	struct naming n = { .cb = cb, .data = data };
	struct cp_buf name = { 0 };

	if (place->assembly)
		cprof_assembly_symbolize(place->assembly, place->address, tell, &n);
	if (n.named)
		return;
	name_unknown(place, n.start, &name);
	cp_buf_u8(&name, 0);
	cb(&(cprof_symbol){ .name = name.failed ? "[unknown]" : name.bytes, .start = n.start },
	   data);
	cp_buf_free(&name);
}
