/* SPDX-License-Identifier: MIT
 *
 * The still picture of a flame graph: shapes at places in percent, so that it
 * is as wide as where it stands. What is narrower than a pixel is left out.
 */
#include "report/export/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/flame.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"

#define SIDE 0.01 /* of the width, left and right; as in flame.js */
#define LETTER 6.2 /* pixels, about */

struct drawing {
	const struct cp_flame *flame;
	struct cp_sink *sink;
	unsigned top; /* where the first row begins */
	double *used; /* by depth: where the next child begins, in ns */
	struct cp_buf raw, text;
};

static void deinit(struct drawing *d)
{
	free(d->used);
	cp_buf_free(&d->raw);
	cp_buf_free(&d->text);
}

static void write_title(struct drawing *d, const struct cp_node *n)
{
	struct cp_buf *out = &d->sink->buf;
	uint64_t whole = d->flame->p->total.weight;

	cp_buf_str(out, "<title>");
	cp_flame_text(out, &d->raw);
	if (n->kind == CP_NODE_FUNCTION) {
		const char *image =
			cp_profile_image_name(d->flame->p, &d->flame->p->functions.items[n->ref]);

		cp_buf_str(out, " (");
		cp_escape(out, CP_ESCAPE_XML, image, strlen(image));
		cp_buf_str(out, ")");
	}
	cp_buf_str(out, "\n");
	cp_add_percent(out, n->total.weight, whole);
	cp_buf_str(out, ", ");
	cp_buf_clear(&d->text);
	cp_cost_add_words(d->flame->p, &n->total, &d->text); /* it may be a bound: "<= " */
	cp_flame_text(out, &d->text);
	cp_buf_str(out, "; self ");
	cp_add_percent(out, n->self.weight, whole);
	cp_buf_str(out, n->inlined ? "; inlined" : "");
	cp_buf_str(out, n->guessed ? "; guessed" : "");
	cp_buf_str(out, "</title>");
}

/* A frame's name, as much of it as there is room for. */
static void write_name(struct drawing *d, double pixels)
{
	struct cp_buf *out = &d->sink->buf;
	size_t letters = pixels > 24 ? (size_t)((pixels - 8) / LETTER) : 0;
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	if (letters < 3)
		return;
	cp_buf_clear(&d->text);
	cp_escape(&name, CP_ESCAPE_TERMINAL, d->raw.bytes, d->raw.size);
	cp_text_fit(&d->text, name.bytes ? name.bytes : "", letters);
	cp_buf_str(out, "<text x=\"4\" y=\"14\">");
	cp_flame_text(out, &d->text);
	cp_buf_str(out, "</text>");
}

static void write_frame(struct drawing *d, uint32_t node, uint32_t depth, double from)
{
	const struct cp_node *n = &d->flame->tree.nodes.items[node];
	double whole = (double)d->flame->p->total.weight;
	double left = 100 * from / whole, width = 100 * (double)n->total.weight / whole;
	double pixels = width / 100 * CP_FLAME_WIDTH * (1 - 2 * SIDE);
	struct cp_buf *out = &d->sink->buf;

	if (pixels < 1)
		return;
	cp_buf_clear(&d->raw);
	cp_tree_name(&d->flame->tree, node, &d->raw);
	cp_buf_printf(out, "<svg x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"><g", left,
		      d->top + depth * CP_FLAME_ROW, width, CP_FLAME_ROW - 1);
	if (n->inlined || n->guessed)
		cp_buf_printf(out, " class=\"%s%s\"", n->inlined ? "inlined " : "",
			      n->guessed ? "guessed" : "");
	cp_buf_str(out, ">");
	write_title(d, n);
	cp_buf_str(out, "<rect rx=\"2\" width=\"99.9%\" height=\"100%\" class=\"");
	cp_flame_class(d->flame, node, out);
	cp_buf_str(out, "\"/>");
	write_name(d, pixels);
	cp_buf_str(out, "</g></svg>\n");
	cp_sink_spill(d->sink);
}

static void write_frames(struct drawing *d)
{
	struct cp_buf *out = &d->sink->buf;
	uint32_t node, depth = 0;

	cp_buf_printf(out,
		      "<g class=\"frames\" fill=\"#f3b878\"><svg x=\"%g%%\" "
		      "width=\"%g%%\" "
		      "y=\"0\" height=\"100%%\">\n",
		      100 * SIDE, 100 - 200 * SIDE);
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(d->flame, node, &depth)) {
		double from = depth ? d->used[depth - 1] : 0;

		d->used[depth] = from;
		if (depth)
			d->used[depth - 1] += (double)d->flame->tree.nodes.items[node].total.weight;
		if (d->flame->p->total.weight)
			write_frame(d, node, depth, from);
	}
	cp_buf_str(out, "</svg></g>\n");
}

CP_ERROR cp_flame_draw(const struct cp_flame *f, unsigned top, struct cp_sink *sink)
{
	struct drawing d CP_CLEANUP(deinit) = { .flame = f, .sink = sink, .top = top };

	d.used = calloc(f->depth + 1, sizeof(*d.used));
	if (!d.used)
		return cp_error_nomem();
	write_frames(&d);
	return d.raw.failed || d.text.failed ? cp_error_nomem() : NULL;
}
