/* SPDX-License-Identifier: MIT
 *
 * The stacks of what has ended: the memory and the registers of a core file, and the
 * files that it names, walked as the frames that `inspect` looks into.
 */
#include "cmd/stack_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/frames.h"
#include "cmd/inspecting.h"
#include "engine/frames/snapshot.h"
#include "inspect/shape_ops.h"

struct taking {
	struct cp_inspected *in;
	struct cp_frames frames;
	const struct cp_stack_options *options;
};

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* ---- a frame ---- */

static void take_values(struct taking *t, bool locals, struct cp_stack_values *to)
{
	const struct cp_scope *scope = &t->frames.scope;
	struct cp_value_frame frame = scope->frame;
	const cprof_value *values;
	size_t count = 0, i;

	frame.locals = locals;
	values = cp_frame_values(scope->signature, &scope->capture, &frame, t->in->env.values,
				 &count);
	for (i = 0; i < count; i++)
		cp_stack_keep_value(to, &values[i]);
}

static void take_all_values(struct taking *t, const struct cp_inspected_frame *frame,
			    struct cp_stack_frame *f)
{
	if (!t->options->args && !t->options->locals)
		return;
	cp_frames_enter(&t->frames, frame);
	if (!t->frames.scope.signature)
		return;
	f->has_values = cp_signature_is_described(t->frames.scope.signature);
	if (t->options->args)
		take_values(t, false, &f->args);
	if (t->options->locals)
		take_values(t, true, &f->locals);
	cp_value_arena_reset(t->in->env.values);
}

/* Flags and segments are known of the innermost frame alone. */
static void fill_context(const struct cp_frames *frames, const struct cp_inspected_frame *frame,
			 cprof_context *ret)
{
	const struct cp_leaf *leaf = &frames->leaf;
	const unsigned first = cp_arch_host()->nregs;

	engine_fill_context(&frames->walked[frame->walked].regs, ret);
	if (frame->walked || !leaf->has_others)
		return;
	ret->parts |= CPROF_CONTEXT_SEGMENTS;
	memcpy(ret->u.raw + first, leaf->others,
	       sizeof(ret->u.raw) - first * sizeof(*ret->u.raw) < sizeof(leaf->others)
		       ? sizeof(ret->u.raw) - first * sizeof(*ret->u.raw)
		       : sizeof(leaf->others));
}

static uint64_t offset_in(const struct cp_inspected_frame *frame, uint64_t ip)
{
	struct cp_symbol s;

	if (!frame->object ||
	    !cp_image_symbol(frame->object->image, (struct cp_vaddr){ frame->address }, &s))
		return 0;
	return ip - frame->object->bias - s.start.v;
}

static void take_frame(struct taking *t, const struct cp_inspected_frame *frame,
		       struct cp_stack_frame *f)
{
	const struct cp_frame *walked = &t->frames.walked[frame->walked];
	const struct cp_object *o = frame->object;

	*f = (struct cp_stack_frame){
		.ip = walked->pc.v,
		.cfa = walked->cfa.v,
		.offset = offset_in(frame, walked->pc.v),
		.run = 1,
		.function = copy(frame->function),
		.image = o ? copy(cp_basename(o->path)) : NULL,
		.file = copy(frame->file),
		.line = frame->line,
		.inlined = frame->inlined,
		.signal = walked->flags & CP_FRAME_SIGNAL,
		.guessed = walked->flags & CP_FRAME_GUESSED,
	};
	fill_context(&t->frames, frame, &f->context);
	take_all_values(t, frame, f);
}

/* One more of a row of frames in code without symbols. */
static bool goes_on(const struct cp_stack_thread *to, const struct cp_inspected_frame *frame)
{
	return !frame->function && to->frames.count &&
	       !to->frames.items[to->frames.count - 1].function;
}

static bool is_shown(const struct taking *t, const struct cp_inspected_frame *frame)
{
	return t->options->inlines || !frame->inlined;
}

/* ---- a thread ---- */

static CP_ERROR take_frames(struct taking *t, struct cp_stack_thread *to)
{
	const struct cp_inspected_frame *frame;
	struct cp_stack_frame f;

	cp_vec_for_each(&t->frames.list, frame) {
		if (!is_shown(t, frame))
			continue;
		if (t->options->runs && goes_on(to, frame)) {
			to->frames.items[to->frames.count - 1].run++;
			continue;
		}
		take_frame(t, frame, &f);
		if (!cp_vec_push(&to->frames, f))
			return cp_error_nomem();
	}
	if (to->frames.count)
		to->frames.items[to->frames.count - 1].truncated = t->frames.truncated;
	return NULL;
}

static CP_ERROR take_thread(struct taking *t, const struct cp_core_thread *thread,
			    struct cp_stacks *to)
{
	struct cp_stack_thread now = { .tid = thread->tid };
	struct cp_leaf leaf;

	now.captured = cp_leaf_of_core(t->in->core, thread->tid, &leaf);
	if (!cp_vec_push(&to->threads, now))
		return cp_error_nomem();
	if (!now.captured)
		return NULL;
	CP_TRY(cp_frames_walk(&t->frames, &leaf));
	return take_frames(t, &to->threads.items[to->threads.count - 1]);
}

CP_ERROR cp_stacks_of_core(struct cp_inspected *in, struct cp_stacks *to)
{
	const struct cp_stack_options *o = to->options;
	const struct cp_value_limits limits =
		cp_value_limits_of((uint32_t)o->depth, (uint32_t)o->string);
	struct cp_shapes shapes = { .ops = &cp_shape_ops };
	struct taking t = { .in = in, .options = o };
	const struct cp_core_thread *thread;
	struct cp_error *err = cp_frames_open(&t.frames, in);

	to->core = in->core;
	in->env.limits = &limits;
	cp_inspected_use_shapes(in, &shapes);
	cp_vec_for_each(&in->core->threads, thread) {
		if (err)
			break;
		err = take_thread(&t, thread, to);
	}
	cp_frames_close(&t.frames);
	return err;
}
