/* SPDX-License-Identifier: MIT */
#include "view/view.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "report/look/table.h"

void cp_view_deinit(struct cp_view *v)
{
	cp_view_rows_deinit(&v->functions);
	cp_view_rows_deinit(&v->threads);
}

void cp_view_add_program(const struct cp_view *v, struct cp_buf *out)
{
	cp_add_name(out, v->program);
	cp_buf_printf(out, " (%d), ", (int)v->pid);
	cp_add_time(out, v->threads.all_ns);
	cp_buf_str(out, ": ");
	if (v->kinds[CP_LIVE_TIME]) {
		cp_buf_str(out, v->wall ? "" : "CPU ");
		cp_add_percent(out, v->threads.last.self, v->threads.last_ns);
		cp_buf_str(out, v->wall ? " of elapsed time, " : ", ");
	}
	cp_add_plural(out, v->threads.rows.count, "thread", "threads");
}

void cp_view_add_cost(const struct cp_view *v, bool last, struct cp_buf *out)
{
	struct cp_live_cost c;

	cp_live_lock(v->sums);
	c = cp_live_cost(v->sums, last);
	cp_live_unlock(v->sums);
	cp_buf_str(out, "profiling: CPU ");
	cp_add_percent(out, c.own_cpu_ns, c.at_ns);
	cp_buf_str(out, ", stopped ");
	cp_add_percent(out, c.stopped_ns, c.at_ns);
	if (c.samples)
		cp_buf_printf(out, ", %.0f samples/s",
			      (double)c.samples * CP_NS_PER_S / (double)c.at_ns);
	if (c.lost)
		cp_buf_printf(out, ", %llu lost", (unsigned long long)c.lost);
	if (c.paused_ns) {
		cp_buf_str(out, ", allocs seen ");
		cp_add_percent(out, c.watched_ns, c.watched_ns + c.paused_ns);
	}
	if (c.calls_lost) {
		cp_buf_str(out, ", ");
		cp_add_plural(out, c.calls_lost, "event lost", "events lost");
	}
	if (c.disarmed) {
		cp_buf_str(out, ", ");
		cp_add_plural(out, c.disarmed, "function too often called",
			      "functions too often called");
	}
}

const char *cp_view_state(const struct cp_live_thread *thread)
{
	static const struct {
		char letter;
		const char *word;
	} words[] = { { 'R', "runnable" }, { 'S', "sleeping" }, { 'D', "waiting" },
		      { 'T', "stopped" },  { 't', "runnable" }, /* held for a moment, by cprof */
		      { 'Z', "zombie" },   { 'X', "gone" } };
	char state[8];
	size_t i;

	if (thread->ended || !cp_file_stat_field(thread->tid, 3, state, sizeof(state)))
		return "gone";
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].letter == *state)
			return words[i].word;
	return "sleeping";
}

void cp_view_add_share(struct cp_buf *out, uint64_t part, uint64_t whole)
{
	struct cp_buf text = { 0 };

	if (!whole) {
		cp_buf_str(out, "     -");
		return;
	}
	cp_add_percent(&text, part, whole);
	cp_buf_printf(out, "%6s", text.bytes ? text.bytes : "");
	cp_buf_free(&text);
}
