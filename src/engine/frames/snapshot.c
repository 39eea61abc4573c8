/* SPDX-License-Identifier: MIT
 *
 * Stack snapshots: the capture of the event being delivered, walked and told
 * to a callback frame by frame.
 */
#include "engine/frames/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/frames/frame.h"
#include "engine/frames/frame_values.h"
#include "engine/frames/target.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"

#define MAX_INLINE 64

/* ---- contexts ---- */

void engine_fill_context(const struct cp_regs *regs, cprof_context *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	unsigned i;

	*ret = (cprof_context){
		.size = sizeof(*ret),
		.arch = arch->e_machine,
		.parts = CPROF_CONTEXT_CONTROL | CPROF_CONTEXT_INTEGER,
		.valid = regs->known,
	};
	/* Both ISAs' structs begin with the registers in DWARF order. */
	for (i = 0; i < arch->nregs; i++)
		ret->u.raw[i] = regs->known >> i & 1 ? regs->r[i] : 0;
}

static uint64_t known_reg(const cprof_context *c, unsigned n)
{
	return c->valid >> n & 1 ? c->u.raw[n] : 0;
}

cprof_addr cprof_context_ip(const cprof_context *c)
{
	return known_reg(c, cp_arch_host()->pc);
}

cprof_addr cprof_context_sp(const cprof_context *c)
{
	return known_reg(c, cp_arch_host()->sp);
}

cprof_addr cprof_context_fp(const cprof_context *c)
{
	return known_reg(c, cp_arch_host()->fp);
}

/* Copies `from` to the caller, whose *size says how much room there is. */
static bool give(const void *from, size_t has, void *value, size_t *size)
{
	size_t room = size ? *size : sizeof(uint64_t);

	if (size)
		*size = has;
	if (room < has)
		return false;
	memcpy(value, from, has);
	return true;
}

bool cprof_context_get(const cprof_context *c, const char *name, void *value, size_t *size)
{
	const struct cp_arch *arch = cp_arch_host();
	size_t offset, has;
	unsigned i;

	for (i = 0; i < arch->nregs; i++)
		if (!strcmp(arch->reg_names[i], name))
			return c->valid >> i & 1 &&
			       give(&c->u.raw[i], sizeof(c->u.raw[i]), value, size);
	for (i = 0; c->parts & CPROF_CONTEXT_SEGMENTS && arch->other_names[i]; i++)
		if (!strcmp(arch->other_names[i], name))
			return give(&c->u.raw[arch->nregs + i], sizeof(*c->u.raw), value, size);
	return c->xstate && cp_arch_vector_register(name, &offset, &has) &&
	       offset + has <= c->xstate_size && give(c->xstate + offset, has, value, size);
}

void engine_fill_leaf(const struct engine_capture *c, bool vectors, cprof_context *ret)
{
	if (c->raw && cp_arch_other_regs(c->raw, ret->u.raw + cp_arch_host()->nregs,
					 40u - cp_arch_host()->nregs))
		ret->parts |= CPROF_CONTEXT_SEGMENTS;
	if (!vectors || !c->xstate)
		return;
	ret->parts |= CPROF_CONTEXT_XSTATE | CPROF_CONTEXT_FLOATING;
	ret->xstate = c->xstate;
	ret->xstate_size = c->xstate_size;
}

/* ---- the walk ---- */

struct walk {
	cprof_session *session;
	cprof_process *process;
	cprof_thread *thread;
	const struct engine_capture *capture;
	cprof_stack_snapshot_fn cb;
	unsigned flags;
	void *data;
	const struct cp_frame *frames;
	size_t count;
	bool truncated, seeded;
	/* a run of unknown frames that the callback was not told of yet */
	struct engine_frame run;
};

void engine_use_sample(struct engine_current *current, const struct cp_event_sample *e)
{
	const struct cp_arch *arch = cp_arch_host();
	const uint8_t *raw = cp_event_regs(e), *stack = cp_event_stack(e);
	struct engine_capture *c = &current->capture;

	current->walkable = true;
	*c = (struct engine_capture){
		.pc = e->pc,
		.ts_ns = e->e.ts_ns,
		.stack_base = e->stack_base,
		.stack = stack,
		.stack_size = stack ? e->stack_size : 0,
		.below_base = e->below_base,
		.below = cp_event_below(e),
		.below_size = cp_event_below(e) ? e->below_size : 0,
		.xstate = cp_event_xstate(e),
		.xstate_size = e->xstate_size,
		.raw = raw,
		.slot = e->slot,
	};
	if (raw) {
		cp_arch_regs_from_prstatus(raw, &c->regs);
		return;
	}
	c->regs.known = UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	c->regs.r[arch->pc] = e->pc;
	c->regs.r[arch->sp] = e->sp;
}

