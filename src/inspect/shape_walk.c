/* SPDX-License-Identifier: MIT
 *
 * Containers of any make, by what their declaration says of how one element leads to
 * the next. Memory may be hostile, or be changed meanwhile: chains that lead back to
 * themselves, trees that do, counts that can't be are all bounded by the steps.
 */
#include "inspect/shape_walk.h"

#include <string.h>

#include "inspect/classify.h"
#include "inspect/number.h"

#define TREE_DEPTH 128 /* of a balanced one with 2^64 nodes */
#define BTREE_DEPTH 32
#define BTREE_ENTRIES 256 /* of a node */
#define PARTS_MAX 64
#define PARTS_DEPTH 70
#define NESTED_MAX 8

struct walk {
	struct cp_shape_scope *scope;
	cp_shape_visit_fn visit;
	void *ctx;
	uint64_t steps; /* left */
	const struct cp_type *pointer; /* to nodes */
	const struct cp_type *behind; /* a value of that type is behind each node, or NULL */
	uint64_t offset; /* from the node, then */
	bool over;
};

static bool has(const struct walk *w, enum cp_shape_term term)
{
	return w->scope->row->terms[term];
}

static void tell_error(struct walk *w, uint8_t error, uint64_t address)
{
	const struct cp_thing thing = { .error = error,
					.address = address,
					.source = CPROF_SOURCE_MEMORY };

	w->visit(w->ctx, NULL, &thing);
	w->over = true;
}

/* Evaluates a number; what can't be read ends the walk. */
static CP_ERROR number(struct walk *w, enum cp_shape_term term, int64_t *ret)
{
	struct cp_thing thing;

	CP_TRY(cp_shape_number(w->scope, term, ret, &thing));
	if (thing.error)
		tell_error(w, thing.error, thing.address);
	return NULL;
}

/* Evaluates a pointer to a node; the type is the first's. */
static CP_ERROR pointer(struct walk *w, enum cp_shape_term term, uint64_t *ret)
{
	struct cp_thing thing;
	int64_t address = 0;
	const struct cp_type *t;

	CP_TRY(cp_shape_number(w->scope, term, &address, &thing));
	if (thing.error) {
		tell_error(w, thing.error, thing.address);
		return NULL;
	}
	t = cp_type_strip(thing.type);
	if (!w->pointer && (!t || t->kind != CP_TYPE_POINTER || !t->target))
		return cp_error_new(CP_ERR_USAGE, 0, "'%s' is no pointer to a node",
				    w->scope->row->terms[term]);
	w->pointer = w->pointer ? w->pointer : t;
	*ret = (uint64_t)address;
	return NULL;
}

/* ---- one element ---- */

/* Tells of one element, `value` or what the term of that name says. */
static CP_ERROR tell(struct walk *w, struct cp_thing *value)
{
	struct cp_shape_scope *s = w->scope;
	struct cp_thing focus = s->focus, stated, key, mapped;

	if (!value && has(w, CP_TERM_value)) {
		CP_TRY(cp_shape_term(s, CP_TERM_value, &stated));
		value = &stated;
	}
	if (value && value->error) {
		w->visit(w->ctx, NULL, value);
		w->over = true;
		return NULL;
	}
	if (!has(w, CP_TERM_key)) {
		w->over = !value || !w->visit(w->ctx, NULL, value);
		return NULL;
	}
	if (value)
		s->focus = *value;
	CP_TRY(cp_shape_term(s, CP_TERM_key, &key));
	CP_TRY(cp_shape_term(s, CP_TERM_mapped, &mapped));
	s->focus = focus;
	w->over = !w->visit(w->ctx, &key, &mapped);
	return NULL;
}

static void complete(const struct cp_type *type, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	while (t && t->kind == CP_TYPE_ARRAY)
		t = cp_type_strip(t->target);
	t = t ? cp_type_complete(cp_type_image(t), t) : NULL;
	d = t ? cp_type_details(t) : NULL;
	for (i = 0; d && i < d->member_count && depth < NESTED_MAX; i++)
		complete(d->members[i].type, depth + 1);
}

/* Bytes of a node before what follows it. A class that has bases leaves no room behind its
 * last member: what is derived from it begins there (Itanium C++ ABI, 2.4). */
static uint64_t node_size(const struct cp_type *t)
{
	const struct cp_type_details *d = cp_type_details(t);
	const struct cp_type_member *last;

	if (!d || d->member_count < 2 || !(d->members[0].flags & CP_MEMBER_BASE))
		return t->size;
	last = &d->members[d->member_count - 1];
	return last->flags & CP_MEMBER_BASE ? t->size
					    : last->offset + cp_type_strip(last->type)->size;
}

