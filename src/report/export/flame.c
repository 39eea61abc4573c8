/* SPDX-License-Identifier: MIT */
#include "report/export/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "record/nettime.h"
#include "report/export/title.h"
#include "report/look/brief.h"
#include "report/look/table.h"
#include "report/profile/heapstacks.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"
#include "report/tables/diff.h"

/* A frame of less than a pixel in a graph this wide is left out even where one zooms in. */
#define WIDEST 24000
/* A browser should not need long: with more frames, more is left out. */
#define FRAMES_MOST 50000

/* ---- colors ---- */

static bool is_program(const struct cp_profile *p, const struct cp_profile_image *image)
{
	char *const *command = cp_record_info(p->record)->command;

	if (command && command[0] && !strcmp(cp_basename(command[0]), image->name))
		return true;
	return cp_profile_is_program(p, image);
}

/* The family of an image that always has the same; CP_FLAME_FAMILIES: the
 * image is one of many libraries. */
static unsigned fixed_family(const struct cp_profile *p, const struct cp_profile_image *image)
{
	if (image->name[0] == '[')
		return cp_starts_with(image->name, "[kernel") ? CP_FLAME_KERNEL : CP_FLAME_OTHER;
	if (is_program(p, image))
		return CP_FLAME_PROGRAM;
	if (cp_starts_with(image->name, "libc.so") || cp_starts_with(image->name, "ld-linux") ||
	    cp_starts_with(image->name, "libc-") || cp_starts_with(image->name, "ld-musl") ||
	    cp_starts_with(image->name, "libpthread"))
		return CP_FLAME_LIBC;
	return CP_FLAME_FAMILIES;
}

static int by_total(const void *va, const void *vb, void *ctx)
{
	const struct cp_profile *p = ctx;
	const struct cp_profile_image *a = &p->images.items[*(const uint32_t *)va];
	const struct cp_profile_image *b = &p->images.items[*(const uint32_t *)vb];

	if (a->total.weight != b->total.weight)
		return a->total.weight < b->total.weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* A library's color follows from its name; where two have the same, the one
 * with less gets the next that is free. */
static CP_ERROR choose_families(struct cp_flame *f)
{
	const unsigned libraries = CP_FLAME_LAST_LIBRARY - CP_FLAME_FIRST_LIBRARY + 1;
	size_t count = f->p->images.count, i;
	CP_FREE uint32_t *order = calloc(count + 1, sizeof(*order));
	bool taken[CP_FLAME_FAMILIES] = { false };

	f->families = calloc(count + 1, sizeof(*f->families));
	if (!order || !f->families)
		return cp_error_nomem();
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), by_total, (void *)(uintptr_t)f->p);
	for (i = 0; i < count; i++) {
		const struct cp_profile_image *image = &f->p->images.items[order[i]];
		unsigned family = fixed_family(f->p, image), tries;
		uint64_t hash = cp_hash_bytes(image->name, strlen(image->name));

		for (tries = 0; family == CP_FLAME_FAMILIES; tries++) {
			unsigned at = CP_FLAME_FIRST_LIBRARY + (hash + tries) % libraries;

			if (!taken[at] || tries >= libraries)
				family = at;
		}
		taken[family] = true;
		f->families[order[i]] = family;
	}
	return NULL;
}

static double share_change(const struct cp_flame *f, uint32_t node)
{
	return cp_share(f->tree.nodes.items[node].total.weight, f->p->total.weight) -
	       cp_share(f->old_weights[node], f->old->total.weight);
}

/* From -CP_FLAME_HEATS (cooler) to CP_FLAME_HEATS. */
static int heat(const struct cp_flame *f, uint32_t node)
{
	double by = share_change(f, node);
	int steps;

	if (f->heat_most <= 0 ||
	    !cp_diff_matters(f->old, f->old_weights[node], f->p,
			     f->tree.nodes.items[node].total.weight, f->deviations))
		return 0;
	steps = (int)ceil(pow(fabs(by) / f->heat_most, 0.7) * CP_FLAME_HEATS);
	steps = steps > CP_FLAME_HEATS ? CP_FLAME_HEATS : steps;
	return by < 0 ? -steps : steps;
}

