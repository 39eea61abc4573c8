/* SPDX-License-Identifier: MIT
 *
 * Types of two files by their names: what one moved. Of those that have one name, those that
 * are the same in both are no difference, and the others are held against each other in
 * their order.
 */
#include "cmd/layout_diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/layout_list.h"
#include "cmd/layout_show.h"
#include "report/look/table.h"

/* Of one file. */
struct side {
	struct cp_image *image;
	struct cp_found found;
	CP_VEC(bool) same; /* each: it is in the other file, too */
};

struct diff {
	struct side old, now;
	const struct cp_layout_wish *wish;
	struct cp_buf *out;
	struct cp_json json;
	uint64_t changed, gone, come, same;
};

/* ---- what is the same ---- */

static const char *name_of(const struct cp_type_member *m)
{
	return *m->name && !(m->flags & CP_MEMBER_BASE) ? m->name : m->type->text;
}

static bool lies_alike(const struct cp_layout *x, size_t i, const struct cp_layout *y, size_t k)
{
	const struct cp_type_member *a = x->members.items[i], *b = y->members.items[k];

	return cp_layout_first_bit(a) == cp_layout_first_bit(b) &&
	       cp_layout_bits(x, i) == cp_layout_bits(y, k) && a->flags == b->flags &&
	       !strcmp(a->type->text, b->type->text);
}

static bool has_same_names(const struct cp_type_details *x, const struct cp_type_details *y)
{
	return x && y ? cp_enumerators_are_same(x, y) : !x == !y;
}

static bool is_same(const struct cp_layout *x, const struct cp_layout *y)
{
	size_t i;

	if (x->type->size != y->type->size || x->type->kind != y->type->kind ||
	    x->align != y->align || x->members.count != y->members.count ||
	    !has_same_names(x->details, y->details))
		return false;
	for (i = 0; i < x->members.count; i++)
		if (!lies_alike(x, i, y, i) ||
		    strcmp(name_of(x->members.items[i]), name_of(y->members.items[i])) != 0)
			return false;
	return true;
}

/* ---- one that differs ---- */

/* The member of that name that no other was found to be; the count: none. */
static size_t counterpart(const struct cp_layout *of, const struct cp_type_member *m,
			  const bool *taken)
{
	size_t i;

	for (i = 0; i < of->members.count; i++) {
		const struct cp_type_member *other = of->members.items[i];

		if (!taken[i] && (other->flags & CP_MEMBER_BASE) == (m->flags & CP_MEMBER_BASE) &&
		    !strcmp(name_of(other), name_of(m)))
			break;
	}
	return i;
}

static void add_offset(struct cp_table *t, const struct cp_type_member *m)
{
	if (!m || cp_member_is_virtual(m))
		cp_table_cell(t, CP_PAINT_DIM, m ? "?" : "-");
	else if (m->flags & CP_MEMBER_BITS)
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64 ":%u", m->offset, m->bit_offset);
	else
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, m->offset);
}

static void add_size(struct cp_table *t, const struct cp_layout *l, size_t i)
{
	const struct cp_type_member *m = l && i < l->members.count ? l->members.items[i] : NULL;

	if (!m)
		cp_table_cell(t, CP_PAINT_DIM, "-");
	else if (m->flags & CP_MEMBER_BITS)
		cp_table_cell(t, CP_PAINT_PLAIN, "%u bit%s", m->bit_size,
			      m->bit_size == 1 ? "" : "s");
	else
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, cp_layout_size(l, i));
}

/* One of the members may be missing: its place is the count then. */
static void add_member(struct cp_table *t, const struct cp_layout *old, size_t i,
		       const struct cp_layout *now, size_t k)
{
	const struct cp_type_member *a = i < old->members.count ? old->members.items[i] : NULL;
	const struct cp_type_member *b = k < now->members.count ? now->members.items[k] : NULL;
	const struct cp_type_member *m = b ? b : a;
	struct cp_buf text = { 0 };

	add_offset(t, a);
	add_offset(t, b);
	add_size(t, old, i);
	add_size(t, now, k);
	if (a && b && strcmp(a->type->text, b->type->text) != 0)
		cp_buf_printf(&text, "%s, was %s", b->type->text, a->type->text);
	else
		cp_buf_str(&text, m->type->text);
	cp_buf_u8(&text, 0);
	cp_table_name(t, CP_PAINT_PLAIN, text.failed ? "?" : (char *)text.bytes);
	cp_buf_free(&text);
	cp_table_name(t, CP_PAINT_NAME,
		      m->flags & CP_MEMBER_BASE ? "(base)"
		      : *m->name		? m->name
						: "(anonymous)");
}

static void add_members(struct cp_table *t, const struct cp_layout *old,
			const struct cp_layout *now, bool *taken)
{
	size_t i, k;

	for (i = 0; i < old->members.count; i++) {
		k = counterpart(now, old->members.items[i], taken);
		if (k < now->members.count)
			taken[k] = true;
		if (k == now->members.count || !lies_alike(old, i, now, k))
			add_member(t, old, i, now, k);
	}
	for (k = 0; k < now->members.count; k++)
		if (!taken[k])
			add_member(t, old, old->members.count, now, k);
}

