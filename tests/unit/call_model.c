/* SPDX-License-Identifier: MIT */
#include "call_model.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "record_model.h"

#define VALUES_MAX 64

struct made {
	uint64_t seed;
	cprof_value values[VALUES_MAX];
	size_t count;
	char texts[VALUES_MAX][32];
};

static uint64_t next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return cp_hash_u64(*state);
}

/* ---- in words ---- */

static void value_text(struct cp_buf *out, const cprof_value *v)
{
	uint32_t i;

	cp_buf_printf(out, " (%u %u %u %d %d %u x%u %s:%s @%llx", v->kind, v->source, v->error,
		      v->cut, v->guessed, v->size, v->repeats, v->name, v->type,
		      (unsigned long long)v->address);
	if (v->symbol)
		cp_buf_printf(out, " %s", v->symbol);
	if (v->kind == CPROF_VALUE_STRING || v->kind == CPROF_VALUE_RAW ||
	    v->kind == CPROF_VALUE_LONG_DOUBLE)
		cp_buf_printf(out, " %u'%.*s'", v->u.text.length, (int)v->u.text.length,
			      v->u.text.bytes);
	else if (v->kind == CPROF_VALUE_FLOAT)
		cp_buf_printf(out, " %a", v->u.f);
	else if (v->kind == CPROF_VALUE_INT128 || v->kind == CPROF_VALUE_UINT128)
		cp_buf_printf(out, " %llx %llx", (unsigned long long)v->u.wide[0],
			      (unsigned long long)v->u.wide[1]);
	else if (v->kind && (v->kind <= CPROF_VALUE_CHAR || v->kind == CPROF_VALUE_ENUM ||
			     v->kind == CPROF_VALUE_POINTER))
		cp_buf_printf(out, " %llx", (unsigned long long)v->u.u);
	for (i = 0; v->items && i < v->count; i++)
		value_text(out, &v->items[i]);
	cp_buf_str(out, ")");
}

/* `function` and the others are names. */
static void event_text(struct cp_buf *out, const struct cp_record_call *c, int tid,
		       const char *function, const char *target, const char *stack, int by)
{
	uint32_t i;

	cp_buf_printf(out, "%llu %u %u %d %s %u > %s | %s %u %llu %llu~%llu %llu %u %u",
		      (unsigned long long)c->ts_ns, c->kind, c->flags, tid, function, c->depth,
		      target, stack, c->count, (unsigned long long)c->duration_ns,
		      (unsigned long long)c->overhead_ns, (unsigned long long)c->uncertain_ns,
		      (unsigned long long)c->cpu_ns, c->value_count ? c->result_count : 0,
		      c->value_count ? c->changed_count : 0);
	if (c->kind == CP_RECORD_INHERITED)
		cp_buf_printf(out, " by %d", by);
	for (i = 0; i < c->value_count; i++)
		value_text(out, &c->values[i]);
	cp_buf_str(out, "\n");
}

static const char *name_of(const struct cp_record *r, uint32_t location)
{
	const struct cp_record_location *l = cp_record_get_location(r, location);

	return l && l->frame_count ? l->frames[l->frame_count - 1].function : "-";
}

struct telling {
	const struct cp_record *r;
	struct cp_buf *out;
};

static bool tell(void *ctx, const struct cp_record_call *c)
{
	const struct telling *t = ctx;
	const char *stack = "-";
	const uint32_t *locations;
	size_t count;

	if (c->stack != CP_RECORD_NONE) {
		locations = cp_record_get_stack(t->r, c->stack, &count, NULL);
		stack = count ? name_of(t->r, locations[0]) : "empty";
	}
	event_text(t->out, c, cp_record_get_thread(t->r, c->thread)->tid,
		   name_of(t->r, c->function), name_of(t->r, c->target), stack,
		   c->entered_by == CP_RECORD_NONE
			   ? -1
			   : cp_record_get_thread(t->r, c->entered_by)->tid);
	return true;
}

void call_text(const struct cp_record *r, struct cp_buf *out)
{
	struct telling telling = { r, out };

	cp_error_free(cp_record_each_call(r, tell, &telling));
}

/* ---- made up ---- */

static const char *const names[] = { "n", "host", "point", "x", "", "this", "mode" };
static const char *const types[] = { "int", "char *", "struct point", "double", "", "enum mode" };

