/* SPDX-License-Identifier: MIT
 *
 * What a person reads: amounts in words, and tables that fit the width.
 *
 * Cells are filled row by row. Columns take what their widest cell needs; when
 * that is more than there is, columns with a `give` shrink to it, and then the
 * last column is cut. Text is cut in the middle, since the ends of names tell
 * most.
 */
#ifndef CP_REPORT_TABLE_H
#define CP_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"
#include "record/nettime.h"
#include "transcript/look.h"

/* Of columns that can be left out, those that are last. */
#define CP_SPARE_LAST 2u

struct cp_column {
	const char *title; /* "$": the table's `amounts` */
	bool right; /* aligned */
	unsigned give; /* shrinks to this many columns where space is short; 0: never */
	unsigned spare; /* left out where the last column would get too little, the least first;
			 * 0: never */
};

struct cp_cell {
	size_t offset; /* of its text in `text`, NUL-terminated */
	enum cp_paint paint;
	bool function; /* it is the name of one: shortened where there is no room */
};

struct cp_table {
	const struct cp_column *columns; /* borrowed */
	size_t count;
	const char *amounts; /* what a column of amounts is called; "time" unless told */
	struct cp_buf text;
	CP_VEC(struct cp_cell) cells;
	struct cp_buf left_out; /* titles of columns that cp_table_print() had no room for */
	bool calm; /* shares are not painted by how much they are */
	bool failed;
};

void cp_table_init(struct cp_table *t, const struct cp_column *columns, size_t count);
void cp_table_deinit(struct cp_table *t);
/* The next cell. */
void cp_table_cell(struct cp_table *t, enum cp_paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The next cell, untrusted text. */
void cp_table_name(struct cp_table *t, enum cp_paint paint, const char *raw);
/* The next cell, the name of a function, maybe with what is said of it behind two blanks. */
void cp_table_function(struct cp_table *t, enum cp_paint paint, const char *raw);
/* The next cell, a bar as long as `part` is of the `most` that a row of the table has. */
void cp_table_bar(struct cp_table *t, uint64_t part, uint64_t most, uint64_t whole);
/* Percent of `whole`, painted by how much it is. */
void cp_table_percent(struct cp_table *t, uint64_t part, uint64_t whole);
void cp_table_time(struct cp_table *t, enum cp_paint paint, uint64_t ns);
/* The next cell, a time; "<= 45 µs" where it is a bound. */
void cp_table_net_time(struct cp_table *t, enum cp_paint paint, struct cp_net_time time);
void cp_table_count(struct cp_table *t, enum cp_paint paint, uint64_t count);
void cp_table_print(struct cp_table *t, const struct cp_look *look, struct cp_buf *out);
/* After it: a line that names the columns that were left out, if any were. */
void cp_table_say_left_out(const struct cp_table *t, const struct cp_look *look,
			   struct cp_buf *out);

/* Appends `text` and a newline; lines that are too long are broken at blanks
 * and go on below `indent` columns. `used`: columns that the line has now. */
void cp_add_wrapped(struct cp_buf *out, const struct cp_look *look, size_t used, size_t indent,
		    const char *text);
/* Appends a time, or what it is at most. */
static inline void cp_add_net_time(struct cp_buf *out, struct cp_net_time time)
{
	cp_add_time_at_most(out, time.ns, time.at_most);
}
/* Appends untrusted text, escaped for a terminal. */
void cp_add_name(struct cp_buf *out, const char *raw);
/* "1,234,567" */
void cp_add_count(struct cp_buf *out, uint64_t count);
/* "12.3%" */
void cp_add_percent(struct cp_buf *out, uint64_t part, uint64_t whole);
/* `count` with `one` or, unless it is 1, `many` after it. */
void cp_add_plural(struct cp_buf *out, uint64_t count, const char *one, const char *many);

static inline double cp_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif
