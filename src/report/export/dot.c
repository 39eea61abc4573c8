/* SPDX-License-Identifier: MIT
 *
 * Graphviz reads entities of HTML in labels, and its own escapes behind a backslash; so
 * both are escaped. Names are short in labels, and whole in tooltips.
 */
#include "report/export/dot.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/graph.h"
#include "report/look/table.h"

/* Appends the content of a string in quotation marks. */
static void add_text(struct cp_buf *out, const char *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *at;

	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, strlen(raw));
	for (at = text.bytes ? text.bytes : ""; *at; at++) {
		if (*at == '"' || *at == '\\')
			cp_buf_u8(out, '\\');
		cp_buf_u8(out, (uint8_t)*at);
		if (*at == '&')
			cp_buf_str(out, "amp;");
	}
}

static void add_buf(struct cp_buf *out, struct cp_buf *text)
{
	add_text(out, text->bytes ? text->bytes : "");
	cp_buf_clear(text);
}

/* From yellow to red by its own time, beside the hottest one; white without any. */
static void add_color(const struct cp_graph *g, const struct cp_graph_node *n, struct cp_buf *out)
{
	double share = cp_share(n->self.ns, g->most_self);

	cp_buf_printf(out, ", fillcolor=\"%.3f %.3f 1.000\"", 0.15 * (1 - share),
		      n->self.ns ? 0.08 + 0.5 * share : 0);
}

static void write_node(const struct cp_graph *g, size_t i, struct cp_buf *out)
{
	const struct cp_graph_node *n = &g->nodes.items[i];
	const struct cp_function *f = &g->profile->functions.items[n->function];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(out, "  n%zu [label=\"", i);
	add_text(out, g->names.shown[i]);
	cp_buf_str(out, "\\n");
	add_text(out, cp_profile_image_name(g->profile, f));
	cp_buf_str(out, "\\n");
	cp_graph_add_amount(g, n->total, &text);
	cp_buf_str(&text, " · ");
	cp_add_percent(&text, n->total.ns, g->whole);
	add_buf(out, &text);
	cp_buf_str(out, "\\n");
	cp_buf_str(&text, "self ");
	cp_graph_add_amount(g, n->self, &text);
	cp_buf_str(&text, " · ");
	cp_add_percent(&text, n->self.ns, g->whole);
	add_buf(out, &text);
	cp_buf_str(out, "\\n");
	cp_graph_add_count(g, n->count, &text);
	add_buf(out, &text);
	cp_buf_str(out, "\", tooltip=\"");
	add_text(out, f->name);
	cp_buf_str(out, "\"");
	add_color(g, n, out);
	cp_buf_str(out, "];\n");
}

static void write_edge(const struct cp_graph *g, const struct cp_graph_edge *e, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	double share = cp_share(e->time.ns, g->whole);

	cp_buf_printf(out, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"", e->from, e->to);
	cp_graph_add_amount(g, e->time, &text);
	add_buf(out, &text);
	cp_buf_str(out, "\\n");
	cp_graph_add_count(g, e->count, &text);
	add_buf(out, &text);
	cp_buf_printf(out, "\", penwidth=%.2f, weight=%u];\n", 0.5 + 4 * (share < 1 ? share : 1),
		      1 + (unsigned)(99 * (share < 1 ? share : 1)));
}

CP_ERROR cp_export_dot(const struct cp_profile *p, const struct cp_export_options *o,
		       struct cp_sink *sink)
{
	struct cp_graph g CP_CLEANUP(cp_graph_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_graph_edge *e;
	size_t i;

	CP_TRY(cp_graph_build(p, o->least, 0, &g));
	cp_buf_str(&sink->buf, "digraph cprof {\n  graph [label=\"");
	cp_export_title(p, o, &text);
	add_buf(&sink->buf, &text);
	cp_buf_str(&sink->buf, "\\n");
	cp_graph_add_left_out(&g, o->least, &text);
	add_buf(&sink->buf, &text);
	cp_buf_str(&sink->buf,
		   "\", labelloc=t, fontname=\"sans-serif\", nodesep=0.2];\n"
		   "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", "
		   "fontsize=10];\n"
		   "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#555555\"];\n");
	for (i = 0; i < g.nodes.count; i++) {
		write_node(&g, i, &sink->buf);
		cp_sink_spill(sink);
	}
	cp_vec_for_each(&g.edges, e) {
		write_edge(&g, e, &sink->buf);
		cp_sink_spill(sink);
	}
	cp_buf_str(&sink->buf, "}\n");
	return NULL;
}