/* Hints to the tracer where a signal handler's stack leads to the one below, for its
 * next copy. True: this copy lacked that. */
static bool hint_stack_link(cprof_session *s, const struct cp_event_sample *e,
			    const struct cp_unwind_capture *capture, size_t count,
			    enum cp_unwind_end end)
{
	uint64_t link = 0;

	if (e->slot >= CP_LINK_SLOTS || end == CP_UNWIND_END_ROOT)
		return false;
	if (!cp_unwind_left_copy(cp_arch_host(), capture, s->frames, count, &link) &&
	    !e->below_size)
		return false;
	/* The link is 0 where the last one was followed in vain. */
	atomic_store_explicit(&s->link.shared->stack_link[e->slot], link, memory_order_relaxed);
	return link != 0;
}

/* Hints to the tracer where the thread's stack ends, for its next copy. */
static void hint_stack_end(cprof_session *s, uint32_t slot, const struct cp_frame *frames,
			   size_t count, enum cp_unwind_end end)
{
	uint64_t cfa = 0;
	size_t i;

	if (slot >= CP_LINK_SLOTS || !count)
		return;
	for (i = count; i-- && !cfa;)
		cfa = frames[i].cfa.v;
	if (end == CP_UNWIND_END_CUT || !cfa)
		cfa = 0; /* unknown: as much as allowed */
	else if (end == CP_UNWIND_END_ROOT)
		cfa += 64;
	else
		cfa += 16384;
	atomic_store_explicit(&s->link.shared->stack_end[slot], cfa, memory_order_relaxed);
}

static bool restore_kept(cprof_session *s, const cprof_thread *t, size_t *count_ret,
			 enum cp_unwind_end *end_ret)
{
	const struct cp_arch *arch = cp_arch_host();
	size_t i;

	for (i = 0; i < t->kept.count; i++) {
		const struct engine_kept_frame *k = &t->kept.items[i];

		s->frames[i] = (struct cp_frame){
			.pc = { k->pc },
			.cfa = { k->cfa },
			.flags = k->flags,
			.by = k->by,
			.regs = { .known = UINT64_C(1) << arch->pc },
		};
		s->frames[i].regs.r[arch->pc] = k->pc;
	}
	*count_ret = t->kept.count;
	*end_ret = t->kept_end;
	return t->kept.count != 0;
}

static void keep(cprof_session *s, cprof_thread *t, size_t count, enum cp_unwind_end end)
{
	size_t i;

	t->kept.count = 0;
	for (i = 0; i < count; i++) {
		const struct cp_frame *f = &s->frames[i];

		if (!cp_vec_push(&t->kept,
				 (struct engine_kept_frame){ f->pc.v, f->cfa.v, f->flags, f->by }))
			break;
	}
	t->kept_end = end;
}

static bool ended_early(enum cp_unwind_end end)
{
	return end != CP_UNWIND_END_ROOT;
}

/* Does the unwinder that was asked for read a process whose thread may go on meanwhile? */
static bool goes_on(const cprof_session *s, const struct engine_capture *c)
{
	return s->unwinder == CPROF_UNWINDER_LIBUNWIND_PTRACE &&
	       !(c->raw && engine_stands_still(s, c));
}

/* Are the frames those of the current capture already? Samples have more to them. */
static bool is_walked(const cprof_session *s)
{
	const struct engine_capture *c = &s->current.capture;
	const struct engine_walked *w = &s->walked;
	const struct cp_arch *arch = cp_arch_host();

	return w->count && w->thread == s->current.thread && w->ts_ns == c->ts_ns &&
	       w->pc == c->regs.r[arch->pc] && w->sp == c->regs.r[arch->sp] &&
	       w->stack == c->stack && w->held == c->held && !s->current.sample &&
	       !s->current.repeat;
}

static void note_walked(cprof_session *s, size_t count, enum cp_unwind_end end)
{
	const struct engine_capture *c = &s->current.capture;
	const struct cp_arch *arch = cp_arch_host();

	if (s->current.hit && !s->current.sample)
		s->walked = (struct engine_walked){
			.thread = s->current.thread,
			.ts_ns = c->ts_ns,
			.pc = c->regs.r[arch->pc],
			.sp = c->regs.r[arch->sp],
			.stack = c->stack,
			.held = c->held,
			.count = count,
			.end = end,
		};
}

