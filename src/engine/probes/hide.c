/* SPDX-License-Identifier: MIT
 *
 * Text that is read from the program is shown as the program has it: where cprof wrote
 * a breakpoint's byte, or a jump in the place of instructions (tracer/signals/sigmask.c,
 * detours), the bytes are the file's.
 */
#include "engine/probes/hide.h"

#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/state.h"
#include "image/image.h"

/* A piece of the bytes that were read; addresses are link-time ones. */
struct piece {
	uint64_t start, end;
	uint8_t *bytes;
	struct cp_reader file;
};

/* How many bytes cprof may have written at a site with a slot. */
static size_t written(const struct engine_calls *c, const struct piece *piece, uint64_t at)
{
	uint8_t code[CP_SIGCALL_SIZE];
	struct cp_sigcall call;
	size_t size;

	cp_trap_code(cp_arch_host(), &size);
	if (c->decoder &&
	    piece->file.read(piece->file.ctx, at, code, sizeof(code)) == sizeof(code) &&
	    cp_sigcall_at(code, sizeof(code), &call))
		size = CP_SIGCALL_JUMP;
	return size;
}

static void show(const struct piece *piece, uint64_t at, size_t size)
{
	uint64_t end = at + size < piece->end ? at + size : piece->end;

	at = at < piece->start ? piece->start : at;
	if (at < end)
		piece->file.read(piece->file.ctx, at, piece->bytes + (at - piece->start),
				 (size_t)(end - at));
}

/* Puts the file's bytes where the piece has cprof's; a jump may begin before it. */
static void hide(const struct engine_calls *c, const cprof_image *image, const struct piece *piece)
{
	uint64_t at, slot, first = piece->start - (CP_SIGCALL_JUMP - 1);
	size_t cursor = 0;

	first = first > piece->start ? 0 : first;
	/* What there is less of is gone through. */
	while (image->slots.count < piece->end - first &&
	       cp_map_next(&image->slots, &cursor, &at, &slot))
		if (at >= first && at < piece->end)
			show(piece, at, written(c, piece, at));
	for (at = first; image->slots.count >= piece->end - first && at < piece->end; at++)
		if (cp_map_get(&image->slots, at))
			show(piece, at, written(c, piece, at));
}

/* The same of breakpoints that families placed themselves. */
static void hide_placed(const cprof_image *image, const struct piece *piece)
{
	const cprof_session *s = image->process->session;
	uint64_t at;
	unsigned id;

	for (id = 1; id < ENGINE_FAMILIES; id++) {
		const struct engine_family *f = s->families[id];

		if (!f->has || !engine_family_wanted(s, id))
			continue;
		for (at = piece->start; at < piece->end; at++)
			if (f->has(image, at))
				show(piece, at, 1);
	}
}

/* The same of the jumps of detours; of two before one may end behind it (detours.c). */
static void hide_jumps(const cprof_image *image, const struct piece *piece)
{
	size_t i = cp_vec_partition(&image->jumps, jump, jump->end <= piece->start);

	for (i -= i < 2 ? i : 2; i < image->jumps.count && image->jumps.items[i].start < piece->end;
	     i++)
		show(piece, image->jumps.items[i].start,
		     (size_t)(image->jumps.items[i].end - image->jumps.items[i].start));
}

void engine_hide_breakpoints(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size)
{
	uint64_t start, end, last = address + size;
	struct piece piece;
	size_t i = cp_vec_partition(&p->texts, text, text->end <= address);

	for (; i < p->texts.count && p->texts.items[i].start < last; i++) {
		const struct engine_text *text = &p->texts.items[i];
		const cprof_image *image = text->image;

		if (!image || !image->armed || !image->assembly->image ||
		    (!image->slots.count && !image->cover.reserved))
			continue;
		start = text->start > address ? text->start : address;
		end = text->end < last ? text->end : last;
		piece = (struct piece){ start - image->bias, end - image->bias,
					bytes + (start - address),
					cp_probe_file_reader(image->assembly->image) };
		hide(p->session->calls, image, &piece);
		hide_placed(image, &piece);
		hide_jumps(image, &piece);
	}
}

struct engine_bare engine_bare_around(const cprof_process *p, uint64_t address)
{
	struct engine_bare ret = { 0, UINT64_MAX, p->texts_made };
	size_t i = cp_vec_partition(&p->texts, text, text->end <= address);

	if (i)
		ret.start = p->texts.items[i - 1].end;
	if (i < p->texts.count)
		ret.end = p->texts.items[i].start;
	return address < ret.end ? ret : (struct engine_bare){ .made = p->texts_made };
}