static void write_members(const struct cp_layout *old, const struct cp_layout *now,
			  const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = {
		{ "offset", .right = true }, { "now", .right = true }, { "size", .right = true },
		{ "now", .right = true },    { "type", .give = 24 },   { "member" },
	};
	bool *taken = calloc(now->members.count + 1, sizeof(*taken));
	struct cp_table t;

	if (!taken)
		return;
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	add_members(&t, old, now, taken);
	if (t.cells.count)
		cp_table_print(&t, look, out);
	cp_table_deinit(&t);
	free(taken);
}

static const struct cp_type_enumerator *enumerator_of(const struct cp_type_details *of,
						      const char *name)
{
	uint32_t i;

	for (i = 0; of && i < of->enumerator_count; i++)
		if (!strcmp(of->enumerators[i].name, name))
			return &of->enumerators[i];
	return NULL;
}

static void add_value(struct cp_table *t, const struct cp_type_enumerator *e)
{
	if (e)
		cp_table_cell(t, CP_PAINT_PLAIN, "%" PRId64, e->value);
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void write_enumerators(const struct cp_type_details *old, const struct cp_type_details *now,
			      const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { "value", .right = true },
						    { "now", .right = true },
						    { "name" } };
	const struct cp_type_enumerator *e, *other;
	struct cp_table t;
	uint32_t i;

	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; old && i < old->enumerator_count; i++) {
		e = &old->enumerators[i];
		other = enumerator_of(now, e->name);
		if (other && other->value == e->value)
			continue;
		add_value(&t, e);
		add_value(&t, other);
		cp_table_name(&t, CP_PAINT_NAME, e->name);
	}
	for (i = 0; now && i < now->enumerator_count; i++) {
		e = &now->enumerators[i];
		if (enumerator_of(old, e->name))
			continue;
		add_value(&t, NULL);
		add_value(&t, e);
		cp_table_name(&t, CP_PAINT_NAME, e->name);
	}
	if (t.cells.count)
		cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void write_change(struct diff *d, const struct cp_layout *old, const struct cp_layout *now)
{
	struct cp_buf title = { 0 };

	cp_buf_str(&title, cp_layout_keyword(now->type));
	cp_add_name(&title, now->name);
	cp_buf_u8(&title, 0);
	cp_paint(d->out, &d->wish->look, CP_PAINT_TITLE, title.failed ? "?" : (char *)title.bytes);
	cp_buf_free(&title);
	cp_buf_str(d->out, ": ");
	if (old->type->size != now->type->size)
		cp_buf_printf(d->out, "%" PRIu64 " bytes, now %" PRIu64, old->type->size,
			      now->type->size);
	else
		cp_buf_printf(d->out, "%" PRIu64 " bytes as before", now->type->size);
	if (old->align != now->align)
		cp_buf_printf(d->out, "; aligned to %" PRIu64 ", now %" PRIu64, old->align,
			      now->align);
	cp_buf_str(d->out, "\n");
	write_members(old, now, &d->wish->look, d->out);
	write_enumerators(old->details, now->details, &d->wish->look, d->out);
	cp_buf_u8(d->out, '\n');
}

/* ---- all of them ---- */

static void json_side(struct cp_json *j, const char *key, struct side *s, size_t i)
{
	struct cp_layout l;

	if (i == s->found.types.count) {
		cp_json_null(j, key);
		return;
	}
	cp_layout_of(s->image, &s->found.types.items[i], &l);
	cp_layout_json(j, key, &l);
	cp_layout_free(&l);
}

/* The count of a side: it has none of them. */
static void tell(struct diff *d, size_t i, size_t k)
{
	bool gone = k == d->now.found.types.count, come = i == d->old.found.types.count;
	struct cp_layout old, now;

	d->gone += gone;
	d->come += come;
	d->changed += !gone && !come;
	if (d->wish->json) {
		cp_json_begin(&d->json, NULL, '{');
		cp_json_str(&d->json, "type",
			    gone ? d->old.found.types.items[i].name
				 : d->now.found.types.items[k].name);
		json_side(&d->json, "old", &d->old, i);
		json_side(&d->json, "new", &d->now, k);
		cp_json_end(&d->json, '}');
	} else if (!gone && !come) {
		cp_layout_of(d->old.image, &d->old.found.types.items[i], &old);
		cp_layout_of(d->now.image, &d->now.found.types.items[k], &now);
		write_change(d, &old, &now);
		cp_layout_free(&old);
		cp_layout_free(&now);
	}
}

static size_t end_of_name(const struct side *s, size_t i)
{
	size_t end = i;

	while (end < s->found.types.count &&
	       !strcmp(s->found.types.items[end].name, s->found.types.items[i].name))
		end++;
	return end;
}