/* Where values are that follow nodes without being a member of theirs. */
static CP_ERROR find_behind(struct walk *w)
{
	const struct cp_type *node = cp_type_strip(w->pointer)->target, *t;
	unsigned budget = 1000;
	uint64_t align;

	if (!has(w, CP_TERM_behind))
		return NULL;
	CP_TRY(cp_shape_type(w->scope, w->scope->row->terms[CP_TERM_behind], &w->behind));
	complete(w->behind, 0);
	t = cp_type_strip(node);
	t = cp_type_complete(cp_type_image(t), t);
	align = cp_type_alignment(w->behind, &budget);
	w->offset = (node_size(t) + align - 1) / align * align;
	return NULL;
}

static CP_ERROR tell_node(struct walk *w, uint64_t address)
{
	struct cp_thing value = { .type = w->behind,
				  .in_memory = true,
				  .address = address + w->offset,
				  .source = CPROF_SOURCE_MEMORY };

	return tell(w, w->behind ? &value : NULL);
}

static bool step(struct walk *w)
{
	cp_shape_scope_forget(w->scope);
	if (!w->steps)
		return false;
	w->steps--;
	return !w->over;
}

/* ---- kinds ---- */

static CP_ERROR walk_items(struct walk *w)
{
	struct cp_shape_scope *s = w->scope;
	int64_t count = 0, used;

	CP_TRY(number(w, CP_TERM_count, &count));
	count = s->endless ? INT64_MAX : count;
	cp_shape_scope_by_step(s, true);
	for (s->index = 0; (int64_t)s->index < count && step(w); s->index++) {
		used = 1;
		if (has(w, CP_TERM_used))
			CP_TRY(number(w, CP_TERM_used, &used));
		if (used && !w->over)
			CP_TRY(tell(w, NULL));
	}
	return NULL;
}

static CP_ERROR bounds(struct walk *w, int64_t *count, int64_t *end)
{
	*count = INT64_MAX;
	*end = 0;
	if (has(w, CP_TERM_count))
		CP_TRY(number(w, CP_TERM_count, count));
	if (has(w, CP_TERM_end))
		CP_TRY(number(w, CP_TERM_end, end));
	return NULL;
}

static CP_ERROR walk_chain(struct walk *w)
{
	uint64_t address = 0, mark = 0;
	int64_t count, end, n, power = 1;

	CP_TRY(bounds(w, &count, &end));
	CP_TRY(pointer(w, CP_TERM_first, &address));
	if (!w->over)
		CP_TRY(find_behind(w));
	cp_shape_scope_by_step(w->scope, true);
	for (n = 0; n < count && address && address != (uint64_t)end && step(w); n++) {
		if (address == mark) {
			tell_error(w, CPROF_VALUE_CYCLE, address);
			break;
		}
		if (n == power) {
			mark = address;
			power *= 2;
		}
		w->scope->index = (uint64_t)n;
		cp_shape_scope_enter(w->scope, w->pointer, address);
		CP_TRY(tell_node(w, address));
		if (!w->over)
			CP_TRY(pointer(w, CP_TERM_next, &address));
	}
	return NULL;
}

static CP_ERROR walk_tree(struct walk *w)
{
	uint64_t path[TREE_DEPTH], address = 0;
	int64_t count, end, n = 0;
	unsigned depth = 0;

	CP_TRY(bounds(w, &count, &end));
	CP_TRY(pointer(w, CP_TERM_root, &address));
	if (!w->over)
		CP_TRY(find_behind(w));
	cp_shape_scope_by_step(w->scope, true);
	while (n < count && (address || depth) && step(w)) {
		if (address && address != (uint64_t)end) {
			if (depth == TREE_DEPTH) {
				tell_error(w, CPROF_VALUE_CYCLE, address);
				break;
			}
			path[depth++] = address;
			cp_shape_scope_enter(w->scope, w->pointer, address);
			CP_TRY(pointer(w, CP_TERM_left, &address));
			continue;
		}
		if (!depth)
			break;
		address = path[--depth];
		w->scope->index = (uint64_t)n++;
		cp_shape_scope_enter(w->scope, w->pointer, address);
		CP_TRY(tell_node(w, address));
		if (!w->over)
			CP_TRY(pointer(w, CP_TERM_right, &address));
	}
	return NULL;
}

