/* SPDX-License-Identifier: MIT
 *
 * The flame graph as one SVG. It stands on its own: nothing is loaded from
 * anywhere, and what it shows first is there as shapes, so that it is whole
 * in viewers that run no script, and under policies that forbid it. Where
 * scripts run, assets/flame.js takes the shapes away and draws from the data.
 */
#include "report/flame.h"

#include <string.h>

#include "report/assets.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/table.h"

/* As in flame.js. */
#define ROW 20
#define HEAD 92
#define FOOT 14

#define WIDTH 1200.0
#define SIDE 0.01 /* of the width, left and right */
#define LETTER 6.2 /* pixels, about */

struct drawing {
	struct cp_flame flame;
	struct cp_sink *sink;
	double *used; /* by depth: where the next child begins, in ns */
	struct cp_buf raw, text;
};

static void deinit(struct drawing *d)
{
	cp_flame_deinit(&d->flame);
	free(d->used);
	cp_buf_free(&d->raw);
	cp_buf_free(&d->text);
}

static void add_xml(struct cp_buf *out, const struct cp_buf *raw)
{
	if (raw->size)
		cp_escape(out, CP_ESCAPE_XML, raw->bytes, raw->size);
}

static void write_title(struct drawing *d, const struct cp_node *n)
{
	struct cp_buf *out = &d->sink->buf;
	uint64_t whole = d->flame.p->total.ns;

	cp_buf_str(out, "<title>");
	add_xml(out, &d->raw);
	if (n->kind == CP_NODE_FUNCTION) {
		const char *image =
			cp_profile_image_name(d->flame.p, &d->flame.p->functions.items[n->ref]);

		cp_buf_str(out, " (");
		cp_escape(out, CP_ESCAPE_XML, image, strlen(image));
		cp_buf_str(out, ")");
	}
	cp_buf_str(out, "\n");
	cp_add_percent(out, n->total.ns, whole);
	cp_buf_str(out, ", ");
	cp_add_time(out, n->total.ns);
	cp_buf_str(out, "; self ");
	cp_add_percent(out, n->self.ns, whole);
	cp_buf_str(out, n->inlined ? "; inlined" : "");
	cp_buf_str(out, n->guessed_ns ? "; guessed" : "");
	cp_buf_str(out, "</title>");
}

/* As much of the name as there is room for. */
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
	add_xml(out, &d->text);
	cp_buf_str(out, "</text>");
}

static void write_frame(struct drawing *d, uint32_t node, uint32_t depth, double from)
{
	const struct cp_node *n = &d->flame.tree.nodes.items[node];
	double whole = (double)d->flame.p->total.ns;
	double left = 100 * from / whole, width = 100 * (double)n->total.ns / whole;
	double pixels = width / 100 * WIDTH * (1 - 2 * SIDE);
	struct cp_buf *out = &d->sink->buf;

	if (pixels < 1)
		return;
	cp_buf_clear(&d->raw);
	cp_tree_name(&d->flame.tree, node, &d->raw);
	cp_buf_printf(out, "<svg x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"><g", left,
		      HEAD + depth * ROW, width, ROW - 1);
	if (n->inlined || n->guessed_ns)
		cp_buf_printf(out, " class=\"%s%s\"", n->inlined ? "inlined " : "",
			      n->guessed_ns ? "guessed" : "");
	cp_buf_str(out, ">");
	write_title(d, n);
	cp_buf_str(out, "<rect rx=\"2\" width=\"99.9%\" height=\"100%\" class=\"");
	cp_flame_class(&d->flame, node, out);
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
		      "<g class=\"still\"><g class=\"frames\" fill=\"#f3b878\"><svg x=\"%g%%\" "
		      "width=\"%g%%\" "
		      "y=\"0\" height=\"100%%\">\n",
		      100 * SIDE, 100 - 200 * SIDE);
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(&d->flame, node, &depth)) {
		double from = depth ? d->used[depth - 1] : 0;

		d->used[depth] = from;
		if (depth)
			d->used[depth - 1] += (double)d->flame.tree.nodes.items[node].total.ns;
		if (d->flame.p->total.ns)
			write_frame(d, node, depth, from);
	}
	cp_buf_str(out, "</svg></g>\n");
}

static void write_head(struct drawing *d, const struct cp_buf *title)
{
	struct cp_buf *out = &d->sink->buf;
	unsigned height = HEAD + (d->flame.depth ? d->flame.depth : 1) * ROW + FOOT;

	cp_buf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%.0f\" "
		      "height=\"%u\" viewBox=\"0 0 %.0f %u\" role=\"img\">\n<title>",
		      WIDTH, height, WIDTH, height);
	add_xml(out, title);
	cp_buf_str(out, "</title>\n<style>");
	cp_buf_str(out, cp_asset_flame_css);
	cp_flame_colors(out);
	cp_buf_str(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" "
			"fill=\"#fcfbf9\"/>\n");
}

/* Title and note of the still picture; the script has its own. */
static void write_heading(struct drawing *d, const struct cp_buf *title)
{
	struct cp_buf *out = &d->sink->buf;

	cp_buf_clear(&d->raw);
	cp_flame_note(&d->flame, &d->raw);
	cp_buf_str(out, "<text class=\"title\" x=\"1%\" y=\"30\">");
	add_xml(out, title);
	cp_buf_str(out, "</text><text class=\"note\" x=\"1%\" y=\"52\">");
	add_xml(out, &d->raw);
	cp_buf_str(out, "</text></g>\n");
}

static CP_ERROR write_script(struct drawing *d, const struct cp_buf *title)
{
	struct cp_buf json CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf *out = &d->sink->buf;

	CP_TRY(cp_flame_json(&d->flame, title->bytes, &json));
	cp_buf_str(out, "<script type=\"application/json\" id=\"flame-data\">");
	add_xml(out, &json);
	cp_buf_str(out, "</script>\n<script><![CDATA[");
	cp_buf_str(out, cp_asset_flame_js);
	cp_buf_str(out, "]]></script>\n</svg>\n");
	return json.failed ? cp_error_nomem() : NULL;
}

CP_EXPORT_WRITER(flamegraph)
{
	struct drawing d CP_CLEANUP(deinit) = { .sink = sink };
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };

	CP_TRY(cp_flame_init(&d.flame, p, o));
	d.used = calloc(d.flame.depth + 1, sizeof(*d.used));
	if (!d.used)
		return cp_error_nomem();
	cp_export_title(p, o, &title);
	write_head(&d, &title);
	write_frames(&d);
	write_heading(&d, &title);
	return write_script(&d, &title);
}
