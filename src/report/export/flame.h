/* SPDX-License-Identifier: MIT
 *
 * A flame graph before it is drawn: the call tree with what is too small left
 * out, colors by file and function, and all of it as JSON for the script that
 * makes it live.
 */
#ifndef CP_REPORT_FLAME_H
#define CP_REPORT_FLAME_H

#include "report/export/title.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"

/* Families of colors: files of code get one each. */
enum {
	CP_FLAME_PROGRAM = 0,
	CP_FLAME_LIBC = 1,
	CP_FLAME_FIRST_LIBRARY = 2,
	CP_FLAME_LAST_LIBRARY = 9,
	CP_FLAME_KERNEL = 10,
	CP_FLAME_OTHER = 11, /* unknown, generated, not a function */
	CP_FLAME_FAMILIES = 12,
	CP_FLAME_SHADES = 5,
	CP_FLAME_HEATS = 6, /* steps of a difference, each way */
	CP_FLAME_ROW = 20, /* height of a frame; as in flame.js */
};
#define CP_FLAME_WIDTH 1200.0 /* of a still picture */

struct cp_flame {
	const struct cp_profile *p; /* borrowed */
	struct cp_tree tree;
	unsigned *families; /* by image */
	uint32_t depth; /* levels that are kept */
	uint64_t least; /* nodes below are left out */
	/* of a difference: */
	const struct cp_profile *old; /* NULL: there is none */
	uint64_t *old_weights; /* by node */
	double deviations; /* that chance gives a node's share (cp_diff_deviations) */
	double heat_most; /* biggest change of a node's share */
};

CP_ERROR cp_flame_init(struct cp_flame *f, const struct cp_profile *p,
		       const struct cp_export_options *o);
void cp_flame_deinit(struct cp_flame *f);

bool cp_flame_kept(const struct cp_flame *f, uint32_t node);
/* The next node that is kept, as cp_tree_next(). */
uint32_t cp_flame_next(const struct cp_flame *f, uint32_t node, uint32_t *depth);
/* Appends the CSS class of a node's color. */
void cp_flame_class(const struct cp_flame *f, uint32_t node, struct cp_buf *out);
/* That of a function of the profile, or of what is none. */
void cp_flame_label_class(const struct cp_flame *f, uint32_t function, struct cp_buf *out);
/* Appends rules for all classes of colors, light and dark. */
void cp_flame_colors(struct cp_buf *out);
/* Appends one line: how much was recorded, when; raw. */
void cp_flame_note(const struct cp_flame *f, struct cp_buf *out);
/* Appends raw text, escaped for XML and HTML. */
void cp_flame_text(struct cp_buf *out, const struct cp_buf *raw);
/* The height of a picture whose first row begins at `top`. */
unsigned cp_flame_height(const struct cp_flame *f, unsigned top);
/* Appends the data of the script. */
CP_ERROR cp_flame_json(const struct cp_flame *f, const char *title, struct cp_buf *out);

#endif