static void find_same(struct diff *d, size_t i, size_t i_end, size_t k, size_t k_end)
{
	struct cp_layout old, now;
	size_t n;

	for (; i < i_end; i++) {
		cp_layout_of(d->old.image, &d->old.found.types.items[i], &old);
		for (n = k; n < k_end && !d->old.same.items[i]; n++) {
			if (d->now.same.items[n])
				continue;
			cp_layout_of(d->now.image, &d->now.found.types.items[n], &now);
			d->old.same.items[i] = d->now.same.items[n] = is_same(&old, &now);
			d->same += d->old.same.items[i];
			cp_layout_free(&now);
		}
		cp_layout_free(&old);
	}
}

static size_t next_other(const struct side *s, size_t i, size_t end)
{
	while (i < end && s->same.items[i])
		i++;
	return i;
}

/* Those of one name. */
static void compare(struct diff *d, size_t i, size_t i_end, size_t k, size_t k_end)
{
	find_same(d, i, i_end, k, k_end);
	for (;;) {
		i = next_other(&d->old, i, i_end);
		k = next_other(&d->now, k, k_end);
		if (i == i_end && k == k_end)
			return;
		tell(d, i < i_end ? i : d->old.found.types.count,
		     k < k_end ? k : d->now.found.types.count);
		i += i < i_end;
		k += k < k_end;
	}
}

static void compare_all(struct diff *d)
{
	size_t i = 0, k = 0, i_end, k_end;
	int order;

	while (i < d->old.found.types.count || k < d->now.found.types.count) {
		order = i == d->old.found.types.count	? 1
			: k == d->now.found.types.count ? -1
							: strcmp(d->old.found.types.items[i].name,
								 d->now.found.types.items[k].name);
		i_end = order <= 0 ? end_of_name(&d->old, i) : i;
		k_end = order >= 0 ? end_of_name(&d->now, k) : k;
		compare(d, i, i_end, k, k_end);
		i = i_end;
		k = k_end;
	}
}

/* Names of those that only one side has, a line each. */
static void write_alone(struct diff *d, const struct side *s, const struct side *other,
			const char *what)
{
	size_t i, k = 0, of = other->found.types.count;
	bool first = true;

	for (i = 0; i < s->found.types.count; i++) {
		const char *name = s->found.types.items[i].name;

		while (k < of && strcmp(other->found.types.items[k].name, name) < 0)
			k++;
		if (s->same.items[i] || (k < of && !strcmp(other->found.types.items[k].name, name)))
			continue;
		if (first)
			cp_paint(d->out, &d->wish->look, CP_PAINT_TITLE, what);
		cp_buf_str(d->out, first ? "\n  " : "  ");
		cp_add_name(d->out, name);
		cp_buf_u8(d->out, '\n');
		first = false;
	}
	if (!first)
		cp_buf_u8(d->out, '\n');
}

static void write_sum(struct diff *d)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = { { d->changed, " changed, " }, { d->gone, " gone, " }, { d->come, " new, " } };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(parts); i++) {
		if (!(d->changed + d->gone + d->come))
			break;
		cp_add_count(d->out, parts[i].count);
		cp_buf_str(d->out, parts[i].what);
	}
	cp_add_plural(d->out, d->same, "type", "types");
	cp_buf_str(d->out, " as before\n");
}

static CP_ERROR open_side(struct side *s, struct cp_image *image, const char *glob)
{
	s->image = image;
	CP_TRY(cp_layout_list(image, glob, &s->found));
	if (!cp_vec_reserve(&s->same, s->found.types.count))
		return cp_error_nomem();
	s->same.count = s->found.types.count;
	if (s->same.count)
		memset(s->same.items, 0, s->same.count * sizeof(*s->same.items));
	return NULL;
}

static void close_side(struct side *s)
{
	cp_vec_free(&s->same);
	cp_found_free(&s->found);
}

CP_ERROR cp_layout_diff(struct cp_image *before, struct cp_image *now,
			const struct cp_layout_wish *wish, struct cp_buf *out)
{
	struct diff d = { .wish = wish, .out = out, .json = { .out = out, .pretty = true } };
	struct cp_error *err = open_side(&d.old, before, wish->glob);

	if (!err)
		err = open_side(&d.now, now, wish->glob);
	if (!err && !d.old.found.types.count && !d.now.found.types.count)
		err = cp_layout_none(wish->glob);
	if (!err && wish->json)
		cp_json_begin(&d.json, NULL, '[');
	if (!err)
		compare_all(&d);
	if (!err && wish->json) {
		cp_json_end(&d.json, ']');
		cp_buf_u8(out, '\n');
	} else if (!err) {
		write_alone(&d, &d.old, &d.now, "Gone");
		write_alone(&d, &d.now, &d.old, "New");
		write_sum(&d);
	}
	close_side(&d.old);
	close_side(&d.now);
	return err;
}
