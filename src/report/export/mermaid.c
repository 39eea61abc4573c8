/* SPDX-License-Identifier: MIT
 *
 * Mermaid reads words of its own, HTML and Markdown in labels, so that all but letters,
 * digits and what is harmless there is written as its numbered entities, "#35;". It
 * refuses more than 500 edges unless it is configured otherwise.
 */
#include "report/export/mermaid.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/graph.h"
#include "report/look/table.h"

#define MOST_EDGES 500

static void add_text(struct cp_buf *out, const char *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t size;
	uint32_t character;
	const char *at, *end;

	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, strlen(raw));
	at = text.bytes ? text.bytes : "";
	for (end = at + text.size; at < end; at += size) {
		size = cp_utf8_decode(at, (size_t)(end - at), &character);
		if (!size)
			break;
		if (character < 0x80 && !strchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						"abcdefghijklmnopqrstuvwxyz _.,:+-=()",
						(int)character))
			cp_buf_printf(out, "#%" PRIu32 ";", character);
		else
			cp_buf_add(out, at, size);
	}
}

static void add_buf(struct cp_buf *out, struct cp_buf *text)
{
	add_text(out, text->bytes ? text->bytes : "");
	cp_buf_clear(text);
}

static void write_node(const struct cp_graph *g, size_t i, struct cp_buf *out)
{
	const struct cp_graph_node *n = &g->nodes.items[i];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	double share = cp_share(n->self.ns, g->whole);

	cp_buf_printf(out, "  n%zu[\"", i);
	add_text(out, g->names.shown[i]);
	cp_buf_str(out, "<br/>");
	cp_graph_add_amount(g, n->total, &text);
	cp_buf_str(&text, ", self ");
	cp_graph_add_amount(g, n->self, &text);
	add_buf(out, &text);
	cp_buf_str(out, "<br/>");
	cp_graph_add_count(g, n->count, &text);
	add_buf(out, &text);
	cp_buf_printf(out, "\"]%s\n", share >= 0.1 ? ":::hot" : share >= 0.02 ? ":::warm" : "");
}

static void write_edge(const struct cp_graph *g, const struct cp_graph_edge *e, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(out, "  n%" PRIu32 " %s|\"", e->from,
		      cp_share(e->time.ns, g->whole) >= 0.1 ? "==>" : "-->");
	cp_graph_add_amount(g, e->time, &text);
	cp_buf_str(&text, ", ");
	cp_graph_add_count(g, e->count, &text);
	add_buf(out, &text);
	cp_buf_printf(out, "\"| n%" PRIu32 "\n", e->to);
}

CP_ERROR cp_export_mermaid(const struct cp_profile *p, const struct cp_export_options *o,
			   struct cp_sink *sink)
{
	struct cp_graph g CP_CLEANUP(cp_graph_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_graph_edge *e;
	size_t i;

	CP_TRY(cp_graph_build(p, o->least, MOST_EDGES, &g));
	cp_export_title(p, o, &text);
	cp_buf_str(&sink->buf, "---\ntitle: \"");
	cp_escape(&sink->buf, CP_ESCAPE_JSON, text.bytes ? text.bytes : "", text.size);
	cp_buf_clear(&text);
	cp_buf_str(&sink->buf, "\"\n---\nflowchart TD\n");
	cp_graph_add_left_out(&g, o->least, &text);
	if (text.size) {
		cp_buf_str(&sink->buf, "  left[\"");
		add_buf(&sink->buf, &text);
		cp_buf_str(&sink->buf, "\"]:::note\n");
	}
	for (i = 0; i < g.nodes.count; i++) {
		write_node(&g, i, &sink->buf);
		cp_sink_spill(sink);
	}
	cp_vec_for_each(&g.edges, e) {
		write_edge(&g, e, &sink->buf);
		cp_sink_spill(sink);
	}
	cp_buf_str(&sink->buf, "  classDef hot fill:#fdd,stroke:#c33,color:#000\n"
			       "  classDef warm fill:#fed,stroke:#c93,color:#000\n"
			       "  classDef note fill:none,stroke:none\n");
	return NULL;
}
