/* SPDX-License-Identifier: MIT
 *
 * Arguments and locals of any frame of a walk: made of the registers that the walk
 * recovered, the copy of the stack, and, where threads stand still, their process's
 * memory. A value that none of these has is unavailable, never taken from a program
 * that has run on since.
 */
#include "engine/frames/frame_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/frames/frame.h"
#include "engine/frames/places.h"
#include "engine/frames/values.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/shapes.h"
#include "engine/target/state.h"
#include "inspect/entered.h"
#include "inspect/scope.h"

bool engine_stands_still(const cprof_session *s, const struct engine_capture *c)
{
	return c->held || (s->settled_until_ns && cp_now() < s->settled_until_ns);
}

static size_t read_stack(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct engine_frame *f = ctx;
	const struct engine_capture *c = f->capture;
	const struct {
		uint64_t base;
		const uint8_t *bytes;
		size_t size;
	} pieces[] = { { c->stack_base, c->stack, c->stack_size },
		       { c->below_base, c->below, c->below_size } };
	uint64_t offset;
	size_t i;

	for (i = 0; i < 2; i++) {
		offset = address - pieces[i].base;
		if (!pieces[i].bytes || offset >= pieces[i].size)
			continue;
		size = size < pieces[i].size - offset ? size : pieces[i].size - offset;
		memcpy(buffer, pieces[i].bytes + offset, size);
		return size;
	}
	if (!engine_stands_still(f->session, f->capture))
		return 0;
	return f->thread->process->memory.read(f->thread->process->memory.ctx, address, buffer,
					       size);
}

/* ---- what its function was entered with ---- */

static bool entered_place(void *ctx, uint64_t pc, struct cp_entered_place *ret)
{
	const struct engine_frame *f = ctx;
	const struct engine_text *text = engine_find_text(f->thread->process, pc);

	if (!text || !text->image->assembly->image)
		return false;
	*ret = (struct cp_entered_place){ .object = text->image,
					  .image = text->image->assembly->image,
					  .bias = text->image->bias,
					  .address = pc - text->image->bias };
	return true;
}

static bool entered_function(void *ctx, const struct cp_entered_place *at, uint64_t *entry_ret,
			     const char **linkage_name_ret)
{
	const struct engine_frame *f = ctx;
	const cprof_function *function = engine_function_at(f->session, at->object, at->address);

	if (!function)
		return false;
	*entry_ret = function->start - at->bias;
	*linkage_name_ret = function->linkage_name;
	return true;
}

static const struct cp_call_site *entered_call_site(void *ctx, const struct cp_entered_place *at)
{
	const cprof_image *image = at->object;

	(void)ctx;
	return engine_call_site(image->assembly, at->address);
}

static const struct cp_call_site *entered_tail_call(void *ctx, const struct cp_entered_place *at,
						    uint64_t from, uint64_t to)
{
	const cprof_image *image = at->object;

	(void)ctx;
	return engine_tail_call(image->assembly, from, to);
}

static bool entered_never_comes_back(void *ctx, const struct cp_entered_place *at, uint64_t entry)
{
	const cprof_image *image = at->object;

	(void)ctx;
	return engine_never_comes_back(image->assembly, entry);
}

static const struct cp_entered_ops entered_ops = {
	.place = entered_place,
	.function = entered_function,
	.call_site = entered_call_site,
	.tail_call = entered_tail_call,
	.never_comes_back = entered_never_comes_back,
};

/* ---- values ---- */

static const char *name_address(void *ctx, uint64_t address)
{
	const struct engine_frame *f = ctx;

	return engine_name_of_start(f->session, f->thread->process, address);
}

/* Where the frame is, and what its values are read from. False: its place is not known. */
static bool place_of(struct engine_context *x, bool locals, struct cp_capture *capture,
		     struct cp_value_frame *ret)
{
	const struct engine_frame *f = x->frame;
	const struct cp_arch *arch = cp_arch_host();

