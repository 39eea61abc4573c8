/* SPDX-License-Identifier: MIT
 *
 * What is known of the call being delivered: arguments, result, locals, made
 * of what was captured when a callback first asks for them.
 */
#include "engine/calls/context.h"

#include <stdlib.h>
#include <string.h>

#include "engine/frames/frame.h"
#include "engine/frames/frame_values.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/shapes.h"
#include "engine/target/state.h"
#include "engine/target/variables.h"
#include "inspect/build.h"
#include "inspect/evaluate.h"
#include "inspect/members.h"
#include "inspect/shapes.h"
#include "inspect/statics.h"

/* ---- captures ---- */

/* The entry is copied for the leave, because the event goes. */
struct engine_entry *engine_entry_keep(const struct engine_hit *hit)
{
	uint32_t size = hit->fetched ? hit->event->fetched_size : 0;
	struct engine_entry *entry;

	if (!hit->regs.known)
		return NULL;
	entry = malloc(sizeof(*entry) + size);
	if (!entry)
		return NULL;
	entry->regs = hit->regs;
	entry->has_vector = hit->vector != NULL;
	if (hit->vector)
		entry->vector = *hit->vector;
	entry->site = hit->site;
	entry->fetched_size = size;
	if (size)
		memcpy(entry->fetched, hit->fetched, size);
	return entry;
}

static const char *name_address(void *ctx, uint64_t address)
{
	cprof_session *s = ctx;

	return engine_name_of_start(s, s->current.process, address);
}

/* What values of the hit's call are made of; `memory` only while the thread stands
 * still. A call watched by its return address may be ended by another function's site:
 * the registers there are right, what was fetched is the other function's. */
static struct cp_capture capture_of(cprof_session *s, const struct engine_hit *hit,
				    const struct engine_traced *traced)
{
	const struct engine_site *site = &s->calls->sites.items[hit->site];
	bool own = site->traced != ENGINE_NO_FUNCTION &&
		   s->calls->traced.items[site->traced] == traced;

	return (struct cp_capture){
		.regs = hit->regs,
		.vector = hit->vector,
		.fetched = own ? hit->fetched : NULL,
		.fetched_size = own && hit->fetched ? hit->event->fetched_size : 0,
		.fetches = site->list.fetches,
		.fetch_count = site->list.fetch_count,
		.memory = s->current.capture.held ? &s->current.process->memory : NULL,
		.shapes = engine_shapes(s->current.process),
		.bias = hit->image ? hit->image->bias : 0,
		.symbol = name_address,
		.symbol_ctx = s,
	};
}

static struct cp_capture capture_of_entry(cprof_session *s, const struct engine_entry *entry,
					  uint64_t bias)
{
	const struct engine_site *site = &s->calls->sites.items[entry->site];

	return (struct cp_capture){
		.regs = entry->regs,
		.vector = entry->has_vector ? &entry->vector : NULL,
		.fetched = entry->fetched,
		.fetched_size = entry->fetched_size,
		.fetches = site->list.fetches,
		.fetch_count = site->list.fetch_count,
		.shapes = engine_shapes(s->current.process),
		.bias = bias,
		.symbol = name_address,
		.symbol_ctx = s,
	};
}

/* ---- conditions ---- */

/* A call whose condition is evaluated while its thread stands. */
struct standing {
	cprof_session *session;
	const cprof_image *image; /* that the function is in, or NULL */
	const struct engine_traced *traced;
	const struct cp_capture *capture;
	struct cp_expression_env env;
};

static bool argument_named(const struct standing *st, const char *name, struct cp_thing *ret)
{
	const struct cp_signature *signature = st->traced->signature;
	struct cp_value_bytes bytes;
	const char *own;
	size_t i;

	for (i = 0; (own = cp_signature_name(signature, i)); i++) {
		if (strcmp(own, name) != 0)
			continue;
		if (!cp_signature_bytes(signature, st->capture, (int)i, st->env.values, &bytes))
			*ret = (struct cp_thing){ .type = cp_signature_type(signature, (int)i),
						  .error = CPROF_VALUE_UNAVAILABLE };
		else
			*ret = cp_thing_of(cp_signature_type(signature, (int)i), &bytes);
		return true;
	}
	return false;
}

/* As the function would have it: an argument, a static of its own, a member of
 * its object, what is outside. */
static CP_ERROR meant(void *ctx, const char *name, const char *file, struct cp_thing *ret)
{
	struct standing *st = ctx;
	cprof_session *s = st->session;
	struct cp_thing object;

	if (!file && argument_named(st, name, ret))
		return NULL;
	if (!file &&
	    engine_own_static(s->current.process, st->traced->signature,
			      cp_static_in(st->traced->signature, name),
			      s->current.thread ? s->current.thread->tid : 0, &st->env, ret))
		return NULL;
	if (!file && cp_signature_has_this(st->traced->signature) &&
	    argument_named(st, "this", &object) && cp_member_of_this(&st->env, &object, name, ret))
		return NULL;
	if (st->image &&
	    engine_outer_thing(s->current.process, st->image, st->traced->function->linkage_name,
			       name, file, s->current.thread ? s->current.thread->tid : 0, &st->env,
			       ret))
		return NULL;
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no argument %s", name);
}