static void make_content(struct made *m, cprof_value *v, char *text)
{
	uint64_t r = next(&m->seed);

	switch (v->kind) {
	case CPROF_VALUE_STRING:
	case CPROF_VALUE_RAW:
	case CPROF_VALUE_LONG_DOUBLE:
		*text = 0;
		if (r % 5)
			snprintf(text, 32, "host-%d", (int)(r % 23));
		v->u.text.bytes = text;
		v->u.text.length = (uint32_t)strlen(text);
		v->cut = r % 7 == 0;
		break;
	case CPROF_VALUE_FLOAT:
		v->u.f = r % 3 ? (double)(r % 1000) / 8 : (double)r * 1e-9;
		break;
	case CPROF_VALUE_ERROR:
		v->error = 1 + r % 5;
		break;
	case CPROF_VALUE_ENUM:
	case CPROF_VALUE_POINTER:
		v->symbol = r % 2 ? "NORTH" : NULL;
		v->u.u = r % 4;
		break;
	default:
		v->u.wide[0] = r % 6 ? r % 300 : r;
		v->u.wide[1] = next(&m->seed);
	}
	v->address = r % 11 == 0 ? 0x7ffd0000 + r % 4096 : 0;
}

/* `count` values in a row, with items as long as there is room. */
static const cprof_value *make_values(struct made *m, uint32_t count, unsigned depth)
{
	size_t first = m->count, i;

	m->count += count;
	for (i = first; i < first + count; i++) {
		uint64_t r = next(&m->seed);
		cprof_value *v = &m->values[i];

		size_t shape = r / 64 % 40; /* names and types come again and again */

		*v = (cprof_value){ .kind = (uint8_t)(shape % (CPROF_VALUE_VOID + 1)),
				    .source = shape % 4,
				    .guessed = shape % 16 == 0,
				    .size = 4 * (shape % 3),
				    .repeats = r / 4096 % 8 ? 0 : 12,
				    .name = names[shape % 7],
				    .type = types[shape % 6] };
		make_content(m, v, m->texts[i]);
		if (v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_ARRAY ||
		    (v->kind == CPROF_VALUE_POINTER && r / 1048576 % 2))
			v->count = (uint32_t)(r / 4194304 % 4);
		if (depth == 4 || m->count + v->count > VALUES_MAX)
			v->count = 0;
		if (v->count)
			v->items = make_values(m, v->count, depth + 1);
	}
	return m->values + first;
}

static void resolve(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *out)
{
	char name[32];
	struct cp_record_frame frames[] = { { .function = "inlined", .inlined = true },
					    { .function = name } };

	(void)ctx;
	(void)key;
	snprintf(name, sizeof(name), "f%d", (int)(address / 16));
	cp_record_name_frame(out, &frames[0]);
	cp_record_name_frame(out, &frames[1]);
}

struct stack {
	struct {
		uint64_t ts;
		uint32_t function;
	} frames[16];
	uint32_t depth;
};

static void add_invoker(struct cp_record_call *c, uint64_t r)
{
	unsigned by = r % 8;

	c->flags |= (uint8_t)(by << 2);
	if (by == CPROF_INVOKER_SIGNAL)
		c->count = (uint32_t)(r >> 8);
	else if (by && r & 8)
		c->target = (uint32_t)(r / 16 % CALL_MODEL_FUNCTIONS);
}

