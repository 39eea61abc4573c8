/* SPDX-License-Identifier: MIT
 *
 * Functions, threads and images looked for, and what is known of a function.
 */
#include "engine/api/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/frames/places.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

#define STRING_CHUNK 256u

cprof_process *engine_asked_process(cprof_session *s)
{
	if (!s)
		return NULL;
	return s->current.process ? s->current.process : engine_process(s, s->target);
}

/* ---- functions of an image ---- */

/* The image's functions, read at first use; NULL: it has none. */
static struct cp_probe_functions *functions_of(const cprof_image *image)
{
	struct engine_plans *plans = image ? engine_plans_of(image->assembly) : NULL;

	return plans && engine_plans_read(image->assembly, plans) ? &plans->functions : NULL;
}

void cprof_image_for_each_function(const cprof_image *image,
				   bool (*cb)(const cprof_function *, void *), void *data)
{
	struct cp_probe_functions *all = functions_of(image);
	const cprof_function *f;
	size_t i;

	for (i = 0; all && cb && i < all->count; i++) {
		f = engine_probe_function(image->process->session, (cprof_image *)(uintptr_t)image,
					  &all->items[i]);
		if (f && !cb(f, data))
			return;
	}
}

const cprof_function *cprof_function_from_ip(cprof_addr ip)
{
	cprof_session *s = cprof_session_current();
	cprof_process *p = engine_asked_process(s);
	const struct engine_text *text;

	if (!p)
		return NULL;
	engine_refresh_maps(p, cp_now(), false);
	engine_code_met(p, ip);
	text = engine_find_text(p, ip);
	return text ? engine_function_at(s, text->image, ip - text->image->bias) : NULL;
}

/* Does `name` mean the function? "f(int)" is asked for as that, or as "f". */
static bool is_named(const char *demangled, const char *name, size_t size)
{
	return !strncmp(demangled, name, size) && (!demangled[size] || demangled[size] == '(');
}

static const cprof_function *named_in(const cprof_image *image, const char *name)
{
	struct cp_probe_functions *all = functions_of(image);
	cprof_image *own = (cprof_image *)(uintptr_t)image;
	size_t size = strlen(name), i, k;

	for (i = 0; all && i < all->count; i++) {
		struct cp_probe_function *f = &all->items[i];

		if (!strcmp(f->linkage_name, name))
			return engine_probe_function(own->process->session, own, f);
		for (k = 0; k < f->alias_count; k++)
			if (!strcmp(all->aliases.items[f->first_alias + k].linkage_name, name))
				return engine_probe_function(own->process->session, own, f);
	}
	for (i = 0; all && i < all->count; i++) {
		const char *demangled = cp_probe_function_name(&all->items[i]);

		if (demangled && is_named(demangled, name, size))
			return engine_probe_function(own->process->session, own, &all->items[i]);
	}
	return NULL;
}

struct search {
	const char *name;
	const cprof_function *found;
};

static bool search_image(cprof_image *image, void *data)
{
	struct search *search = data;

	search->found = named_in(image, search->name);
	return !search->found;
}

static void each_image(cprof_process *p, bool (*cb)(cprof_image *, void *), void *data, bool *go_on)
{
	const struct engine_text *text;
	size_t i;

	for (i = 0; *go_on && i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];
		bool mapped = false;

		cp_vec_for_each(&p->texts, text)
			mapped |= text->image == image;
		if (mapped)
			*go_on = cb(image, data);
	}
}

void engine_asked_images(bool (*cb)(cprof_image *image, void *data), void *data)
{
	cprof_process *p = engine_asked_process(cprof_session_current());
	bool go_on = true;

	if (p)
		each_image(p, cb, data, &go_on);
}

const cprof_function *cprof_function_from_name(const cprof_image *image, const char *name)
{
	struct search search = { .name = name };

	if (!name || !*name)
		return NULL;
	if (image)
		return named_in(image, name);
	engine_asked_images(search_image, &search);
	return search.found;
}

void cprof_for_each_image(bool (*cb)(cprof_image *, void *), void *data)
{
	cprof_session *s = cprof_session_current();
	bool go_on = true;
	size_t i;

	for (i = 0; s && cb && go_on && i < s->processes.count; i++)
		each_image(s->processes.items[i], cb, data, &go_on);
}

void cprof_for_each_thread(bool (*cb)(cprof_thread *, void *), void *data)
{
	cprof_session *s = cprof_session_current();
	uint64_t key, value;
	size_t cursor = 0;

	while (s && cb && cp_map_next(&s->by_tid, &cursor, &key, &value))
		if (!cb((cprof_thread *)(uintptr_t)value, data))
			return;
}

/* ---- what is known of one ---- */