static CP_ERROR type_named(void *ctx, const char *name, const struct cp_type **ret)
{
	const struct standing *st = ctx;

	return st->env.shapes->find_type(st->env.shapes->ctx, name, ret);
}

static const char *symbol_of(void *ctx, uint64_t address)
{
	const struct standing *st = ctx;

	return name_address(st->session, address);
}

static CP_ERROR holds_now(cprof_session *s, const struct engine_traced *t, const cprof_image *image,
			  const struct cp_capture *capture, enum cp_truth *ret)
{
	const struct cp_value_limits limits = engine_value_limits(s);
	struct standing st = { s, image, t, capture, { 0 } };

	if (!capture->memory || !capture->shapes)
		return NULL;
	st.env = (struct cp_expression_env){ .arena = &s->calls->arena->memory,
					     .memory = capture->memory,
					     .variable = meant,
					     .type = type_named,
					     .symbol = symbol_of,
					     .ctx = &st,
					     .values = s->calls->arena,
					     .limits = &limits,
					     .shapes = capture->shapes };
	return cp_expression_holds(s->calls->condition, &st.env, ret);
}

/* The first reason is told at the end. */
static void note_why(struct engine_calls *c, const char *why)
{
	if (!c->untold_why)
		c->untold_why = strdup(why);
}

static enum cp_truth condition_holds(cprof_session *s, const struct engine_hit *hit)
{
	struct engine_calls *c = s->calls;
	const struct engine_traced *t = c->traced.items[c->sites.items[hit->site].traced];
	struct cp_capture capture = capture_of(s, hit, t);
	enum cp_truth truth = CP_UNKNOWN;
	const cprof_value *arguments;
	struct cp_error *err = NULL;
	size_t count = 0;

	if (t->condition_lacks) {
		note_why(c, t->condition_lacks);
	} else if (t->signature && t->condition_held) {
		err = holds_now(s, t, hit->image, &capture, &truth);
	} else if (t->signature) {
		arguments = cp_signature_arguments(t->signature, &capture, c->arena, &count);
		truth = cp_condition_holds(c->condition, arguments, count);
	}
	if (err)
		note_why(c, err->what);
	cp_error_free(err);
	cp_value_arena_reset(c->arena);
	c->told += truth != CP_UNKNOWN;
	c->untold += truth == CP_UNKNOWN;
	return truth;
}

bool engine_condition_refuses(cprof_session *s, const struct engine_hit *hit, uint32_t *flags,
			      uint32_t unknown)
{
	enum cp_truth truth = condition_holds(s, hit);

	*flags |= truth == CP_UNKNOWN ? unknown : 0;
	s->calls->rejected_condition += truth == CP_FALSE;
	return truth != CP_TRUE;
}

/* ---- values ---- */

bool engine_context_can_read(struct engine_context *x)
{
	x->error = x->session->introspection && x->signature ? CPROF_OK
							     : CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	/* In the middle of a function only debug information tells anything. */
	if (!x->error && x->frame && !cp_signature_is_described(x->signature))
		x->error = CPROF_E_NOT_FOUND;
	return x->error == CPROF_OK;
}

void engine_context_arguments(struct engine_context *x)
{
	struct cp_capture capture;
	uint64_t bias;

	if (x->have_arguments)
		return;
	x->have_arguments = true;
	if (x->frame) {
		engine_frame_values(x, false, &x->arguments, &x->argument_count);
		return;
	}
	if (!(x->traced->flags & CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT) ||
	    (x->leave && !x->entry))
		return;
	bias = x->hit->image ? x->hit->image->bias : 0;
	capture = x->leave ? capture_of_entry(x->session, x->entry, bias)
			   : capture_of(x->session, x->hit, x->traced);
	x->arguments = cp_signature_shown(x->signature, &capture, x->arena, &x->argument_count);
}

/* Reads the arguments once more, by the registers of the entry, from memory as it is
 * now. */
static void read_now(struct engine_context *x)
{
	struct cp_capture capture;
	size_t count = 0;

	if (x->have_now)
		return;
	x->have_now = true;
	if (!x->leave || !x->entry || !x->session->current.capture.held ||
	    !(x->traced->flags & CPROF_CALL_INSTRUMENTATION_CHANGES))
		return;
	capture = capture_of_entry(x->session, x->entry, x->hit->image ? x->hit->image->bias : 0);
	cp_capture_later(&capture, &x->session->current.process->memory, x->arena);
	x->now = cp_signature_shown(x->signature, &capture, x->arena, &count);
	if (count != x->argument_count)
		x->now = NULL;
}

void engine_context_result(struct engine_context *x)
{
	struct cp_capture capture, entry = { 0 };

	if (x->have_result)
		return;
	x->have_result = true;
	if (!x->leave || !x->hit->regs.known)
		return;
	capture = capture_of(x->session, x->hit, x->traced);
	if (x->entry)
		entry = capture_of_entry(x->session, x->entry, capture.bias);
	x->result = cp_signature_result(x->signature, x->entry ? &entry : NULL, &capture, x->arena);
}