/* The next event of a thread: mostly what can come there. */
static void make_event(struct made *m, struct stack *stack, uint64_t ts, struct cp_record_call *c)
{
	uint64_t r = next(&m->seed);
	uint32_t count;

	*c = (struct cp_record_call){ .ts_ns = ts,
				      .depth = stack->depth,
				      .function = (uint32_t)(r / 16 % CALL_MODEL_FUNCTIONS),
				      .target = CP_RECORD_NONE,
				      .stack = CP_RECORD_NONE };
	m->count = 0;
	if (r % 64 == 0) {
		c->kind = CP_RECORD_DISARMED;
		c->count = (uint32_t)(r >> 40);
		return;
	}
	if (r % 64 == 32) {
		c->kind = r & 64 ? CP_RECORD_THROW : CP_RECORD_CATCH;
		c->stack = c->kind == CP_RECORD_THROW && r & 128 ? 0 : CP_RECORD_NONE;
		if (c->kind == CP_RECORD_CATCH)
			c->count = r & 128 ? CP_RECORD_NONE : (uint32_t)(r >> 40);
		c->values = make_values(m, 1, 0);
		c->value_count = 1;
		return;
	}
	if (r % 64 == 8) {
		c->kind = CP_RECORD_INHERITED;
		c->entered_by = (uint32_t)(r / 64 % (CALL_MODEL_THREADS + 1));
		if (c->entered_by == CALL_MODEL_THREADS)
			c->entered_by = CP_RECORD_NONE;
		c->depth = (uint32_t)(r / 1024 % 20);
		c->duration_ns = r >> 40;
		return;
	}
	if (r % 64 == 16) {
		c->kind = CP_RECORD_WAIT;
		c->flags = (uint8_t)(r / 64 % 3);
		c->stack = r & 256 ? 0 : CP_RECORD_NONE;
		c->duration_ns = r >> 40;
		c->values = make_values(m, 2, 0);
		c->value_count = 2;
		return;
	}
	if (r % 64 == 48) {
		c->kind = (uint8_t)(CP_RECORD_ALLOCATED + r / 64 % 3);
		c->stack = r & 512 ? 0 : CP_RECORD_NONE;
		c->value_count =
			c->kind == CP_RECORD_FREED ? 1 : c->kind - CP_RECORD_ALLOCATED + 2u;
		c->values = make_values(m, c->value_count, 0);
		if (c->kind == CP_RECORD_MOVED)
			c->duration_ns = r >> 40;
		return;
	}
	count = (uint32_t)(r / 256 % 5);
	if (stack->depth < 15 && r % 2) {
		c->kind = CP_RECORD_ENTER;
		c->stack = r % 32 == 1 ? 0 : CP_RECORD_NONE;
		stack->frames[stack->depth].ts = ts;
		stack->frames[stack->depth++].function = c->function;
	} else {
		c->kind = r % 32 == 2 ? CP_RECORD_UNWIND : CP_RECORD_LEAVE;
		if (r % 32 == 4 || r % 32 == 6)
			c->kind = CP_RECORD_TAIL_CALL;
		if (c->kind == CP_RECORD_TAIL_CALL && r % 32 == 4)
			c->target = (uint32_t)(r / 32 % CALL_MODEL_FUNCTIONS);
		c->flags = c->kind == CP_RECORD_UNWIND && r / 32 % 2 ? CP_RECORD_CALL_ENDED : 0;
		if (stack->depth) {
			c->depth = --stack->depth;
			c->function = stack->frames[c->depth].function;
			c->duration_ns = ts - stack->frames[c->depth].ts;
		}
		c->overhead_ns = c->duration_ns / 2 + r % 100;
		c->uncertain_ns = r % 5 ? 0 : r % 100000;
		c->cpu_ns = r % 9 ? 0 : r % 10000;
	}
	if (c->kind <= CP_RECORD_LEAVE && count) {
		c->values = make_values(m, count, 0);
		c->value_count = count;
		c->result_count = c->kind == CP_RECORD_LEAVE && r / 4096 % 2;
		c->flags = c->result_count ? CP_RECORD_CALL_LOCALS : 0;
		if (c->kind == CP_RECORD_LEAVE)
			c->changed_count = (uint32_t)(r / 8192 % (count - c->result_count + 1));
	}
	if (c->kind == CP_RECORD_ENTER)
		add_invoker(c, r >> 20);
}

/* Waits until it is written, or chunks would be put together. */
static void write_chunk(struct cp_record_writer *w)
{
	uint64_t before = cp_record_bytes(w);

	cp_record_flush(w);
	while (cp_record_bytes(w) == before && !cp_record_error(w))
		sched_yield();
}

void call_model_write(int fd, uint64_t seed, size_t count, struct cp_buf *text)
{
	struct cp_record_info info = model_info;
	struct cp_record_resolver resolver = { resolve, NULL };
	struct stack stacks[CALL_MODEL_THREADS] = { 0 };
	struct made m = { .seed = seed };
	uint64_t ts = info.start_ns;
	struct cp_record_writer *w;
	struct cp_error *err;
	uint32_t i;
	size_t n;

	info.holds = CP_RECORD_HAS_CALLS | CP_RECORD_HAS_ARGUMENTS;
	err = cp_record_writer_create(fd, &info, &resolver, &w);
	if (err)
		abort();
	cp_record_process(w, &(struct cp_record_process){ .pid = 1, .start_ns = seed });
	for (i = 0; i < CALL_MODEL_THREADS; i++)
		cp_record_thread(w, &(struct cp_record_thread){ .tid = (int)i, .start_ns = 1 });
	for (i = 0; i < CALL_MODEL_FUNCTIONS; i++)
		cp_record_location(w, CP_RECORD_NONE, (uint64_t)i * 16, 0);
	cp_record_stack(w, &(uint32_t){ 3 }, 1, 0);
	for (n = 0; n < count; n++) {
		uint32_t thread = (uint32_t)(next(&m.seed) / 4 % CALL_MODEL_THREADS);
		char function[16], target[16] = "-";
		struct cp_record_call c;

		ts += 5000 + next(&m.seed) % 20000;
		make_event(&m, &stacks[thread], ts, &c);
		c.thread = thread;
		snprintf(function, sizeof(function), "f%u", c.function);
		if (c.target != CP_RECORD_NONE)
			snprintf(target, sizeof(target), "f%u", c.target);
		if (text)
			event_text(text, &c, (int)thread, function, target,
				   c.stack == 0 ? "f3" : "-", (int)c.entered_by);
		cp_record_call(w, &c);
		if (n % CALL_MODEL_CHUNK == CALL_MODEL_CHUNK - 1)
			write_chunk(w);
	}
	cp_record_writer_destroy(w, &err);
	if (err)
		abort();
}
