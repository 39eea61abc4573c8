/* SPDX-License-Identifier: MIT
 *
 * Where a C library asks the kernel to block signals, and sets what handlers block:
 * calls of sigprocmask() and sigaction(), and those that it makes for itself around
 * fork, posix_spawn and in new threads. They are found by their bytes, and are calls if
 * the code of their function, decoded from its start, comes to them. Code of cprof's
 * goes in between (arch/x86_64/sigcall.c).
 *
 * A program that was linked statically has its C library inside. Where that has no
 * names, what it does with SIGTRAP is not seen (probes/plans.c): its calls of sigaction()
 * are left alone then.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/probes/objects.h"
#include "engine/probes/own.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "image/image.h"
#include "probe/plan.h"

#define CHUNK ((size_t)64 << 10)
#define FUNCTION_MAX ((size_t)64 << 10)

enum { ACTION, CALL };

struct search {
	struct engine_calls *calls;
	struct cp_image *image;
	struct engine_plans *plans;
	struct engine_own *own;
	bool actions;
	struct cp_reader file;
	uint8_t chunk[CHUNK];
};

/* Does an instruction begin at `address`? */
static bool is_reached(struct search *s, uint64_t address)
{
	const struct cp_probe_function *f = cp_probe_functions_find(&s->plans->functions, address);
	uint64_t at = f ? f->address : address;
	uint8_t code[16];
	struct cp_insn insn;
	size_t size;

	if (!f || address - at > FUNCTION_MAX)
		return false;
	while (at < address) {
		size = s->file.read(s->file.ctx, at, code, sizeof(code));
		if (!cp_decode(s->calls->decoder, code, size, at, &insn))
			return false;
		at += insn.size;
	}
	return at == address;
}

static void look_at(struct search *s, uint64_t address, const uint8_t *code, size_t size)
{
	struct engine_site site = { .address = address,
				    .traced = ENGINE_NO_FUNCTION,
				    .kind = ENGINE_SITE_OWN,
				    .family = ENGINE_FAMILY_SIGNALS,
				    .what = CALL,
				    .size = CP_SIGCALL_SIZE,
				    .list = { .site_flags = CP_SITE_SIGCALL } };
	struct cp_sigcall call;

	if (!cp_sigcall_at(code, size, &call) || (call.sets_action && !s->actions) ||
	    !is_reached(s, address))
		return;
	memcpy(site.code, code, size < sizeof(site.code) ? size : sizeof(site.code));
	if (cp_vec_push(&s->calls->sites, site) &&
	    !engine_own_add(s->own, (uint32_t)s->calls->sites.count - 1, CALL, 0))
		s->calls->sites.count--;
}

/* Looks through code in pieces that overlap: a call that begins in the last bytes of
 * one is found in the next. */
static void look_through(struct search *s, uint64_t start, uint64_t end)
{
	const size_t overlap = CP_SIGCALL_SIZE - 1;
	size_t size, i, last;
	uint64_t at;

	for (at = start; at < end; at += last) {
		size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		if (s->file.read(s->file.ctx, at, s->chunk, size) != size)
			return;
		last = size == end - at ? size : size - overlap;
		for (i = 0; (i += cp_sigcall_find(s->chunk + i, last - i)) < last; i++)
			look_at(s, at + i, s->chunk + i, size - i);
	}
}

static void search(struct engine_calls *c, cprof_assembly *a, struct engine_own *own)
{
	struct search *s = malloc(sizeof(*s));
	struct cp_vaddr end = { 0 };
	size_t i;

	if (!s)
		return;
	*s = (struct search){ .calls = c,
			      .image = a->image,
			      .plans = a->plans,
			      .own = own,
			      .actions = own->sites.count,
			      .file = cp_probe_file_reader(a->image) };
	for (i = 0; i < a->plans->functions.count; i++) {
		struct cp_vaddr at = { a->plans->functions.items[i].address };
		uint64_t before = end.v;

		if (at.v >= before && cp_image_code(a->image, at, &end))
			look_through(s, at.v, end.v);
	}
	free(s);
}

/* Is the program linked statically, with no library mapped? */
static bool is_static(const cprof_image *image)
{
	const cprof_process *p = image->process;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *other = p->images.items[i];

		if (other != image && other->mapped && *other->assembly->path == '/')
			return false;
	}
	return engine_is_program(image);
}

static void plan(cprof_image *image, struct engine_own *own)
{
	struct engine_calls *c = image->process->session->calls;
	cprof_assembly *a = image->assembly;

	if ((own->sites.count || is_static(image)) && engine_plans_read(a, a->plans))
		search(c, a, own);
}

/* Where the program sets what becomes of SIGTRAP, for the tracer. */
static const struct engine_watch watches[] = {
	{ "sigaction", ACTION, CP_SITE_SIGACTION, 0 },
};

const struct engine_family engine_signals_family = {
	.name = "signals",
	.always = true,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.plan = plan,
};
