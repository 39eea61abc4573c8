/* SPDX-License-Identifier: MIT
 *
 * Functions by address, and names for addresses.
 */
#include "engine/target/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/state.h"
#include "image/perfmap.h"
#include "inspect/inspect.h"
#include "probe/plan.h"

#define MAX_INLINE 64

/* The function that `key` stands for. A new one is empty, with `extra` bytes behind it.
 * NULL: no memory. */
static cprof_function *function_of(cprof_session *s, const void *key, size_t key_size, size_t extra,
				   bool *fresh)
{
	cprof_function *f;
	uint32_t id;

	if (!cp_intern(&s->function_keys, key, key_size, &id, fresh))
		return NULL;
	if (!*fresh)
		return s->functions.items[id];
	f = calloc(1, sizeof(*f) + extra);
	if (cp_vec_push(&s->functions, f))
		return f;
	free(f);
	return NULL;
}

/* Reading a perf map as it grows takes at most a fiftieth of the time: a map of
 * millions of lines takes long, one of a few is read each time. */
static void refresh_map(cprof_assembly *a)
{
	uint64_t began = cp_now();

	if (began < a->jit_next_ns)
		return;
	cp_perf_map_refresh(a->jit);
	a->jit_next_ns = began + 50 * (cp_now() - began);
}

static const cprof_function *function_in_map(cprof_session *s, const cprof_image *image,
					     uint64_t address)
{
	cprof_assembly *a = image->assembly;
	const cprof_function *f = NULL;
	uint64_t start, size;
	const char *name;

	/* Other threads ask for names, and read the file, too. */
	pthread_mutex_lock(&a->lock);
	refresh_map(a);
	if (cp_perf_map_find(a->jit, address, &name, &start, &size))
		f = engine_function_of_map(s, image, name, start, size);
	pthread_mutex_unlock(&a->lock);
	return f;
}

const cprof_function *engine_function_at(cprof_session *s, const cprof_image *image,
					 uint64_t address)
{
	struct {
		const cprof_image *image;
		uint64_t start;
	} key = { image, 0 };
	struct cp_symbol symbol;
	cprof_function *f;
	bool fresh;

	if (image && image->assembly->jit)
		return function_in_map(s, image, address);
	if (!image || !image->assembly->image ||
	    !cp_image_symbol(image->assembly->image, (struct cp_vaddr){ address }, &symbol))
		return NULL;
	key.start = symbol.start.v;
	f = function_of(s, &key, sizeof(key), 0, &fresh);
	if (f && fresh)
		*f = (cprof_function){
			.image = image,
			.linkage_name = symbol.name,
			.start = symbol.start.v + image->bias,
			.size = symbol.size,
			.unnamed = symbol.kind == CP_SYMBOL_UNWIND,
		};
	return f;
}

const cprof_function *engine_function_of_map(cprof_session *s, const cprof_image *image,
					     const char *name, uint64_t start, uint64_t size)
{
	size_t length = strlen(name) + 1;
	cprof_function *f = NULL;
	struct cp_buf key = { 0 };
	bool fresh;

	/* The key is longer than those of code in images. */
	cp_buf_u64(&key, (uintptr_t)image);
	cp_buf_u64(&key, start);
	cp_buf_u64(&key, size);
	cp_buf_add(&key, name, length);
	if (!key.failed)
		f = function_of(s, key.bytes, key.size, length, &fresh);
	if (f && fresh) {
		f->image = image;
		f->linkage_name = memcpy(f + 1, name, length);
		f->start = start;
		f->size = size;
	}
	cp_buf_free(&key);
	return f;
}

const char *engine_name_of_start(cprof_session *s, const cprof_process *p, uint64_t address)
{
	const struct engine_text *text = address ? engine_find_text(p, address) : NULL;
	const cprof_function *f =
		text ? engine_function_at(s, text->image, address - text->image->bias) : NULL;

	return f && f->start == address ? cprof_function_name(f) : NULL;
}

void engine_functions_free(cprof_session *s)
{
	size_t i;

	for (i = 0; i < s->functions.count; i++) {
		if (s->functions.items[i]) {
			free(s->functions.items[i]->name);
			cp_signature_destroy(s->functions.items[i]->signature);
		}
		free(s->functions.items[i]);
	}
	cp_vec_free(&s->functions);
	cp_interner_free(&s->function_keys);
}