struct cp_unwind_capture engine_unwind_capture(const struct engine_capture *c, pid_t pid)
{
	return (struct cp_unwind_capture){
		.regs = c->regs,
		.stack_base = c->stack_base,
		.stack = c->stack,
		.stack_size = c->stack_size,
		.below_base = c->below_base,
		.below = c->below,
		.below_size = c->below_size,
		.held = c->held,
		.pid = pid,
	};
}

static bool walk_frames(cprof_session *s, const struct cp_regs *seed, bool frame_pointers,
			size_t *count_ret, enum cp_unwind_end *end_ret)
{
	static const enum cp_unwinder by[] = {
		[CPROF_UNWINDER_OWN] = CP_UNWINDER_OWN,
		[CPROF_UNWINDER_LIBUNWIND] = CP_UNWINDER_LIBUNWIND,
		[CPROF_UNWINDER_FP] = CP_UNWINDER_FP,
		[CPROF_UNWINDER_LIBUNWIND_PTRACE] = CP_UNWINDER_LIBUNWIND_PTRACE,
	};
	const struct engine_capture *c = &s->current.capture;
	enum cp_unwinder unwinder = frame_pointers ? CP_UNWINDER_FP : by[s->unwinder];
	cprof_process *p = s->current.process;
	struct cp_unwind_capture capture = engine_unwind_capture(c, p->pid);

	if (seed)
		capture.regs = *seed;
	/* A thread that is walked from a seed does not run, or the caller knows what it does. */
	capture.held |= seed || unwinder == CP_UNWINDER_LIBUNWIND_PTRACE;
	if (!seed && !frame_pointers && is_walked(s)) {
		*count_ret = s->walked.count;
		*end_ret = s->walked.end;
		return true;
	}
	s->walked.count = 0;
	if (s->current.repeat)
		return restore_kept(s, s->current.thread, count_ret, end_ret);
	if (unwinder == CP_UNWINDER_LIBUNWIND_PTRACE && goes_on(s, c))
		return false;
	engine_refresh_maps(p, c->ts_ns, !engine_find_text(p, c->pc));
	if (!engine_unwind_space(p))
		return false;
	cp_unwind_walk(p->space, unwinder, &capture, s->frames, CP_MAX_FRAMES, count_ret, end_ret);
	if ((*end_ret == CP_UNWIND_END_UNMAPPED || *end_ret == CP_UNWIND_END_NO_INFO) &&
	    engine_refresh_maps(p, c->ts_ns, true))
		cp_unwind_walk(engine_unwind_space(p), unwinder, &capture, s->frames, CP_MAX_FRAMES,
			       count_ret, end_ret);
	if (!seed && s->current.sample) {
		s->current.cut_below =
			hint_stack_link(s, s->current.sample, &capture, *count_ret, *end_ret);
		if (!s->current.cut_below)
			hint_stack_end(s, c->slot, s->frames, *count_ret, *end_ret);
		if (s->mode == CPROF_SAMPLE_MODE_REAL)
			keep(s, s->current.thread, *count_ret, *end_ret);
	}
	if (!seed && !frame_pointers)
		note_walked(s, *count_ret, *end_ret);
	return *count_ret != 0;
}

bool engine_walk(cprof_session *s, const struct cp_regs *seed, bool frame_pointers,
		 size_t *count_ret, enum cp_unwind_end *end_ret)
{
	bool repeats = s->current.repeat, walked;
	size_t i;

	walked = walk_frames(s, seed, frame_pointers, count_ret, end_ret);
	if (s->walked.count && s->walked.met)
		return walked;
	s->walked.met = true;
	for (i = 0; walked && !repeats && i < *count_ret; i++)
		if (!i || s->frames[i].pc.v != s->frames[i - 1].pc.v)
			engine_code_met(s->current.process, s->frames[i].pc.v);
	return walked;
}

bool engine_walk_again(cprof_session *s, size_t *count_ret, enum cp_unwind_end *end_ret)
{
	return walk_frames(s, NULL, false, count_ret, end_ret);
}

bool engine_lacks_stack(cprof_session *s)
{
	enum cp_unwind_end end;
	size_t count;

	/* libunwind-ptrace reads the process, so no copy is too short for it. */
	return s->unwinder != CPROF_UNWINDER_LIBUNWIND_PTRACE &&
	       engine_walk(s, NULL, false, &count, &end) && s->current.cut_below;
}