const char *cprof_function_source(const cprof_function *f, uint32_t *line)
{
	if (line)
		*line = f ? cprof_function_line(f) : 0;
	return f ? cprof_function_file(f) : NULL;
}

uint32_t cprof_function_argument_count(const cprof_function *f)
{
	const struct cp_signature *signature = f ? engine_function_signature(f) : NULL;

	return signature ? (uint32_t)cp_signature_named_count(signature) : 0;
}

const char *cprof_function_argument_name(const cprof_function *f, uint32_t position)
{
	const struct cp_signature *signature = f ? engine_function_signature(f) : NULL;

	return signature ? cp_signature_name(signature, position) : NULL;
}

static unsigned flags_by_debug_info(const cprof_function *f)
{
	const struct cp_signature *signature = engine_function_signature(f);
	unsigned flags = 0;

	if (!signature || !cp_signature_is_described(signature))
		return 0;
	flags |= CPROF_FUNCTION_HAS_DEBUG_INFO;
	flags |= cp_signature_has_this(signature) ? CPROF_FUNCTION_HAS_THIS : 0;
	flags |= cp_signature_is_variadic(signature) ? CPROF_FUNCTION_VARIADIC : 0;
	return flags;
}

static unsigned flags_by_code(const cprof_function *f, const struct cp_probe_functions *all)
{
	const struct cp_probe_function *probe =
		all ? cp_probe_functions_find(all, f->start - f->image->bias) : NULL;
	struct engine_calls *c = engine_calls_get(f->image->process->session);
	struct cp_probe_plan plan = { 0 };
	struct cp_reader file;
	unsigned flags = 0;

	if (!probe || !c || !engine_decoder(c))
		return 0;
	file = cp_probe_file_reader(f->image->assembly->image);
	cp_error_free(cp_probe_plan_function(c->decoder, &file, all, probe, &plan));
	if (plan.why == CP_PROBE_NO_EXIT)
		flags |= CPROF_FUNCTION_NORETURN;
	if (plan.why == CP_PROBE_REFUSED || plan.why == CP_PROBE_NO_CODE ||
	    plan.why == CP_PROBE_WITHHELD)
		flags |= CPROF_FUNCTION_UNPATCHABLE;
	if (probe->kind == CP_PROBE_PLT)
		flags |= CPROF_FUNCTION_PLT;
	if (probe->kind == CP_PROBE_IFUNC)
		flags |= CPROF_FUNCTION_THUNK;
	cp_probe_plan_free(&plan);
	return flags;
}

/* Itanium C++ ABI, 5.1.4.1: non-virtual, virtual, covariant thunks. */
static bool is_thunk(const char *linkage)
{
	return !strncmp(linkage, "_ZT", 3) && linkage[3] && strchr("hvc", linkage[3]);
}

unsigned cprof_function_flags(const cprof_function *f)
{
	if (!f)
		return 0;
	if (f->image->assembly->jit || f->image->assembly->made)
		return CPROF_FUNCTION_JIT;
	return flags_by_debug_info(f) | flags_by_code(f, functions_of(f->image)) |
	       (is_thunk(f->linkage_name) ? CPROF_FUNCTION_THUNK : 0);
}

/* ---- memory ---- */

/* Reads by pages, each of which is all code or none: cprof's breakpoints are taken out
 * of code. */
cprof_status cprof_read_memory(cprof_process *p, cprof_addr address, void *buffer, size_t size,
			       size_t *done)
{
	size_t got = 0, piece, n = 0;

	if (done)
		*done = 0;
	if (!p || (size && !buffer))
		return CPROF_E_INVALID_ARGUMENT;
	if (!engine_open_memory(p))
		return CPROF_E_GONE;
	do {
		got += n;
		piece = 4096 - (address + got) % 4096;
		piece = size - got < piece ? size - got : piece;
		n = piece ? p->memory.read(p->memory.ctx, address + got, (uint8_t *)buffer + got,
					   piece)
			  : 0;
	} while (n && n == piece);
	got += n;
	if (done)
		*done = got;
	return got == size ? CPROF_OK : CPROF_E_UNREADABLE;
}

char *cprof_read_string(cprof_process *p, cprof_addr address, size_t limit)
{
	struct cp_buf text = { 0 };
	char piece[STRING_CHUNK];
	size_t n, length = 0;

	do {
		n = limit - text.size < sizeof(piece) ? limit - text.size : sizeof(piece);
		cprof_read_memory(p, address + text.size, piece, n, &n);
		length = strnlen(piece, n);
		cp_buf_add(&text, piece, length);
	} while (n == sizeof(piece) && length == n && text.size < limit && !text.failed);
	if (!text.size && !n && limit) { /* not even a NUL */
		cp_buf_free(&text);
		return NULL;
	}
	cp_buf_u8(&text, 0);
	if (text.failed)
		cp_buf_free(&text);
	return text.bytes;
}
