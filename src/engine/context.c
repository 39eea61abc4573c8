/* SPDX-License-Identifier: MIT
 *
 * What is known of the call being delivered: arguments, result, locals, made
 * of what was captured when a callback first asks for them.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"

/* What the getters give away: the bytes follow. */
struct buffer {
	size_t size;
	_Alignas(16) uint8_t bytes[];
};

/* ---- captures ---- */

/* Kept from the entry to the leave: a copy, because the event goes. */
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
	const struct engine_text *text = engine_find_text(s->current.process, address);
	const cprof_function *f =
		text ? engine_function_at(s, text->image, address - text->image->bias) : NULL;

	return f && f->start == address ? cprof_function_name(f) : NULL;
}

/* What values are made of; `memory` only while the thread stands still. A call
 * watched by its return address may be ended by another function's site: that
 * one's registers are right, what it fetched is not ours. */
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
		.bias = bias,
		.symbol = name_address,
		.symbol_ctx = s,
	};
}

enum cp_truth engine_condition_holds(cprof_session *s, const struct engine_hit *hit)
{
	struct engine_calls *c = s->calls;
	const struct engine_traced *t = c->traced.items[c->sites.items[hit->site].traced];
	struct cp_capture capture = capture_of(s, hit, t);
	const cprof_value *arguments;
	enum cp_truth truth;
	size_t count = 0;

	if (!t->signature)
		return CP_UNKNOWN;
	arguments = cp_signature_arguments(t->signature, &capture, c->arena, &count);
	truth = cp_condition_holds(c->condition, arguments, count);
	cp_value_arena_reset(c->arena);
	return truth;
}

/* ---- values ---- */

static bool can_read(cprof_call_context *x)
{
	x->error = x->session->calls->introspection && x->traced->signature
			   ? CPROF_OK
			   : CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	return x->error == CPROF_OK;
}

static void read_arguments(cprof_call_context *x)
{
	struct cp_value_arena *arena = x->session->calls->arena;
	uint64_t bias = x->hit->image ? x->hit->image->bias : 0;
	struct cp_capture capture;

	if (x->have_arguments)
		return;
	x->have_arguments = true;
	if (!(x->traced->flags & CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT) ||
	    (x->leave && !x->entry))
		return;
	capture = x->leave ? capture_of_entry(x->session, x->entry, bias)
			   : capture_of(x->session, x->hit, x->traced);
	x->arguments =
		cp_signature_arguments(x->traced->signature, &capture, arena, &x->argument_count);
}

bool engine_holds_exit(const struct engine_traced *t, const struct engine_site *site)
{
	return t->flags & CPROF_CALL_INSTRUMENTATION_CHANGES && t->signature &&
	       (site->kind == ENGINE_SITE_EXIT || site->kind == ENGINE_SITE_RETURN);
}

/* The arguments once more, from the registers of the entry and the memory of
 * now. */
static void read_now(cprof_call_context *x)
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
	capture.fetched = NULL;
	capture.fetched_size = 0;
	capture.memory = &x->session->current.process->memory;
	x->now = cp_signature_arguments(x->traced->signature, &capture, x->session->calls->arena,
					&count);
	if (count != x->argument_count)
		x->now = NULL;
}

static void read_result(cprof_call_context *x)
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
	x->result = cp_signature_result(x->traced->signature, x->entry ? &entry : NULL, &capture,
					x->session->calls->arena);
}

static void read_locals(cprof_call_context *x)
{
	const struct engine_site *site = &x->session->calls->sites.items[x->hit->site];
	struct cp_capture capture;

	if (x->have_locals)
		return;
	x->have_locals = true;
	if (!x->leave || !x->hit->regs.known || !site->address ||
	    !(x->traced->flags & CPROF_CALL_INSTRUMENTATION_LOCALS))
		return;
	capture = capture_of(x->session, x->hit, x->traced);
	x->locals = cp_signature_locals(x->traced->signature, &capture,
					(struct cp_vaddr){ site->address },
					x->session->calls->arena, &x->local_count);
}

size_t cprof_call_context_argument_count(cprof_call_context *x)
{
	if (!can_read(x))
		return 0;
	read_arguments(x);
	return x->argument_count;
}

