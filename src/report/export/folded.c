/* SPDX-License-Identifier: MIT
 *
 * Folded stacks: "outermost;...;innermost WEIGHT", a line a stack, as
 * flamegraph.pl, inferno and speedscope read them.
 */
#include "report/export/folded.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"

struct folded {
	const struct cp_tree *tree;
	struct cp_sink *sink;
	struct cp_buf stack, name; /* escaped names down to where we are */
};

static void write_line(struct folded *f, const struct cp_node *n)
{
	if (!n->self.weight)
		return;
	cp_buf_add(&f->sink->buf, f->stack.bytes, f->stack.size);
	cp_buf_printf(&f->sink->buf, " %" PRIu64 "\n", n->self.weight);
	cp_sink_spill(f->sink);
}

static CP_ERROR write_tree(struct folded *f)
{
	const struct cp_node *nodes = f->tree->nodes.items;
	CP_FREE size_t *ends = calloc(f->tree->depth + 1, sizeof(*ends));
	uint32_t at, depth = 0;

	if (!ends)
		return cp_error_nomem();
	for (at = 0; at != CP_NO_NODE; at = cp_tree_next(f->tree, at, &depth)) {
		f->stack.size = depth ? ends[depth - 1] : 0;
		if (f->stack.size)
			cp_buf_u8(&f->stack, ';');
		cp_buf_clear(&f->name);
		if (depth)
			cp_tree_name(f->tree, at, &f->name);
		cp_escape(&f->stack, CP_ESCAPE_FOLDED, f->name.bytes, f->name.size);
		ends[depth] = f->stack.size;
		write_line(f, &nodes[at]);
	}
	return f->stack.failed || f->name.failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_export_folded(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink)
{
	struct cp_tree tree CP_CLEANUP(cp_tree_deinit) = { 0 };
	struct folded f = { .tree = &tree, .sink = sink };
	struct cp_error *err;

	CP_TRY(cp_tree_build(p, o->roots, &tree));
	err = write_tree(&f);
	cp_buf_free(&f.stack);
	cp_buf_free(&f.name);
	return err;
}