/* Link-time address of the exit whose locals were captured, or 0. */
static uint64_t exit_with_locals(const struct engine_context *x)
{
	if (!x->leave || !x->hit->regs.known ||
	    !(x->traced->flags & CPROF_CALL_INSTRUMENTATION_LOCALS))
		return 0;
	return x->session->calls->sites.items[x->hit->site].address;
}

void engine_context_locals(struct engine_context *x)
{
	struct cp_capture capture;

	if (x->have_locals)
		return;
	x->have_locals = true;
	if (x->frame) {
		engine_frame_values(x, true, &x->locals, &x->local_count);
		return;
	}
	if (!exit_with_locals(x))
		return;
	capture = capture_of(x->session, x->hit, x->traced);
	capture.entry = x->entry ? &x->entry->regs : NULL;
	x->locals = cp_signature_locals(x->signature, &capture,
					(struct cp_vaddr){ exit_with_locals(x) }, x->arena,
					&x->local_count);
}

bool engine_context_bytes(struct engine_context *x, int position, struct cp_value_bytes *ret)
{
	struct cp_capture capture;
	uint64_t bias;

	if (x->frame)
		return position >= 0 && engine_frame_bytes(x, false, (size_t)position, ret);
	if (position < 0 ? !x->leave : x->leave && !x->entry)
		return false;
	bias = x->hit->image ? x->hit->image->bias : 0;
	capture = position < 0 || !x->leave ? capture_of(x->session, x->hit, x->traced)
					    : capture_of_entry(x->session, x->entry, bias);
	return cp_signature_bytes(x->signature, &capture, position, x->arena, ret);
}

bool engine_context_local_bytes(struct engine_context *x, size_t position,
				struct cp_value_bytes *ret)
{
	struct cp_capture capture;

	if (x->frame)
		return engine_frame_bytes(x, true, position, ret);
	if (!exit_with_locals(x))
		return false;
	capture = capture_of(x->session, x->hit, x->traced);
	return cp_signature_local_bytes(x->signature, &capture,
					(struct cp_vaddr){ exit_with_locals(x) }, position,
					x->arena, ret);
}

/* ---- what a profiler may ask ---- */

/* What the handle stands for; NULL: its callback is over. */
static struct engine_context *context_of(const cprof_call_context *handle)
{
	return engine_live(ENGINE_LIVE_CONTEXT, handle);
}

/* The context of a handle; NULL also when it has no values. */
static struct engine_context *readable(const cprof_call_context *handle)
{
	struct engine_context *x = context_of(handle);

	return x && engine_context_can_read(x) ? x : NULL;
}

size_t cprof_call_context_argument_count(cprof_call_context *handle)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return 0;
	engine_context_arguments(x);
	return x->argument_count;
}

const cprof_value *cprof_call_context_argument(cprof_call_context *handle, size_t position)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return NULL;
	engine_context_arguments(x);
	if (position < x->argument_count)
		return &x->arguments[position];
	x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

const cprof_value *cprof_call_context_changed(cprof_call_context *handle, size_t position)
{
	const cprof_value *before = cprof_call_context_argument(handle, position);
	struct engine_context *x = context_of(handle);
	struct cp_value_bytes own;

	if (!before)
		return NULL;
	read_now(x);
	if (!x->now || !engine_context_bytes(x, (int)position, &own))
		own = (struct cp_value_bytes){ .address = UINT64_MAX };
	if (x->now && cp_value_leads_elsewhere(before, &x->now[position], &own))
		return &x->now[position];
	x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

const cprof_value *cprof_call_context_result(cprof_call_context *handle)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return NULL;
	engine_context_result(x);
	if (!x->result)
		x->error = CPROF_E_NOT_FOUND;
	return x->result;
}

size_t cprof_call_context_local_count(cprof_call_context *handle)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return 0;
	engine_context_locals(x);
	return x->local_count;
}

const cprof_value *cprof_call_context_local(cprof_call_context *handle, size_t position)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return NULL;
	engine_context_locals(x);
	if (position < x->local_count)
		return &x->locals[position];
	x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

cprof_status cprof_profiler_call_context_error(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	return x ? x->error : CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
}

/* ---- the call ---- */

cprof_thread *cprof_call_context_thread(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	if (!x)
		return NULL;
	return x->frame ? x->frame->thread : x->session->current.thread;
}

cprof_addr cprof_call_context_caller(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	return x && x->call ? x->call->caller : 0;
}

cprof_addr cprof_call_context_cfa(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	if (!x)
		return 0;
	return x->call ? (x->call->sp & ~(uint64_t)CP_SHADOW_STUB) + cp_arch_host()->ret_size
		       : x->frame->frame->cfa.v;
}

uint32_t cprof_call_context_depth(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	return x && x->call ? x->call->depth : 0;
}

uint64_t cprof_call_context_timestamp(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	return x ? x->now_ns : 0;
}

uint64_t cprof_call_context_enter_timestamp(const cprof_call_context *handle)
{
	const struct engine_context *x = context_of(handle);

	return x ? x->enter_ns : 0;
}