static void function_class(const struct cp_flame *f, uint32_t function, struct cp_buf *out)
{
	const struct cp_function *fn = &f->p->functions.items[function];
	uint64_t hash = cp_hash_bytes(fn->name, strlen(fn->name));

	cp_buf_printf(out, "f%us%u", f->families[fn->image], (unsigned)(hash % CP_FLAME_SHADES));
}

void cp_flame_label_class(const struct cp_flame *f, uint32_t function, struct cp_buf *out)
{
	if (function < f->p->functions.count)
		function_class(f, function, out);
	else
		cp_buf_printf(out, "f%us2", CP_FLAME_OTHER);
}

void cp_flame_class(const struct cp_flame *f, uint32_t node, struct cp_buf *out)
{
	const struct cp_node *n = &f->tree.nodes.items[node];

	if (f->old)
		cp_buf_printf(out, "d%d", heat(f, node));
	else
		cp_flame_label_class(f, n->kind == CP_NODE_FUNCTION ? n->ref : UINT32_MAX, out);
}

static void write_mode(struct cp_buf *out, bool dark)
{
	static const struct {
		int hue, saturation;
	} families[CP_FLAME_FAMILIES] = { { 29, 90 },  { 212, 34 }, { 150, 46 }, { 263, 58 },
					  { 186, 52 }, { 338, 66 }, { 84, 48 },	 { 228, 62 },
					  { 50, 84 },  { 300, 44 }, { 6, 72 },	 { 40, 8 } };
	unsigned i, k;
	int shade;

	for (i = 0; i < CP_FLAME_FAMILIES; i++) {
		cp_buf_printf(out, ":root{--f%u:hsl(%d %d%% %d%%)}\n", i, families[i].hue,
			      dark ? families[i].saturation * 3 / 4 : families[i].saturation,
			      dark ? 44 : 68);
		for (k = 0; k < CP_FLAME_SHADES; k++) {
			shade = (int)k - CP_FLAME_SHADES / 2;
			cp_buf_printf(out, ".f%us%u{fill:hsl(%d %d%% %d%%)}\n", i, k,
				      families[i].hue + 4 * shade,
				      dark ? families[i].saturation * 7 / 10
					   : families[i].saturation,
				      dark ? 34 + 2 * shade : 76 + 2 * shade);
		}
	}
	for (shade = -CP_FLAME_HEATS; shade <= CP_FLAME_HEATS; shade++)
		cp_buf_printf(out, ".d%d{fill:hsl(%d %d%% %d%%)}\n", shade, shade < 0 ? 215 : 8,
			      shade ? (dark ? 60 : 85) : 8,
			      dark ? 26 + 4 * abs(shade) : 90 - 5 * abs(shade));
}

void cp_flame_colors(struct cp_buf *out)
{
	write_mode(out, false);
	cp_buf_str(out, "@media (prefers-color-scheme: dark){\n");
	write_mode(out, true);
	cp_buf_str(out, "}\n");
}

/* ---- difference ---- */

static bool node_key(const struct cp_tree *tree, uint32_t node, uint32_t parent, struct cp_buf *key)
{
	const struct cp_node *n = &tree->nodes.items[node];
	const char *number;

	cp_buf_clear(key);
	cp_buf_u32(key, parent);
	cp_buf_u8(key, (uint8_t)(n->kind * 2 + n->inlined));
	if (n->kind == CP_NODE_FUNCTION) {
		const struct cp_function *fn = &tree->profile->functions.items[n->ref];

		cp_buf_str(key, cp_profile_image_name(tree->profile, fn));
		cp_buf_u8(key, 0);
		cp_buf_str(key, fn->name);
	} else {
		cp_tree_name(tree, node, key);
		number = key->bytes ? memrchr(key->bytes, '(', key->size) : NULL;
		if (number) /* a pid, which is another in each run */
			key->size = (size_t)(number - key->bytes);
	}
	return !key->failed;
}

/* Nodes of `old` by parent and name: the interner's numbers are theirs less
 * one, since a node comes after its parent. */