const cprof_value *cprof_call_context_argument(cprof_call_context *x, size_t position)
{
	if (position < cprof_call_context_argument_count(x))
		return &x->arguments[position];
	if (!x->error)
		x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

const cprof_value *cprof_call_context_changed(cprof_call_context *x, size_t position)
{
	const cprof_value *before = cprof_call_context_argument(x, position);

	if (!before)
		return NULL;
	read_now(x);
	if (x->now && cp_value_leads_elsewhere(before, &x->now[position]))
		return &x->now[position];
	x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

const cprof_value *cprof_call_context_result(cprof_call_context *x)
{
	if (!can_read(x))
		return NULL;
	read_result(x);
	if (!x->result)
		x->error = CPROF_E_NOT_FOUND;
	return x->result;
}

size_t cprof_call_context_local_count(cprof_call_context *x)
{
	if (!can_read(x))
		return 0;
	read_locals(x);
	return x->local_count;
}

const cprof_value *cprof_call_context_local(cprof_call_context *x, size_t position)
{
	if (position < cprof_call_context_local_count(x))
		return &x->locals[position];
	if (!x->error)
		x->error = CPROF_E_NOT_FOUND;
	return NULL;
}

/* ---- buffers ---- */

static void *new_buffer(cprof_call_context *x, const void *bytes, size_t size)
{
	struct buffer *b = malloc(sizeof(*b) + size);

	if (!b) {
		x->error = CPROF_E_OUT_OF_MEMORY;
		return NULL;
	}
	b->size = size;
	if (size)
		memcpy(b->bytes, bytes, size);
	x->error = CPROF_OK;
	return b->bytes;
}

/* Position -1 is the result; others count `this`. */
static void *captured_bytes(cprof_call_context *x, int position)
{
	uint64_t bias = x->hit->image ? x->hit->image->bias : 0;
	struct cp_capture capture;
	const uint8_t *bytes;
	size_t size;

	if (!can_read(x))
		return NULL;
	x->error = CPROF_E_NOT_FOUND;
	if (position < 0 ? !x->leave : x->leave && !x->entry)
		return NULL;
	capture = position < 0 || !x->leave ? capture_of(x->session, x->hit, x->traced)
					    : capture_of_entry(x->session, x->entry, bias);
	if (!cp_signature_bytes(x->traced->signature, &capture, position, x->session->calls->arena,
				&bytes, &size))
		return NULL;
	return new_buffer(x, bytes, size);
}

void *cprof_profiler_call_context_get_this(cprof_call_context *x)
{
	if (can_read(x) && !cp_signature_has_this(x->traced->signature)) {
		x->error = CPROF_E_NOT_FOUND;
		return NULL;
	}
	return captured_bytes(x, 0);
}

void *cprof_profiler_call_context_get_argument(cprof_call_context *x, uint32_t position)
{
	if (!can_read(x))
		return NULL;
	if (position >= INT32_MAX) {
		x->error = CPROF_E_NOT_FOUND;
		return NULL;
	}
	return captured_bytes(x, (int)position + cp_signature_has_this(x->traced->signature));
}

void *cprof_profiler_call_context_get_result(cprof_call_context *x)
{
	return captured_bytes(x, -1);
}

/* A local has no bytes of its own in the capture: those of its value, for
 * what is a number, or its text. */
void *cprof_profiler_call_context_get_local(cprof_call_context *x, uint32_t position)
{
	const cprof_value *v = cprof_call_context_local(x, position);

	if (!v)
		return NULL;
	switch ((cprof_value_kind)v->kind) {
	case CPROF_VALUE_INT:
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_ENUM:
	case CPROF_VALUE_POINTER:
		return new_buffer(x, &v->u, v->size && v->size <= 8 ? v->size : 8);
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		return new_buffer(x, v->u.wide, sizeof(v->u.wide));
	case CPROF_VALUE_FLOAT: {
		float narrow = (float)v->u.f;

		return v->size == sizeof(narrow) ? new_buffer(x, &narrow, sizeof(narrow))
						 : new_buffer(x, &v->u.f, sizeof(v->u.f));
	}
	case CPROF_VALUE_STRING:
	case CPROF_VALUE_RAW:
		return new_buffer(x, v->u.text.bytes, v->u.text.length);
	case CPROF_VALUE_ERROR:
	case CPROF_VALUE_LONG_DOUBLE:
	case CPROF_VALUE_COMPLEX:
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_VOID:
		break;
	}
	x->error = v->error == CPROF_VALUE_UNREADABLE ? CPROF_E_UNREADABLE : CPROF_E_NOT_SUPPORTED;
	return NULL;
}

void cprof_profiler_call_context_free_buffer(void *buffer)
{
	if (buffer)
		free((uint8_t *)buffer - offsetof(struct buffer, bytes));
}

size_t cprof_profiler_buffer_size(const void *buffer)
{
	const struct buffer *b;

	if (!buffer)
		return 0;
	b = (const void *)((const uint8_t *)buffer - offsetof(struct buffer, bytes));
	return b->size;
}

cprof_status cprof_profiler_call_context_error(const cprof_call_context *x)
{
	return x->error;
}

/* ---- the call ---- */

cprof_thread *cprof_call_context_thread(const cprof_call_context *x)
{
	return x->session->current.thread;
}

cprof_addr cprof_call_context_caller(const cprof_call_context *x)
{
	return x->call->caller;
}

cprof_addr cprof_call_context_cfa(const cprof_call_context *x)
{
	return x->call->sp + cp_arch_host()->ret_size;
}

uint32_t cprof_call_context_depth(const cprof_call_context *x)
{
	return x->call->depth;
}
