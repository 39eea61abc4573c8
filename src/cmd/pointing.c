/* SPDX-License-Identifier: MIT
 *
 * Who points at something. All words of all memory that was ever written to are looked at;
 * those that lead there are told with the variable, frame or mapping that they are in.
 */
#include "cmd/pointing.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/regions.h"
#include "cmd/whereabouts.h"
#include "inspect/evaluate.h"
#include "inspect/number.h"

#define WORD 8u
#define FOUND_MAX 100000u

struct pointing {
	struct cp_inspect *i;
	const char *text;
	uint64_t low, size; /* what is pointed at */
	CP_VEC(struct pointer {
		uint64_t address;
		uint64_t offset;
	})
	found;
	uint64_t count; /* also those that there was no room for */
	uint64_t unused; /* below stack pointers */
	uint64_t lacking; /* bytes that were too many */
};

/* ---- what is pointed at ---- */

/* A pointer means where it leads, an array or a structure itself, a number an address. */
static CP_ERROR target_of(struct cp_inspect *i, const char *text, uint64_t *low_ret,
			  uint64_t *size_ret)
{
	struct cp_condition *expression = NULL;
	const struct cp_type *t;
	struct cp_number number;
	struct cp_error *err;
	struct cp_thing thing;

	CP_TRY(cp_expression_parse(text, &expression));
	err = cp_expression_evaluate(expression, &i->in.env, &thing);
	cp_condition_destroy(expression);
	if (err)
		return err;
	thing = cp_thing_referred(&i->in.env, thing);
	t = cp_type_strip(thing.type);
	if (t && thing.in_memory && t->kind != CP_TYPE_POINTER) {
		t = cp_type_complete(cp_type_image(t), t);
		*low_ret = thing.address;
		*size_ret = t->size ? t->size : 1;
		return NULL;
	}
	number = cp_number_of(&i->in.env, &thing);
	if (thing.error || number.kind != CP_NUMBER_INTEGER)
		return cp_error_new(CP_ERR_USAGE, 0, "it can't be read, or is no address");
	t = t && t->kind == CP_TYPE_POINTER && t->target ? cp_type_strip(t->target) : NULL;
	t = t ? cp_type_complete(cp_type_image(t), t) : NULL;
	*low_ret = (uint64_t)number.i;
	*size_ret = t && t->size ? t->size : 1;
	if (!*low_ret)
		return cp_error_new(CP_ERR_USAGE, 0, "it is NULL");
	return NULL;
}

/* ---- looking ---- */

static void look_at(void *ctx, uint64_t address, const uint8_t *bytes, size_t size)
{
	struct pointing *p = ctx;
	uint64_t word;
	size_t at;

	for (at = 0; at + WORD <= size; at += WORD) {
		memcpy(&word, bytes + at, WORD);
		if (word - p->low >= p->size)
			continue;
		p->count++;
		if (p->found.count < FOUND_MAX)
			cp_vec_push(&p->found, (struct pointer){ address + at, word - p->low });
	}
}

static int by_address(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Where threads are, of those that are known without a stop. */
static void find_sleepers(struct cp_inspect *i, struct cp_leaves *leaves)
{
	struct cp_threads all = { 0 };
	struct cp_leaf leaf;
	const pid_t *tid;

	cp_error_free(cp_threads_choose(&i->in, "all", &all));
	cp_vec_for_each(&all.list, tid)
		if (i->in.core ? cp_leaf_of_core(i->in.core, *tid, &leaf)
			       : cp_leaf_asleep(i->in.pid, *tid, &leaf) == CP_LEAF_FOUND)
			cp_vec_push(&leaves->list, leaf);
	cp_vec_free(&all.list);
}

/* ---- showing ---- */

static const char *kind_name(enum cp_whereabouts_kind kind)
{
	static const char *const names[] = {
		[CP_WHERE_STATIC] = "static",	[CP_WHERE_THREAD_LOCAL] = "thread_local",
		[CP_WHERE_STACK] = "stack",	[CP_WHERE_UNUSED] = "unused",
		[CP_WHERE_THREAD] = "thread",	[CP_WHERE_HEAP] = "heap",
		[CP_WHERE_MAPPING] = "mapping",
	};

	return names[kind];
}

static void add(struct cp_buf *out, const char *text)
{
	cp_escape(out, CP_ESCAPE_TERMINAL, text, strlen(text));
}

static void add_thread(struct cp_inspect *i, struct cp_buf *out, pid_t tid)
{
	char name[64];

	cp_threads_name(&i->in, tid, name);
	cp_buf_printf(out, "thread %d", (int)tid);
	if (*name) {
		cp_buf_str(out, " \"");
		add(out, name);
		cp_buf_u8(out, '"');
	}
}

static void add_place(struct cp_inspect *i, struct cp_buf *out, const struct cp_whereabouts *w)
{
	if (w->variable)
		add(out, w->variable);
	switch (w->kind) {
	case CP_WHERE_THREAD_LOCAL:
		cp_buf_str(out, " of ");
		add_thread(i, out, w->tid);
		break;
	case CP_WHERE_STACK:
		cp_buf_printf(out, "%s #%zu ", w->variable ? " in" : "kept by", w->frame);
		if (w->function)
			cp_escape(out, CP_ESCAPE_TERMINAL, w->function, cp_short_name(w->function));
		cp_buf_str(out, ", ");
		add_thread(i, out, w->tid);
		break;
	case CP_WHERE_THREAD:
		add_thread(i, out, w->tid);
		cp_buf_str(out, ", its own data");
		break;
	case CP_WHERE_HEAP:
		cp_buf_str(out, "heap");
		break;
	case CP_WHERE_MAPPING:
		add(out, cp_basename(w->mapping));
		break;
	case CP_WHERE_STATIC:
	case CP_WHERE_UNUSED:
		break;
	}
}

static void show_text(struct pointing *p, const struct pointer *at, const struct cp_whereabouts *w)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf *out = p->i->out;

	cp_buf_printf(&line, "    %#014llx  ", (unsigned long long)at->address);
	add_place(p->i, &line, w);
	if (at->offset)
		cp_buf_printf(&line, ", %llu bytes into it", (unsigned long long)at->offset);
	cp_buf_u8(&line, 0);
	if (p->i->look.columns)
		cp_text_fit(out, line.bytes, p->i->look.columns);
	else
		cp_buf_str(out, line.bytes);
	cp_buf_u8(out, '\n');
}

