/* SPDX-License-Identifier: MIT
 *
 * A round may look at a thread more than once (it woke up meanwhile, or has to be held):
 * what counts is the last look, and nothing is shown before all are over.
 */
#include "cmd/inspect_watched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/reports.h"

static struct cp_watched_row *row_of(struct cp_inspect *i, int expression)
{
	/* Of several threads only one has the frame that is meant. */
	pid_t key = i->o->frame && !i->o->thread ? 0 : i->in.tid;
	struct cp_watched *w = i->watched;
	struct cp_watched_row *row;

	key = expression ? key : 0;
	cp_vec_for_each(&w->rows, row)
		if (row->key == key && row->expression == expression)
			return row;
	return cp_vec_push(&w->rows,
			   ((struct cp_watched_row){ .key = key, .expression = expression }))
		       ? &w->rows.items[w->rows.count - 1]
		       : NULL;
}

static void begin_row(struct cp_inspect *i, struct cp_watched_row *row, const struct timespec *at)
{
	cp_buf_free(&row->now);
	cp_error_free(row->err);
	row->now = (struct cp_buf){ 0 };
	row->err = NULL;
	row->fresh = true;
	row->tid = i->in.tid;
	row->at = *at;
}

void cp_watched_look(struct cp_inspect *i)
{
	const struct cp_json json = i->json;
	struct cp_buf *out = i->out, text;
	struct cp_watched_row *row;
	struct timespec at; /* of all of them: it is one look */
	struct cp_error *err;
	int n;

	clock_gettime(CLOCK_REALTIME, &at);
	for (n = 1; n < i->args->count; n++) {
		text = (struct cp_buf){ 0 };
		i->out = &text;
		i->json = (struct cp_json){ .out = &text };
		err = cp_inspect_one(i, i->args->operands[n]);
		row = i->rehearsing ? NULL : row_of(i, n);
		if (row) {
			begin_row(i, row, &at);
			row->now = text;
			row->err = err;
		} else {
			cp_buf_free(&text);
			cp_error_free(err);
		}
	}
	i->out = out;
	i->json = json;
}

void cp_watched_drop(struct cp_inspect *i, pid_t tid)
{
	struct cp_watched_row *row;

	if (i->watched)
		cp_vec_for_each(&i->watched->rows, row)
			if (!tid || row->tid == tid)
				row->fresh = false;
}

void cp_watched_lacks(struct cp_inspect *i, const char *why)
{
	struct cp_watched_row *row = row_of(i, 0);
	struct timespec at;
	struct cp_json json;

	if (!row)
		return;
	clock_gettime(CLOCK_REALTIME, &at);
	begin_row(i, row, &at);
	json = (struct cp_json){ .out = &row->now };
	if (i->o->json) {
		cp_json_begin(&json, NULL, '{');
		cp_json_str(&json, "error", why);
		cp_json_end(&json, '}');
	} else {
		cp_buf_str(&row->now, why);
		cp_buf_u8(&row->now, '\n');
	}
}

/* ---- telling ---- */

static void print_stamp(struct cp_inspect *i, struct cp_buf *to, const struct timespec *now)
{
	struct cp_buf text = { 0 };
	struct tm at;

	localtime_r(&now->tv_sec, &at);
	cp_buf_printf(&text, "%02d:%02d:%02d.%03ld", at.tm_hour, at.tm_min, at.tm_sec,
		      now->tv_nsec / 1000000);
	cp_buf_u8(&text, 0);
	if (!text.failed)
		cp_paint(to, &i->look, CP_PAINT_DIM, (const char *)text.bytes);
	cp_buf_u8(to, ' ');
	cp_buf_free(&text);
}

static void print_row(struct cp_inspect *i, const struct cp_watched_row *row)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };

	if (i->o->json) {
		cp_buf_printf(&line, "{\"time_ns\":%llu,",
			      (unsigned long long)row->at.tv_sec * 1000000000u +
				      (unsigned long long)row->at.tv_nsec);
		cp_buf_add(&line, row->now.bytes + 1, row->now.size - 1);
		cp_buf_u8(&line, '\n');
	} else {
		print_stamp(i, &line, &row->at);
		if (i->threads.list.count > 1 && row->expression)
			cp_buf_printf(&line, "%d ", (int)row->tid);
		cp_buf_add(&line, row->now.bytes, row->now.size);
	}
	fwrite(line.bytes, 1, line.size, stdout);
}

/* Where there is no frame, whatever is in it the next time is new. */
static void forget_values(struct cp_watched *w)
{
	struct cp_watched_row *row;

	cp_vec_for_each(&w->rows, row)
		if (row->expression)
			cp_buf_clear(&row->last);
}

static void tell_row(struct cp_inspect *i, struct cp_watched_row *row)
{
	struct cp_buf before = row->last;

	/* What comes later may go again. */
	if (row->err) {
		if (!i->watched->again)
			i->watched->status = cp_reports_fail(cp_steal(row->err));
		return;
	}
	if (row->now.failed || !row->now.size ||
	    (row->now.size == before.size && !memcmp(row->now.bytes, before.bytes, before.size)))
		return;
	print_row(i, row);
	row->last = row->now;
	row->now = before;
	if (!row->expression)
		forget_values(i->watched);
}

CP_ERROR cp_watched_tell(struct cp_inspect *i)
{
	struct cp_watched *w = i->watched;
	struct cp_watched_row *row;

	cp_vec_for_each(&w->rows, row) {
		if (row->fresh)
			tell_row(i, row);
		else if (!row->expression)
			cp_buf_clear(&row->last);
		row->fresh = false;
	}
	w->again = true;
	return fflush(stdout) ? cp_error_new(CP_ERR_IO, errno, "standard output") : NULL;
}

void cp_watched_free(struct cp_watched *w)
{
	struct cp_watched_row *row;

	cp_vec_for_each(&w->rows, row) {
		cp_buf_free(&row->last);
		cp_buf_free(&row->now);
		cp_error_free(row->err);
	}
	cp_vec_free(&w->rows);
}