	if (!(f->frame->regs.known >> arch->sp & 1) || !f->frame->cfa.v)
		return false;
	x->stack = (struct cp_reader){ read_stack, (void *)(uintptr_t)f };
	*capture = (struct cp_capture){
		.regs = f->frame->regs,
		.memory = &x->stack,
		.shapes = engine_shapes(f->thread->process),
		.memory_is_copy = !engine_stands_still(f->session, f->capture),
		.bias = f->image->bias,
		.symbol = name_address,
		.symbol_ctx = (void *)(uintptr_t)f,
	};
	if (f->is_leaf && f->capture->xstate) {
		cp_arch_fp_values(f->capture->xstate, f->capture->xstate_size, x->vector.v,
				  x->vector.x87);
		capture->vector = &x->vector;
	}
	if (!x->have_entered)
		cp_entered_find(&(struct cp_callers){ &entered_ops, (void *)(uintptr_t)f, f->frame,
						      f->callers + 1, &x->stack },
				&x->entered);
	x->have_entered = true;
	capture->entry = &x->entered.regs;
	capture->passed = &x->entered.passed;
	*ret = (struct cp_value_frame){
		.pc = { f->address },
		.cfa_offset = (int64_t)(f->frame->cfa.v - f->frame->regs.r[arch->sp]),
		.locals = locals,
	};
	return true;
}

void engine_frame_values(struct engine_context *x, bool locals, const cprof_value **ret,
			 size_t *count_ret)
{
	struct cp_value_frame frame;
	struct cp_capture capture;

	if (place_of(x, locals, &capture, &frame))
		*ret = cp_frame_values(x->signature, &capture, &frame, x->arena, count_ret);
}

bool engine_frame_bytes(struct engine_context *x, bool locals, size_t position,
			struct cp_value_bytes *ret)
{
	struct cp_value_frame frame;
	struct cp_capture capture;

	return place_of(x, locals, &capture, &frame) &&
	       cp_frame_bytes(x->signature, &capture, &frame, position, x->arena, ret);
}

bool engine_frame_scope(struct engine_context *x, struct cp_scope *ret)
{
	*ret = (struct cp_scope){ .signature = x->signature };
	return place_of(x, false, &ret->capture, &ret->frame);
}

static const struct cp_signature *signature_of(const struct engine_frame *f)
{
	if (!f->is_inlined)
		return engine_function_signature(f->function);
	return engine_inlined_signature(f->image->assembly, f->address, f->level,
					&f->session->limits);
}

cprof_call_context *cprof_frame_info_call_context(const cprof_frame_info *handle)
{
	struct engine_frame *f = engine_live(ENGINE_LIVE_FRAME, handle);
	cprof_session *s = f ? f->session : NULL;

	if (!f || !f->function || !f->image->assembly->image || !f->thread || !s->introspection)
		return NULL;
	if (f->context_handle)
		return f->context_handle;
	if (!s->frame_arena)
		s->frame_arena = cp_value_arena_create();
	f->context = s->frame_arena ? calloc(1, sizeof(*f->context)) : NULL;
	if (!f->context)
		return NULL;
	*f->context = (struct engine_context){
		.session = s,
		.signature = signature_of(f),
		.arena = s->frame_arena,
		.frame = f,
		.now_ns = f->capture->ts_ns,
	};
	f->context_handle = engine_live_begin(s, ENGINE_LIVE_CONTEXT, f->context);
	return f->context_handle;
}

void engine_frame_end(struct engine_frame *f)
{
	if (!f->context)
		return;
	free(f->context);
	f->context = NULL;
	if (f->session->walking <= 1)
		cp_value_arena_reset(f->session->frame_arena);
}

void engine_frames_free(cprof_session *s)
{
	free(s->frames);
	cp_value_arena_destroy(s->frame_arena);
	cp_value_arena_destroy(s->object_arena);
}
