/* SPDX-License-Identifier: MIT
 *
 * Calls that were added up as they happened (sums.h), in a recording that has no events
 * of them.
 *
 * A section has a part's number, then rows up to its end: kind, size, and
 *
 *     BEGIN     beat, events
 *     THREAD    thread, beat, calls, times of the outermost
 *     EDGE      process, caller + 1, callee, beat, what its calls come to
 *     OPEN, OPEN_THREAD   the same of calls that are open at that beat
 *
 * Sums are of all since the beginning, so of several rows about the same in a part the
 * last one counts, and a lost chunk is made up for by later ones. Of calls that are open
 * only those of the last beat count: what had ended by then is in EDGE and THREAD.
 */
#ifndef CP_RECORD_SUM_ROWS_H
#define CP_RECORD_SUM_ROWS_H

#include "base/buf.h"
#include "base/cursor.h"
#include "record/callsum.h"

enum cp_record_sum_kind {
	CP_SUM_BEGIN,
	CP_SUM_THREAD,
	CP_SUM_EDGE,
	CP_SUM_OPEN,
	CP_SUM_OPEN_THREAD,
	CP_SUM_KINDS,
};

struct cp_record_sum {
	enum cp_record_sum_kind kind;
	uint32_t beat; /* how often sums had been written, this time too */
	uint64_t events; /* BEGIN: that are added up */
	uint32_t thread; /* THREAD, OPEN_THREAD: of it */
	uint64_t calls;
	struct cp_net_sum outermost; /* of calls that no traced function made */
	uint32_t process; /* EDGE, OPEN: of it */
	uint32_t caller, callee; /* locations; caller CP_RECORD_NONE: nobody that was traced */
	struct cp_call_sum sum;
};

static inline bool cp_record_sum_is_of_thread(const struct cp_record_sum *row)
{
	return row->kind == CP_SUM_THREAD || row->kind == CP_SUM_OPEN_THREAD;
}

struct cp_record_writer;

/* Copied. Answers about how many bytes that is. */
size_t cp_record_sum(struct cp_record_writer *w, const struct cp_record_sum *row);
/* Events that are added up since the last time that this was said. */
void cp_record_summed(struct cp_record_writer *w, uint64_t events);

/* Of a recording that was read, all but BEGIN; live as long as it does. */
size_t cp_record_sum_count(const struct cp_record *r);
const struct cp_record_sum *cp_record_get_sum(const struct cp_record *r, size_t n);
/* The events of calls that they are made of. */
uint64_t cp_record_summed_count(const struct cp_record *r);

/* ---- private to src/record ---- */

struct cp_record_decoder;

/* A row's bytes, and the rows of tables that they refer to. */
struct cp_record_sum_bytes {
	enum cp_record_sum_kind kind;
	uint32_t thread, process, caller, callee; /* CP_RECORD_NONE: none */
	const char *bytes; /* behind kind and size */
	size_t size;
};

/* What `row` refers to; `body` becomes its bytes, which are not in the answer yet. */
struct cp_record_sum_bytes cp_record_put_sum(struct cp_buf *body, const struct cp_record_sum *row);
/* False: the section makes no sense, or there is no memory. */
bool cp_record_decode_sums(struct cp_record_decoder *d, struct cp_cursor *c);
/* Leaves out what was open before the last beat. */
void cp_record_build_sums(struct cp_record *r);
void cp_record_free_sums(struct cp_record *r);

#endif