/* Code made at run time is named by the map that its maker writes. */
static void symbolize_jit(cprof_assembly *a, uint64_t address, cprof_symbolize_fn cb, void *data)
{
	CP_FREE char *demangled = NULL;
	const char *name;
	uint64_t start, size;
	bool found;

	pthread_mutex_lock(&a->lock);
	if (a->jit)
		cp_perf_map_refresh(a->jit);
	found = a->jit && cp_perf_map_find(a->jit, address, &name, &start, &size);
	if (found)
		demangled = cp_demangle(name);
	if (found && demangled) {
		const cprof_symbol symbol = { .name = demangled,
					      .linkage_name = name,
					      .start = start };

		cb(&symbol, data);
	}
	pthread_mutex_unlock(&a->lock);
}

/* The name of the indirect function by which somebody asked for the function at
 * `address`; or NULL. */
static const char *called_at(cprof_assembly *a, uint64_t address)
{
	const uint64_t *called;
	const char *name;

	pthread_mutex_lock(&a->lock);
	called = cp_map_get(&a->called, address);
	name = called ? (const char *)(uintptr_t)*called : NULL;
	pthread_mutex_unlock(&a->lock);
	return name;
}

/* The real function is named as in the symbol table, which knows aliases and
 * clones; debug information knows the inlined ones and the lines. */
static void symbolize_image(cprof_assembly *a, uint64_t address, cprof_symbolize_fn cb, void *data)
{
	struct cp_image *image = a->image;
	struct cp_inline_frame frames[MAX_INLINE];
	struct cp_vaddr at = { address };
	struct cp_symbol symbol;
	/* Frames are looked up first: that may open a debug file, which has symbols,
	 * too. */
	size_t count = cp_image_frames(image, at, frames, MAX_INLINE), i;
	bool known = cp_image_symbol(image, at, &symbol);

	if (count > MAX_INLINE)
		count = MAX_INLINE;
	if (!count && !known)
		return;
	if (!count)
		frames[count++] = (struct cp_inline_frame){ .function = symbol.name };
	for (i = 0; i < count; i++) {
		const struct cp_inline_frame *f = &frames[i];
		const char *linkage = !f->inlined && known ? symbol.name : f->function;
		const char *called = !f->inlined && known ? called_at(a, symbol.start.v) : NULL;
		CP_FREE char *name = called    ? cp_demangle(called)
				     : linkage ? cp_demangle(linkage)
					       : NULL;
		const cprof_symbol out = {
			.name = name,
			.linkage_name = linkage,
			.file = f->file,
			.line = f->line,
			.decl_line = f->decl_line,
			.inlined = f->inlined,
			.start = known ? symbol.start.v : 0,
		};

		cb(&out, data);
	}
}

void cprof_assembly_symbolize(cprof_assembly *a, uint64_t address, cprof_symbolize_fn cb,
			      void *data)
{
	if (a->image)
		symbolize_image(a, address, cb, data);
	else
		symbolize_jit(a, address, cb, data);
}

const char *cprof_function_name(const cprof_function *f)
{
	cprof_function *own = (cprof_function *)(uintptr_t)f;
	char *name = own ? atomic_load(&own->name) : (char *)(uintptr_t) "", *made;
	const char *called;

	if (name)
		return name;
	called = f->planned ? called_at(f->image->assembly, f->start - f->image->bias) : NULL;
	made = called	    ? cp_probe_name(called)
	       : f->planned ? cp_probe_name(f->linkage_name)
			    : cp_demangle(f->linkage_name);
	if (!made)
		return f->linkage_name;
	/* Another thread may have made the name meanwhile. */
	if (atomic_compare_exchange_strong(&own->name, &name, made))
		return made;
	free(made);
	return name;
}

const char *cprof_function_linkage_name(const cprof_function *f)
{
	return f ? f->linkage_name : "";
}

const cprof_image *cprof_function_image(const cprof_function *f)
{
	return f ? f->image : NULL;
}

cprof_addr cprof_function_address(const cprof_function *f)
{
	return f ? f->start : 0;
}

uint64_t cprof_function_size(const cprof_function *f)
{
	return f ? f->size : 0;
}
