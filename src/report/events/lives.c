/* SPDX-License-Identifier: MIT */
#include "report/events/lives.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/types.h"
#include "record/lives.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/profile.h"

static const char *const begins[] = {
	[CP_LIFE_BEGAN] = "", /* */
	[CP_LIFE_STARTED] = "start", [CP_LIFE_ATTACHED] = "attach",
	[CP_LIFE_FORKED] = "fork",   [CP_LIFE_EXECUTED] = "exec",
};

static bool accepted(const struct cp_profile *p, const struct cp_record_life *life)
{
	const struct cp_profile_filter *f = &p->filter;

	if ((f->pid && life->pid != f->pid) ||
	    (f->to_ns && cp_profile_ns(p, life->start_ns) > f->to_ns) ||
	    (life->end_ns && cp_profile_ns(p, life->end_ns) < f->from_ns))
		return false;
	return !f->thread || (life->thread && cp_thread_matches(f->thread, life->tid, life->name));
}

struct lives {
	const struct cp_record_life **items; /* owned, by their beginning */
	size_t count;
};

static int by_start(const void *pa, const void *pb)
{
	const struct cp_record_life *a = *(const struct cp_record_life *const *)pa;
	const struct cp_record_life *b = *(const struct cp_record_life *const *)pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static CP_ERROR choose(const struct cp_profile *p, bool threads, struct lives *ret)
{
	size_t all = cp_record_life_count(p->record), i;
	struct lives lives = { calloc(all + 1, sizeof(*lives.items)), 0 };

	if (!lives.items)
		return cp_error_nomem();
	for (i = 0; i < all; i++) {
		const struct cp_record_life *life = cp_record_get_life(p->record, (uint32_t)i);

		if (life->thread == threads && accepted(p, life))
			lives.items[lives.count++] = life;
	}
	qsort(lives.items, lives.count, sizeof(*lives.items), by_start);
	*ret = lives;
	return NULL;
}

size_t cp_lives_count(const struct cp_profile *p, bool threads)
{
	size_t all = cp_record_life_count(p->record), count = 0, i;

	for (i = 0; i < all; i++) {
		const struct cp_record_life *life = cp_record_get_life(p->record, (uint32_t)i);

		count += life->thread == threads && accepted(p, life);
	}
	return count;
}

/* ---- for people ---- */

static void number_cell(struct cp_table *t, int32_t number)
{
	if (number)
		cp_table_cell(t, CP_PAINT_PLAIN, "%d", number);
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void end_time_cell(struct cp_table *t, const struct cp_profile *p,
			  const struct cp_record_life *life)
{
	if (life->end_ns)
		cp_table_time(t, CP_PAINT_PLAIN, cp_profile_ns(p, life->end_ns));
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void end_cell(struct cp_table *t, const struct cp_record_life *life)
{
	int status = life->wait_status;

	switch (life->end) {
	case CP_LIFE_LASTS:
	case CP_LIFE_ENDS:
		cp_table_cell(t, CP_PAINT_DIM, "not seen");
		break;
	case CP_LIFE_ENDED:
		if (life->thread)
			cp_table_cell(t, CP_PAINT_PLAIN, "ended");
		else if (WIFSIGNALED(status))
			cp_table_cell(t, CP_PAINT_WARNING, "signal %d (%s)", WTERMSIG(status),
				      strsignal(WTERMSIG(status)));
		else
			cp_table_cell(t, WEXITSTATUS(status) ? CP_PAINT_WARNING : CP_PAINT_PLAIN,
				      "exit status %d", WEXITSTATUS(status));
		break;
	case CP_LIFE_REPLACED:
		cp_table_cell(t, CP_PAINT_PLAIN, "exec");
		break;
	case CP_LIFE_LET_GO:
		cp_table_cell(t, CP_PAINT_PLAIN, "let go");
		break;
	}
}

static void process_row(struct cp_table *t, const struct cp_profile *p,
			const struct cp_record_life *life)
{
	number_cell(t, life->pid);
	number_cell(t, life->parent);
	cp_table_time(t, CP_PAINT_PLAIN, cp_profile_ns(p, life->start_ns));
	cp_table_cell(t, CP_PAINT_PLAIN, "%s", begins[life->begin]);
	end_time_cell(t, p, life);
	end_cell(t, life);
	cp_table_name(t, CP_PAINT_PLAIN, life->name);
}

static void thread_row(struct cp_table *t, const struct cp_profile *p,
		       const struct cp_record_life *life)
{
	number_cell(t, life->tid);
	number_cell(t, life->pid);
	cp_table_time(t, CP_PAINT_PLAIN, cp_profile_ns(p, life->start_ns));
	end_time_cell(t, p, life);
	end_cell(t, life);
	if (life->cpu_ns)
		cp_table_time(t, CP_PAINT_PLAIN, life->cpu_ns);
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
	cp_table_name(t, CP_PAINT_PLAIN, life->name);
}

static const struct cp_column process_columns[] = {
	{ .title = "pid", .right = true },
	{ .title = "parent", .right = true, .spare = true },
	{ .title = "from", .right = true },
	{ .title = "by" },
	{ .title = "to", .right = true },
	{ .title = "by", .give = 14 },
	{ .title = "process" },
};

static const struct cp_column thread_columns[] = {
	{ .title = "tid", .right = true },
	{ .title = "process", .right = true, .spare = true },
	{ .title = "from", .right = true },
	{ .title = "to", .right = true },
	{ .title = "by" },
	{ .title = "CPU time", .right = true },
	{ .title = "thread" },
};

_Static_assert(CP_ARRAY_SIZE(process_columns) == CP_ARRAY_SIZE(thread_columns), "one table");

CP_ERROR cp_report_lives(const struct cp_profile *p, bool threads, uint64_t limit,
			 const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct lives lives;
	size_t shown, i;

	CP_TRY(choose(p, threads, &lives));
	shown = limit && limit < lives.count ? (size_t)limit : lives.count;
	cp_table_init(&t, threads ? thread_columns : process_columns,
		      CP_ARRAY_SIZE(thread_columns));
	for (i = 0; i < shown; i++)
		(threads ? thread_row : process_row)(&t, p, lives.items[i]);
	if (shown) {
		cp_report_title(out, look, threads ? "Lives of threads" : "Lives of processes",
				"since the start of the recording");
		cp_table_print(&t, look, out);
		cp_report_more(out, look, shown, lives.count);
	}
	free(lives.items);
	return NULL;
}

/* ---- JSON ---- */

static void process_json(const struct cp_record_life *life, struct cp_json *j)
{
	int status = life->wait_status;

	if (life->parent)
		cp_json_i64(j, "ppid", life->parent);
	else
		cp_json_null(j, "ppid");
	cp_json_str(j, "exe", life->exe);
	cp_json_str(j, "began_by", life->begin == CP_LIFE_BEGAN ? NULL : begins[life->begin]);
	if (life->end != CP_LIFE_ENDED)
		return;
	if (WIFSIGNALED(status))
		cp_json_i64(j, "signal", WTERMSIG(status));
	else
		cp_json_i64(j, "exit_status", WEXITSTATUS(status));
}

static void life_json(const struct cp_profile *p, const struct cp_record_life *life,
		      struct cp_json *j)
{
	cp_json_begin(j, NULL, '{');
	if (life->thread)
		cp_json_i64(j, "tid", life->tid);
	cp_json_i64(j, "pid", life->pid);
	cp_json_str(j, "name", life->name);
	cp_json_u64(j, "start_ns", cp_profile_ns(p, life->start_ns));
	if (life->end_ns)
		cp_json_u64(j, "end_ns", cp_profile_ns(p, life->end_ns));
	else
		cp_json_null(j, "end_ns");
	cp_json_str(j, "ended_by",
		    life->end == CP_LIFE_REPLACED		      ? "exec"
		    : life->end == CP_LIFE_LET_GO		      ? "let go"
		    : life->end != CP_LIFE_ENDED		      ? NULL
		    : !life->thread && WIFSIGNALED(life->wait_status) ? "signal"
								      : "exit");
	if (!life->thread)
		process_json(life, j);
	else if (life->cpu_ns)
		cp_json_u64(j, "cpu_ns", life->cpu_ns);
	else
		cp_json_null(j, "cpu_ns");
	cp_json_end(j, '}');
}

static CP_ERROR lives_json(const struct cp_profile *p, const char *key, bool threads,
			   struct cp_json *j)
{
	struct lives lives;
	size_t i;

	CP_TRY(choose(p, threads, &lives));
	cp_json_begin(j, key, '[');
	for (i = 0; i < lives.count; i++)
		life_json(p, lives.items[i], j);
	cp_json_end(j, ']');
	free(lives.items);
	return NULL;
}

CP_ERROR cp_report_lives_json(const struct cp_profile *p, struct cp_json *j)
{
	cp_json_begin(j, "lives", '{');
	CP_TRY(lives_json(p, "processes", false, j));
	CP_TRY(lives_json(p, "threads", true, j));
	cp_json_end(j, '}');
	return NULL;
}