static bool index_tree(const struct cp_tree *old, struct cp_interner *in, uint32_t *numbers,
		       uint64_t *ns, struct cp_buf *key)
{
	uint32_t i, n = 0;

	for (i = 1; i < old->nodes.count; i++) {
		const struct cp_node *node = &old->nodes.items[i];

		if (!node_key(old, i, numbers[node->parent], key) ||
		    !cp_intern(in, key->bytes, key->size, &n, NULL))
			return false;
		numbers[i] = n + 1;
		ns[n + 1] += node->total.weight;
	}
	return true;
}

static bool compare_trees(struct cp_flame *f, const struct cp_tree *old)
{
	CP_FREE uint32_t *numbers =
		calloc(old->nodes.count + f->tree.nodes.count + 1, sizeof(*numbers));
	CP_FREE uint64_t *ns = calloc(old->nodes.count + 1, sizeof(*ns));
	struct cp_interner in = { 0 };
	struct cp_buf key = { 0 };
	bool ok = numbers && ns && index_tree(old, &in, numbers, ns, &key);
	size_t known = in.count;
	uint32_t i, n = 0;

	if (ok)
		f->old_weights[0] = old->nodes.items[0].total.weight;
	if (numbers)
		memset(numbers, 0, old->nodes.count * sizeof(*numbers));
	for (i = 1; ok && i < f->tree.nodes.count; i++) {
		ok = node_key(&f->tree, i, numbers[f->tree.nodes.items[i].parent], &key) &&
		     cp_intern(&in, key.bytes, key.size, &n, NULL);
		numbers[i] = n + 1;
		f->old_weights[i] = n < known ? ns[n + 1] : 0;
	}
	cp_interner_free(&in);
	cp_buf_free(&key);
	return ok;
}

static CP_ERROR compare_with_old(struct cp_flame *f, enum cp_tree_roots roots)
{
	struct cp_tree old CP_CLEANUP(cp_tree_deinit) = { 0 };
	uint32_t i;

	CP_TRY(cp_tree_build(f->old, cp_tree_roots_for(f->p, roots), &old));
	f->old_weights = calloc(f->tree.nodes.count + 1, sizeof(*f->old_weights));
	f->deviations = cp_diff_deviations(f->tree.nodes.count);
	if (!f->old_weights || !compare_trees(f, &old))
		return cp_error_nomem();
	for (i = 1; i < f->tree.nodes.count; i++)
		f->heat_most = fmax(f->heat_most, fabs(share_change(f, i)));
	return NULL;
}

/* ---- the graph ---- */

/* How many frames are kept, and how deep they go. */
static size_t measure(struct cp_flame *f)
{
	uint32_t node, depth = 0;
	size_t count = 0;

	f->depth = 0;
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(f, node, &depth)) {
		count++;
		if (depth + 1 > f->depth)
			f->depth = depth + 1;
	}
	return count;
}

CP_ERROR cp_flame_init(struct cp_flame *f, const struct cp_profile *p,
		       const struct cp_export_options *o)
{
	*f = (struct cp_flame){ .p = p, .old = o->old };
	CP_TRY(cp_tree_build(p, o->roots, &f->tree));
	f->least = p->total.weight / WIDEST;
	while (measure(f) > FRAMES_MOST)
		f->least += f->least / 2 + 1;
	CP_TRY(choose_families(f));
	return f->old ? compare_with_old(f, o->roots) : NULL;
}

void cp_flame_deinit(struct cp_flame *f)
{
	cp_tree_deinit(&f->tree);
	free(f->families);
	free(f->old_weights);
	*f = (struct cp_flame){ 0 };
}

bool cp_flame_kept(const struct cp_flame *f, uint32_t node)
{
	const struct cp_node *n = &f->tree.nodes.items[node];

	return !node || (n->total.weight && n->total.weight >= f->least);
}

uint32_t cp_flame_next(const struct cp_flame *f, uint32_t node, uint32_t *depth)
{
	const struct cp_node *nodes = f->tree.nodes.items;
	uint32_t first = nodes[node].first;

	/* Children come in the order of their size: after the first that is too
	 * small, all are. */
	if (first != CP_NO_NODE && cp_flame_kept(f, first)) {
		++*depth;
		return first;
	}
	while (node != CP_NO_NODE &&
	       (nodes[node].next == CP_NO_NODE || !cp_flame_kept(f, nodes[node].next))) {
		node = nodes[node].parent;
		--*depth;
	}
	return node == CP_NO_NODE ? node : nodes[node].next;
}