/* ---- telling it ---- */

static cprof_walk tell(struct walk *w, struct engine_frame *info)
{
	void *handle = engine_live_begin(w->session, ENGINE_LIVE_FRAME, info);
	cprof_walk answer;
	cprof_context context;
	const cprof_context *given = NULL;
	cprof_addr ip = info->frame->pc.v;

	if (w->flags & CPROF_SNAPSHOT_REGISTER_CONTEXT) {
		engine_fill_context(&info->frame->regs, &context);
		if (info->frame == w->frames && !w->seeded)
			engine_fill_leaf(w->capture, w->flags & CPROF_SNAPSHOT_FLOATING, &context);
		given = &context;
	}
	answer = w->cb(info->function, ip, handle, given ? sizeof(context) : 0, given, w->data);
	engine_live_end(w->session, handle);
	engine_frame_end(info);
	return answer;
}

static cprof_walk tell_run(struct walk *w)
{
	struct engine_frame run = w->run;

	w->run.run_length = 0;
	return run.run_length ? tell(w, &run) : CPROF_WALK_CONTINUE;
}

static cprof_walk tell_inlined(struct walk *w, const struct engine_frame *real)
{
	struct cp_inline_frame inlined[MAX_INLINE];
	struct cp_image *image = real->image ? real->image->assembly->image : NULL;
	struct engine_frame info;
	size_t count = 0, i;
	cprof_walk answer = CPROF_WALK_CONTINUE;

	if (image)
		count = cp_image_frames(image, (struct cp_vaddr){ real->address }, inlined,
					MAX_INLINE);
	if (count > MAX_INLINE)
		count = MAX_INLINE;
	for (i = 0; i < count && answer == CPROF_WALK_CONTINUE; i++) {
		bool last = i + 1 == count;

		if (!last && !(w->flags & CPROF_SNAPSHOT_INLINES))
			continue;
		info = *real;
		info.source = &inlined[i];
		info.level = (uint32_t)i;
		info.is_inlined = inlined[i].inlined;
		info.is_truncated = last && real->is_truncated;
		if (info.is_inlined && inlined[i].function)
			info.name = cp_demangle(inlined[i].function);
		answer = tell(w, &info);
		free(info.name);
	}
	info = *real;
	return count ? answer : tell(w, &info);
}

static cprof_walk tell_frame(struct walk *w, size_t n)
{
	const struct cp_frame *f = &w->frames[n];
	const struct engine_text *text = engine_find_text(w->process, f->pc.v);
	bool back = !(f->flags & CP_FRAME_EXACT_PC);
	struct engine_frame info = {
		.session = w->session,
		.thread = w->thread,
		.capture = w->capture,
		.image = text ? text->image : NULL,
		.frame = f,
		.callers = w->count - n - 1,
		.is_leaf = !n && !w->seeded,
		.is_truncated = w->truncated && n + 1 == w->count,
		.run_length = 1,
	};

	if (!text && back) /* a call at the end of its mapping returns behind it */
		text = engine_find_text(w->process, f->pc.v - 1);
	info.image = text ? text->image : NULL;
	info.address = f->pc.v - (info.image ? info.image->bias : 0) - back;
	if (w->flags & CPROF_SNAPSHOT_ADDRESSES)
		return tell(w, &info);
	info.function = engine_function_at(w->session, info.image, info.address);
	/* A name that cprof made up is none, unless every frame is asked for. */
	if (info.function && info.function->unnamed && !(w->flags & CPROF_SNAPSHOT_ALL_FRAMES))
		info.function = NULL;
	if (info.function || w->flags & CPROF_SNAPSHOT_ALL_FRAMES) {
		if (tell_run(w) == CPROF_WALK_ABORT)
			return CPROF_WALK_ABORT;
		return tell_inlined(w, &info);
	}
	if (!w->run.run_length)
		w->run = info;
	else
		w->run.run_length++;
	w->run.is_truncated = info.is_truncated;
	return CPROF_WALK_CONTINUE;
}