static void show_json(struct pointing *p, const struct pointer *at, const struct cp_whereabouts *w)
{
	struct cp_json *j = &p->i->json;

	cp_json_begin(j, NULL, '{');
	cp_json_hex(j, "address", at->address);
	cp_json_u64(j, "offset", at->offset);
	cp_json_str(j, "kind", kind_name(w->kind));
	cp_json_str(j, "variable", w->variable);
	if (w->tid)
		cp_json_u64(j, "tid", (uint64_t)w->tid);
	if (w->kind == CP_WHERE_STACK) {
		cp_json_u64(j, "frame", w->frame);
		cp_json_str(j, "function", w->function);
	}
	cp_json_str(j, "mapping", *w->mapping ? w->mapping : NULL);
	cp_json_end(j, '}');
}

static void begin(struct pointing *p)
{
	struct cp_json *j = &p->i->json;

	if (!p->i->o->json) {
		cp_paint(p->i->out, &p->i->look, CP_PAINT_NAME, p->text);
		if (!cp_starts_with(p->text, "0x"))
			cp_buf_printf(p->i->out, " at %#llx", (unsigned long long)p->low);
		cp_buf_str(p->i->out, " is pointed at");
		cp_buf_str(p->i->out, p->count ? " by\n" : " by nobody\n");
		return;
	}
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "expression", p->text);
	cp_json_hex(j, "target", p->low);
	cp_json_u64(j, "size", p->size);
	cp_json_begin(j, "found", '[');
}

static void note(struct pointing *p, uint64_t count, const char *what)
{
	if (count)
		cp_buf_printf(p->i->out, "    %llu %s\n", (unsigned long long)count, what);
}

static void end(struct pointing *p, uint64_t shown)
{
	struct cp_json *j = &p->i->json;

	if (!p->i->o->json) {
		note(p, p->count - shown - p->unused, "more, see --limit");
		note(p, p->unused, "below stack pointers, where nothing is in use");
		if (p->lacking) {
			cp_buf_str(p->i->out, "    ");
			cp_add_bytes(p->i->out, p->lacking);
			cp_buf_str(p->i->out, " of addresses were too many to look at\n");
		}
		return;
	}
	cp_json_end(j, ']');
	cp_json_u64(j, "words", p->count - p->unused);
	cp_json_u64(j, "unused", p->unused);
	cp_json_u64(j, "not_looked_at", p->lacking);
	cp_json_end(j, '}');
}

static void show_all(struct pointing *p, struct cp_map_of_all *map)
{
	const struct pointer *at;
	struct cp_whereabouts where;
	uint64_t shown = 0;

	begin(p);
	cp_vec_for_each(&p->found, at) {
		cp_whereabouts(map, at->address, &where);
		p->unused += where.kind == CP_WHERE_UNUSED;
		if (where.kind != CP_WHERE_UNUSED && shown < p->i->o->limit) {
			shown++;
			if (p->i->o->json)
				show_json(p, at, &where);
			else
				show_text(p, at, &where);
		}
		cp_whereabouts_free(&where);
	}
	end(p, shown);
}

CP_ERROR cp_inspect_pointing(struct cp_inspect *i, const char *text)
{
	struct pointing p = { .i = i, .text = text };
	struct cp_regions regions = { 0 };
	struct cp_map_of_all map = { 0 };
	struct cp_leaves sleepers = { 0 };
	struct cp_error *err = target_of(i, text, &p.low, &p.size);

	if (!err)
		err = cp_regions_read(&i->in, &regions);
	if (!err && !i->leaves)
		find_sleepers(i, &sleepers);
	if (!err)
		err = cp_map_of_all_open(&map, &i->in, &regions, i->leaves ? i->leaves : &sleepers);
	if (!err) {
		p.lacking = cp_regions_scan(&i->in, &regions, look_at, &p);
		cp_vec_sort(&p.found, by_address);
		show_all(&p, &map);
	}
	cp_map_of_all_close(&map);
	cp_regions_free(&regions);
	cp_vec_free(&sleepers.list);
	cp_vec_free(&p.found);
	cp_inspect_forget(i);
	return err;
}