static CP_ERROR walk_edge(struct walk *w, uint64_t node, uint64_t i, uint64_t *ret)
{
	const struct cp_reader *memory = w->scope->env.memory;
	int64_t edges = 0;

	cp_shape_scope_enter(w->scope, w->pointer, node);
	CP_TRY(number(w, CP_TERM_edges, &edges));
	if (!w->over && !cp_read_exact(memory, (uint64_t)edges + i * 8, ret, 8))
		tell_error(w, CPROF_VALUE_UNREADABLE, (uint64_t)edges + i * 8);
	return NULL;
}

static CP_ERROR walk_btree_node(struct walk *w, uint64_t node, int64_t height)
{
	int64_t length = 0, i;
	uint64_t edge = 0;

	cp_shape_scope_enter(w->scope, w->pointer, node);
	CP_TRY(number(w, CP_TERM_length, &length));
	if (length < 0 || length > BTREE_ENTRIES)
		tell_error(w, CPROF_VALUE_UNAVAILABLE, node);
	for (i = 0; i <= length && step(w); i++) {
		if (height > 0) {
			CP_TRY(walk_edge(w, node, (uint64_t)i, &edge));
			if (!w->over)
				CP_TRY(walk_btree_node(w, edge, height - 1));
		}
		if (i == length || w->over)
			break;
		w->scope->index = (uint64_t)i;
		cp_shape_scope_enter(w->scope, w->pointer, node);
		CP_TRY(tell(w, NULL));
	}
	return NULL;
}

static CP_ERROR walk_btree(struct walk *w)
{
	int64_t count, end, height = 0;
	uint64_t root = 0;

	CP_TRY(bounds(w, &count, &end));
	if (!count || w->over)
		return NULL;
	CP_TRY(pointer(w, CP_TERM_root, &root));
	if (!w->over)
		CP_TRY(number(w, CP_TERM_height, &height));
	cp_shape_scope_by_step(w->scope, true);
	if (height < 0 || height > BTREE_DEPTH)
		tell_error(w, CPROF_VALUE_UNAVAILABLE, root);
	return root && !w->over ? walk_btree_node(w, root, height) : NULL;
}

/* ---- parts ---- */

struct parts {
	const char *member;
	struct {
		uint64_t offset;
		const struct cp_type *type;
	} found[PARTS_MAX];
	unsigned count;
};

static void find_parts(struct parts *p, const struct cp_type *type, uint64_t at, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	const struct cp_type_member *m;
	uint32_t i;

	t = t ? cp_type_complete(cp_type_image(t), t) : NULL;
	d = t ? cp_type_details(t) : NULL;
	for (i = 0; d && depth < PARTS_DEPTH && i < d->member_count; i++) {
		m = &d->members[i];
		if (m->flags & (CP_MEMBER_VIRTUAL | CP_MEMBER_BITS))
			continue;
		if (m->flags & CP_MEMBER_BASE) {
			find_parts(p, m->type, at + m->offset, depth + 1);
		} else if (!strcmp(m->name, p->member) && p->count < PARTS_MAX) {
			p->found[p->count].offset = at + m->offset;
			p->found[p->count++].type = m->type;
		}
	}
}

static CP_ERROR walk_parts(struct walk *w)
{
	struct parts p = { .member = w->scope->row->terms[CP_TERM_member] };
	const char *order = w->scope->row->terms[CP_TERM_next];
	const bool up = order && !strcmp(order, "up");
	struct cp_thing self = w->scope->self, part;
	unsigned i, n;

	if (has(w, CP_TERM_value))
		CP_TRY(cp_shape_term(w->scope, CP_TERM_value, &self));
	if (self.error) {
		tell_error(w, self.error, self.address);
		return NULL;
	}
	find_parts(&p, self.type, 0, 0);
	for (i = 0; i < p.count && step(w); i++) {
		n = up ? i : p.count - 1 - i;
		part = self;
		part.type = p.found[n].type;
		part.address += p.found[n].offset;
		part.within += p.found[n].offset;
		if (!self.in_memory) {
			part.size = cp_type_strip(part.type)->size;
			if (p.found[n].offset + part.size > self.size)
				part.error = CPROF_VALUE_UNAVAILABLE;
			else
				part.bytes += p.found[n].offset;
		}
		CP_TRY(tell(w, &part));
	}
	return NULL;
}