static cprof_status check_seed(cprof_process *p, const cprof_context *seed, size_t seed_size,
			       struct cp_regs *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t word;
	unsigned i;

	if (seed_size < sizeof(*seed) || seed->arch != arch->e_machine)
		return CPROF_E_INVALID_ARGUMENT;
	*ret = (struct cp_regs){ .known = seed->valid };
	for (i = 0; i < arch->nregs; i++)
		ret->r[i] = seed->u.raw[i];
	engine_refresh_maps(p, cp_now(), false);
	if (!engine_find_text(p, ret->r[arch->pc]))
		return CPROF_E_STACKSNAPSHOT_UNMANAGED_CTX;
	if (!engine_open_memory(p) ||
	    !cp_read_exact(&p->memory, ret->r[arch->sp], &word, sizeof(word)))
		return CPROF_E_UNEXPECTED;
	return CPROF_OK;
}

static cprof_walk tell_all(struct walk *w)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		if (tell_frame(w, i) == CPROF_WALK_ABORT)
			return CPROF_WALK_ABORT;
	return tell_run(w);
}

/* Walks the current capture into s->frames, and tells the frames with `before` current
 * again: what a callback asks is about its event, whichever thread is walked. */
static cprof_status walk_current(struct walk *w, const cprof_context *seed, size_t seed_size,
				 const struct engine_current *before)
{
	cprof_session *s = w->session;
	struct engine_capture capture = s->current.capture;
	enum cp_unwind_end end = CP_UNWIND_END_NO_INFO;
	struct cp_regs seed_regs;
	cprof_status status;

	w->process = s->current.process;
	w->thread = s->current.thread;
	w->capture = &capture;
	w->seeded = seed != NULL;
	if (seed) {
		status = check_seed(w->process, seed, seed_size, &seed_regs);
		if (status)
			return status;
	}
	if (!engine_walk(s, seed ? &seed_regs : NULL, w->flags & CPROF_SNAPSHOT_FRAME_POINTERS,
			 &w->count, &end))
		return goes_on(s, &capture) ? CPROF_E_STACKSNAPSHOT_UNSAFE : CPROF_E_FAIL;
	w->frames = s->frames;
	w->truncated = ended_early(end);
	s->current = *before;
	return tell_all(w) == CPROF_WALK_ABORT ? CPROF_E_STACKSNAPSHOT_ABORTED : CPROF_OK;
}

/* Walks a thread of which the event being delivered has captured nothing: it is
 * captured now, and once more (`again`) when the stack below a signal handler's was
 * missing. */
static cprof_status walk_other(struct walk *w, cprof_thread *t, const cprof_context *seed,
			       size_t seed_size, bool again)
{
	const struct engine_current before = w->session->current;
	struct cp_event_sample *sample;
	cprof_status status = engine_capture_thread(t, &sample);

	if (status)
		return status;
	w->session->current = (struct engine_current){
		.process = t->process,
		.thread = t,
		.sample = sample,
	};
	engine_use_sample(&w->session->current, sample);
	if (!again && !seed && engine_lacks_stack(w->session)) {
		w->session->current = before;
		free(sample);
		return walk_other(w, t, seed, seed_size, true);
	}
	status = walk_current(w, seed, seed_size, &before);
	w->session->current = before;
	free(sample);
	return status;
}

/* A walk within a walk's callback has frames of its own. */
static cprof_status walk_one(struct walk *w, cprof_thread *t, const cprof_context *seed,
			     size_t seed_size)
{
	cprof_session *s = w->session;
	const struct engine_current before = s->current;
	struct cp_frame *frames = s->frames;
	cprof_status status;

	if (s->walking)
		s->frames = malloc(CP_MAX_FRAMES * sizeof(*frames));
	if (!s->frames) {
		s->frames = frames;
		return CPROF_E_OUT_OF_MEMORY;
	}
	if (s->walking)
		s->walked.count = 0;
	s->walking++;
	if (t)
		status = walk_other(w, t, seed, seed_size, false);
	else
		status = walk_current(w, seed, seed_size, &before);
	s->walking--;
	if (s->walking) {
		s->walked.count = 0;
		free(s->frames);
	}
	s->frames = frames;
	return status;
}

cprof_status cprof_do_stack_snapshot(cprof_thread *t, cprof_stack_snapshot_fn cb, unsigned flags,
				     void *client_data, const cprof_context *seed, size_t seed_size)
{
	cprof_session *s = cprof_session_current();
	struct walk w = { .session = s, .cb = cb, .flags = flags, .data = client_data };

	if (!s || !cb)
		return CPROF_E_INVALID_ARGUMENT;
	if (!t)
		return CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD;
	if (t != s->current.thread || !(s->current.sample || s->current.hit))
		return walk_one(&w, t, seed, seed_size);
	if (!s->current.walkable && !seed)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	return walk_one(&w, NULL, seed, seed_size);
}