unsigned cp_flame_height(const struct cp_flame *f, unsigned top)
{
	return top + (f->depth ? f->depth : 1) * CP_FLAME_ROW + 14;
}

/* ---- data ---- */

void cp_flame_text(struct cp_buf *out, const struct cp_buf *raw)
{
	if (raw->size)
		cp_escape(out, CP_ESCAPE_XML, raw->bytes, raw->size);
}

void cp_flame_note(const struct cp_flame *f, struct cp_buf *out)
{
	const struct cp_record_info *info = cp_record_info(f->p->record);
	struct cp_buf caveat CP_CLEANUP(cp_buf_free) = { 0 };
	time_t at = (time_t)(info->start_real_ns / CP_NS_PER_S);
	struct tm tm;
	char date[64];

	cp_cost_add_words(f->p, &f->p->total, out);
	cp_buf_printf(out, " %s in ", f->p->unit->of);
	cp_add_time(out, cp_report_duration(f->p->record));
	if (f->p->of != CP_OF_COUNT) {
		cp_buf_str(out, "  ·  ");
		cp_add_plural(out, f->p->total.ticks, f->p->unit->tick, f->p->unit->ticks);
	}
	cp_profile_caveat(f->p, &caveat);
	if (caveat.size)
		cp_buf_printf(out, "  ·  %s", caveat.bytes);
	if (info->hz && f->p->of == CP_OF_TIME)
		cp_buf_printf(out, " at %u Hz", info->hz);
	if (at && localtime_r(&at, &tm) && strftime(date, sizeof(date), "%F %T", &tm))
		cp_buf_printf(out, "  ·  %s", date);
	if (info->host && *info->host)
		cp_buf_printf(out, "  ·  %s", info->host);
	if (f->old)
		cp_buf_str(out, "  ·  red: more of the total than before, blue: less, "
				"grey: not more than chance");
}

/* Functions that are drawn, and what else has a name, get numbers in the
 * order of first use. */
struct flame_writer {
	const struct cp_flame *f;
	struct cp_json j;
	struct cp_interner names; /* (kind, ref) */
	CP_VEC(uint32_t) examples; /* by number: a node of that name */
};

static CP_ERROR number_of(struct flame_writer *w, uint32_t node, uint32_t *ret)
{
	const struct cp_node *n = &w->f->tree.nodes.items[node];
	uint32_t key[2] = { (uint32_t)n->kind, n->ref };
	bool fresh;

	if (!cp_intern(&w->names, key, sizeof(key), ret, &fresh) ||
	    (fresh && !cp_vec_push(&w->examples, node)))
		return cp_error_nomem();
	return NULL;
}

static CP_ERROR write_nodes(struct flame_writer *w)
{
	const struct cp_flame *f = w->f;
	uint32_t node, number, depth = 0;

	cp_json_begin(&w->j, "nodes", '[');
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(f, node, &depth)) {
		const struct cp_node *n = &f->tree.nodes.items[node];

		CP_TRY(number_of(w, node, &number));
		cp_json_u64(&w->j, NULL, depth);
		cp_json_u64(&w->j, NULL, number);
		cp_json_u64(&w->j, NULL, n->total.weight);
		cp_json_u64(&w->j, NULL, n->self.weight);
		cp_json_u64(&w->j, NULL, n->total.ticks);
		cp_json_u64(&w->j, NULL, (n->inlined ? 1u : 0u) | (n->guessed ? 2u : 0u));
		if (f->old) {
			cp_json_i64(&w->j, NULL, heat(f, node));
			cp_json_u64(&w->j, NULL, f->old_weights[node]);
		}
	}
	cp_json_end(&w->j, ']');
	return NULL;
}

