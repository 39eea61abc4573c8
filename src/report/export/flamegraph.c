/* SPDX-License-Identifier: MIT
 *
 * The flame graph as one SVG. It stands on its own: nothing is loaded from
 * anywhere, and what it shows first is there as shapes, so that it is whole
 * in viewers that run no script, and under policies that forbid it. Where
 * scripts run, assets/flame.js takes the shapes away and draws from the data.
 */
#include "report/export/flamegraph.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/assets.h"
#include "report/export/flame.h"
#include "report/export/picture.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

#define HEAD 92 /* height of title and tools; as in flame.js */

static void write_head(const struct cp_flame *f, const struct cp_buf *title, struct cp_buf *out)
{
	unsigned height = cp_flame_height(f, HEAD);

	cp_buf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%.0f\" "
		      "height=\"%u\" viewBox=\"0 0 %.0f %u\" role=\"img\">\n<title>",
		      CP_FLAME_WIDTH, height, CP_FLAME_WIDTH, height);
	cp_flame_text(out, title);
	cp_buf_str(out, "</title>\n<style>");
	cp_buf_str(out, cp_asset_flame_css);
	cp_flame_colors(out);
	cp_buf_str(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" "
			"fill=\"#fcfbf9\"/>\n");
}

/* Title and note of the still picture; the script has its own. */
static void write_heading(const struct cp_flame *f, const struct cp_buf *title, struct cp_buf *out)
{
	struct cp_buf note CP_CLEANUP(cp_buf_free) = { 0 };

	cp_flame_note(f, &note);
	cp_buf_str(out, "<text class=\"title\" x=\"1%\" y=\"30\">");
	cp_flame_text(out, title);
	cp_buf_str(out, "</text><text class=\"note\" x=\"1%\" y=\"52\">");
	cp_flame_text(out, &note);
	cp_buf_str(out, "</text>\n");
}

static CP_ERROR write_script(const struct cp_flame *f, const struct cp_buf *title,
			     struct cp_buf *out)
{
	struct cp_buf json CP_CLEANUP(cp_buf_free) = { 0 };

	CP_TRY(cp_flame_json(f, title->bytes, &json));
	cp_buf_str(out, "<script type=\"application/json\" id=\"flame-data\">");
	cp_flame_text(out, &json);
	cp_buf_str(out, "</script>\n<script><![CDATA[");
	cp_buf_str(out, cp_asset_flame_js);
	cp_buf_str(out, "]]></script>\n</svg>\n");
	return json.failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_export_flamegraph(const struct cp_profile *p, const struct cp_export_options *o,
			      struct cp_sink *sink)
{
	struct cp_flame f CP_CLEANUP(cp_flame_deinit) = { 0 };
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };

	CP_TRY(cp_flame_init(&f, p, o));
	cp_export_title(p, o, &title);
	write_head(&f, &title, &sink->buf);
	cp_buf_str(&sink->buf, "<g class=\"still\">");
	CP_TRY(cp_flame_draw(&f, HEAD, sink));
	write_heading(&f, &title, &sink->buf);
	cp_buf_str(&sink->buf, "</g>\n");
	return write_script(&f, &title, &sink->buf);
}