static struct cp_error *(*const walks[CP_SHAPE_KINDS])(struct walk *w) = {
	[CP_SHAPE_ITEMS] = walk_items, [CP_SHAPE_CHAIN] = walk_chain, [CP_SHAPE_TREE] = walk_tree,
	[CP_SHAPE_BTREE] = walk_btree, [CP_SHAPE_PARTS] = walk_parts,
};

CP_ERROR cp_shape_walk(struct cp_shape_scope *scope, uint64_t steps, cp_shape_visit_fn visit,
		       void *ctx)
{
	struct walk w = { .scope = scope, .visit = visit, .ctx = ctx, .steps = steps };
	struct cp_error *err = NULL;

	err = walks[scope->row->kind](&w);
	cp_shape_scope_by_step(scope, false);
	return err;
}

/* ---- iterators ---- */

#define RING_MAX 4096 /* nodes gone through to tell */
/* Nodes that there can be: what is more, a pointer say, is no number of them. */
#define RING_MOST (INT64_C(1) << 40)

static bool keep_error(void *ctx, const struct cp_thing *key, const struct cp_thing *value)
{
	(void)key;
	*(struct cp_thing *)ctx = *value;
	return false;
}

/* What is the head of a ring has the number of the other nodes in it. */
struct ring {
	uint64_t start;
	int64_t count; /* at the start */
	int64_t length; /* nodes; 0: it does not come back within as many as `count` says */
	unsigned alike; /* other nodes at which the same number is */
	bool is_used; /* what is at the start */
	unsigned unused; /* of those that are alike */
};

static CP_ERROR is_used(struct walk *w, bool *ret)
{
	int64_t used = 0;

	if (has(w, CP_TERM_used))
		CP_TRY(number(w, CP_TERM_used, &used));
	*ret = used != 0;
	return NULL;
}

static CP_ERROR go_around(struct walk *w, struct ring *r)
{
	uint64_t at = r->start;
	int64_t n, count = 0;
	bool used = false;

	cp_shape_scope_enter(w->scope, w->pointer, at);
	CP_TRY(number(w, CP_TERM_count, &r->count));
	if (!w->over)
		CP_TRY(is_used(w, &r->is_used));
	if (r->count < 0 || r->count > RING_MOST)
		return NULL;
	for (n = 1; !w->over && n <= r->count + 1 && step(w); n++) {
		CP_TRY(pointer(w, CP_TERM_next, &at));
		if (w->over || at == r->start) {
			r->length = n;
			return NULL;
		}
		cp_shape_scope_enter(w->scope, w->pointer, at);
		CP_TRY(number(w, CP_TERM_count, &count));
		if (w->over || count != r->count)
			continue;
		CP_TRY(is_used(w, &used));
		r->alike++;
		r->unused += !used;
	}
	return NULL;
}

static CP_ERROR is_head(struct walk *w, uint64_t address, bool *ret)
{
	struct ring r = { .start = address };

	cp_shape_scope_by_step(w->scope, true);
	CP_TRY(go_around(w, &r));
	cp_shape_scope_by_step(w->scope, false);
	*ret = false;
	if (w->over || (r.length && r.length != r.count + 1) || (!r.length && w->steps))
		return NULL;
	if (!r.length || (r.alike && !(r.unused + !r.is_used == 1)))
		return cp_error_new(CP_ERR_USAGE, 0, "it may be the end");
	*ret = !r.alike || !r.is_used;
	return NULL;
}

CP_ERROR cp_shape_node(struct cp_shape_scope *scope, struct cp_thing *ret, bool *end_ret)
{
	struct cp_number number = { .kind = CP_NUMBER_INTEGER };
	struct cp_thing value = { 0 };
	struct walk w = { .scope = scope, .visit = keep_error, .ctx = ret, .steps = RING_MAX };
	uint64_t address = 0;
	bool end = false;

	*ret = (struct cp_thing){ 0 };
	CP_TRY(pointer(&w, CP_TERM_first, &address));
	if (!w.over && address)
		CP_TRY(find_behind(&w));
	if (!w.over && address && has(&w, CP_TERM_next))
		CP_TRY(is_head(&w, address, &end));
	*end_ret = !w.over && (end || !address);
	if (w.over || *end_ret)
		return NULL;
	cp_shape_scope_enter(scope, w.pointer, address);
	value = (struct cp_thing){ .type = w.behind, .address = address + w.offset };
	if (!w.behind)
		CP_TRY(cp_shape_term(scope, CP_TERM_value, &value));
	number.i = value.address;
	return cp_number_thing(&scope->env, number,
			       cp_type_pointer_to(scope->env.arena, value.type), ret);
}