/* The nodes whose times are bounds: node, total or -1, self or -1. */
static void write_bounds(struct flame_writer *w)
{
	const struct cp_flame *f = w->f;
	uint32_t node, depth = 0;
	int64_t number = 0;

	cp_json_begin(&w->j, "bounds", '[');
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(f, node, &depth), number++) {
		const struct cp_node *n = &f->tree.nodes.items[node];
		struct cp_net_time total = cp_cost_shown(f->p, &n->total);
		struct cp_net_time self = cp_cost_shown(f->p, &n->self);

		if (!total.at_most && !self.at_most)
			continue;
		cp_json_i64(&w->j, NULL, number);
		cp_json_i64(&w->j, NULL, total.at_most ? (int64_t)total.ns : -1);
		cp_json_i64(&w->j, NULL, self.at_most ? (int64_t)self.ns : -1);
	}
	cp_json_end(&w->j, ']');
}

/* [name, image or -1, file, line, class, short name if it is another]; what steers a display is visible in
 * the name, as it is in reports. */
static void write_name(struct flame_writer *w, uint32_t node)
{
	const struct cp_node *n = &w->f->tree.nodes.items[node];
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf class CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf brief CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_function *fn = NULL;

	if (n->kind == CP_NODE_FUNCTION)
		fn = &w->f->p->functions.items[n->ref];
	cp_tree_name(&w->f->tree, node, &raw);
	cp_add_name(&text, raw.bytes ? raw.bytes : "");
	cp_json_begin(&w->j, NULL, '[');
	cp_json_str(&w->j, NULL, text.bytes ? text.bytes : "");
	cp_json_i64(&w->j, NULL, fn ? (int64_t)fn->image : -1);
	cp_json_str(&w->j, NULL, fn && fn->file ? fn->file : "");
	cp_json_u64(&w->j, NULL, fn ? fn->decl_line : 0);
	cp_flame_label_class(w->f, fn ? n->ref : UINT32_MAX, &class);
	cp_json_str(&w->j, NULL, class.bytes ? class.bytes : "");
	cp_brief_name(&brief, text.bytes ? text.bytes : "");
	if (fn && brief.bytes && text.bytes && strcmp(brief.bytes, text.bytes) != 0)
		cp_json_str(&w->j, NULL, brief.bytes);
	cp_json_end(&w->j, ']');
}

/* [name, family, self ns] */
static void write_images(struct flame_writer *w)
{
	size_t i;

	cp_json_begin(&w->j, "images", '[');
	for (i = 0; i < w->f->p->images.count; i++) {
		const struct cp_profile_image *image = &w->f->p->images.items[i];

		cp_json_begin(&w->j, NULL, '[');
		cp_json_str(&w->j, NULL, image->name);
		cp_json_u64(&w->j, NULL, w->f->families[i]);
		cp_json_u64(&w->j, NULL, image->self.weight);
		cp_json_end(&w->j, ']');
	}
	cp_json_end(&w->j, ']');
}

static CP_ERROR write_all(struct flame_writer *w, const char *title)
{
	struct cp_buf note CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	cp_flame_note(w->f, &note);
	cp_json_begin(&w->j, NULL, '{');
	cp_json_str(&w->j, "title", title);
	cp_json_str(&w->j, "note", note.bytes ? note.bytes : "");
	cp_json_str(&w->j, "unit", w->f->p->unit->symbol);
	cp_json_str(&w->j, "whole", w->f->p->unit->whole);
	cp_json_str(&w->j, "ticks", w->f->p->unit->ticks);
	cp_json_u64(&w->j, "total", w->f->p->total.weight);
	if (w->f->old)
		cp_json_u64(&w->j, "old", w->f->old->total.weight);
	CP_TRY(write_nodes(w));
	if (w->f->p->by_calls)
		write_bounds(w);
	cp_json_begin(&w->j, "functions", '[');
	for (i = 0; i < w->examples.count; i++)
		write_name(w, w->examples.items[i]);
	cp_json_end(&w->j, ']');
	write_images(w);
	cp_json_end(&w->j, '}');
	return NULL;
}

CP_ERROR cp_flame_json(const struct cp_flame *f, const char *title, struct cp_buf *out)
{
	struct flame_writer w = { .f = f, .j = { .out = out } };
	struct cp_error *err = write_all(&w, title);

	cp_interner_free(&w.names);
	cp_vec_free(&w.examples);
	return err;
}
