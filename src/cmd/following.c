/* SPDX-License-Identifier: MIT */
#include "cmd/following.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/create.h"
#include "base/text.h"
#include "cmd/collecting.h"
#include "cmd/complain.h"
#include "cmd/outlet.h"
#include "cmd/terminal.h"
#include "engine/api/profiler.h"
#include "modules/modules.h"
#include "record/follow.h"
#include "record/format.h"
#include "record/tap.h"
#include "report/profile/create.h"
#include "report/replay/fields.h"
#include "report/replay/replay.h"
#include "report/tables/missing.h"

struct cp_following {
	const struct cp_collect_options *options;
	struct cp_watching watching;
	struct cp_record_tap tap;
	int fd; /* until the outlet has it; -1: likewise, or it is not made yet */
	bool waits; /* the program does, for who reads */
	int terminal; /* the same, whose width may change; -1: it is none */
	struct cp_outlet *outlet; /* NULL until the session begins, or what it records does */
	struct cp_look look;
	struct cp_fields fields;
	struct cp_replay_options shown;
	/* the writer's thread's: */
	struct cp_record_follow *follow;
	struct cp_profile *profile; /* NULL: the recording has not begun */
	struct cp_replay *replay;
	struct cp_sink sink;
	uint64_t settled_ns;
	struct cp_error *error; /* nothing is shown any more, while it is recorded */
};

/* ---- what comes ---- */

static int put(void *ctx, const char *text, size_t size)
{
	const struct cp_following *f = ctx;

	return cp_outlet_put(f->outlet, text, size);
}

static struct cp_error *flush(struct cp_following *f)
{
	int errnum = cp_sink_flush(&f->sink);

	return errnum ? cp_error_new(CP_ERR_IO, errnum, "showing calls") : NULL;
}

static struct cp_error *begin(struct cp_following *f)
{
	if (!f->outlet) {
		CP_TRY(cp_create(CP_CREATE_OUTPUT, f->options->live.file, &f->fd));
		CP_TRY(cp_outlet_open(cp_steal_fd(&f->fd), f->waits, &f->outlet));
	}
	CP_TRY(cp_profile_create_growing(cp_record_followed(f->follow), &f->profile));
	return cp_replay_begin(f->profile, &f->shown, &f->look, &f->sink, &f->replay);
}

static struct cp_error *grow(struct cp_following *f)
{
	CP_TRY(cp_profile_grow(f->profile));
	return cp_replay_grow(f->replay);
}

static struct cp_error *take(struct cp_following *f, unsigned type, const void *bytes, size_t size)
{
	bool grown;

	CP_TRY(cp_record_follow_chunk(f->follow, type, bytes, size, &grown));
	if (!f->profile)
		return type == CP_RECORD_CHUNK_INFO ? begin(f) : NULL;
	if (grown)
		CP_TRY(grow(f));
	CP_TRY(cp_record_follow_calls(f->follow, cp_replay_event, f->replay));
	CP_TRY(cp_replay_check(f->replay));
	return flush(f);
}

/* With a recording that is no reason to end it. */
static struct cp_error *keep(struct cp_following *f, struct cp_error *err)
{
	if (!err || cp_collecting_only_shows(f->options))
		return err;
	f->error = err;
	return NULL;
}

static struct cp_error *on_chunk(void *ctx, unsigned type, const void *bytes, size_t size)
{
	struct cp_following *f = ctx;

	return f->error ? NULL : keep(f, take(f, type, bytes, size));
}

static struct cp_error *on_tick(void *ctx)
{
	struct cp_following *f = ctx;
	uint64_t now = cp_now();

	if (!f->replay || f->error || now - f->settled_ns < CP_RECORD_TAP_NS)
		return NULL;
	f->settled_ns = now;
	if (f->terminal >= 0)
		f->look.columns = cp_terminal_of(f->terminal).columns;
	cp_replay_settle(f->replay);
	return keep(f, flush(f));
}

/* ---- the session ---- */

static bool on_prepare(cprof_session *s, void *data)
{
	(void)s;
	(void)data;
	return true;
}

static void on_begins(cprof_session *s, void *data)
{
	struct cp_following *f = data;

	f->waits =
		f->options->calls.on_full == CPROF_ON_FULL_WAIT ||
		(f->options->calls.on_full != CPROF_ON_FULL_DROP && !cprof_session_is_attached(s));
	/* Not before: threads begin when the tracer and CMD are forked. */
	if (f->fd >= 0)
		f->error = cp_outlet_open(cp_steal_fd(&f->fd), f->waits, &f->outlet);
	cp_module_log_follow(engine_profiler_named(s, "log"), &f->tap);
}

static void say_what_is_left_out(uint64_t lines)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_plural(&text, lines, "line", "lines");
	fprintf(stderr, "cprof: %s of calls could not be shown: %s not read in time\n",
		text.bytes ? text.bytes : "", lines == 1 ? "it was" : "they were");
}

/* The writer has ended, and its thread. */
static void on_ends(void *data)
{
	struct cp_following *f = data;
	uint64_t lost;

	if (f->replay && !f->error)
		f->error = cp_replay_end(f->replay);
	if (f->replay && !f->error) {
		cp_report_missing_calls(f->profile, &f->look, &f->sink.buf);
		cp_sink_flush(&f->sink);
	}
	lost = cp_outlet_close(cp_steal(f->outlet));
	if (f->error)
		cp_complain(cp_steal(f->error));
	else if (lost && !f->sink.errnum)
		say_what_is_left_out(lost);
}

/* ---- start and end ---- */

/* Is it a file that is only made, or written over, where there is something to write? As
 * a recording is: nothing is left, and nothing is lost, where CMD is not started. What can't be
 * made is to be known at once, and who reads a pipe waits for its writer. */
static bool is_made_later(const char *path)
{
	CP_FREE char *copy = strdup(path);
	struct stat st;

	if (!copy || !strcmp(path, "-"))
		return false;
	if (!lstat(path, &st))
		return S_ISREG(st.st_mode) && !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
	return errno == ENOENT && !faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS);
}

static CP_ERROR open_output(struct cp_following *f)
{
	struct cp_terminal term;

	f->sink = (struct cp_sink){ .put = put, .ctx = f };
	if (is_made_later(f->options->live.file))
		return cp_record_follow_create(&f->follow);
	CP_TRY(cp_create(CP_CREATE_OUTPUT, f->options->live.file, &f->fd));
	term = cp_terminal_of(f->fd);
	f->look = (struct cp_look){ term.columns, term.color };
	if (term.is_terminal)
		f->terminal = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	f->sink.ascii = term.is_terminal && cp_terminal_is_ascii();
	return cp_record_follow_create(&f->follow);
}

int cp_following_begin(const struct cp_args *args, const struct cp_collect_options *o, int failure,
		       struct cp_following **ret)
{
	struct cp_following *f;
	struct cp_error *err = NULL;

	*ret = NULL;
	if (!o->live.file)
		return CP_EXIT_OK;
	f = calloc(1, sizeof(*f));
	if (!f)
		return failure;
	f->options = o;
	f->fd = f->terminal = -1;
	f->watching = (struct cp_watching){
		.prepare = on_prepare, .begins = on_begins, .ends = on_ends, .data = f
	};
	f->tap = (struct cp_record_tap){ on_chunk, on_tick, f };
	f->shown =
		(struct cp_replay_options){ .flat = o->live.flat, .by_thread = o->live.by_thread };
	if (o->live.fields) {
		err = cp_fields_parse(o->live.fields, &f->fields);
		if (err) {
			free(f);
			return cp_usage_error(args, err);
		}
		f->shown.fields = &f->fields;
	}
	err = open_output(f);
	if (err) {
		cp_complain(err);
		cp_following_destroy(f);
		return failure;
	}
	*ret = f;
	return CP_EXIT_OK;
}

const struct cp_watching *cp_following_watching(const struct cp_following *f)
{
	return f ? &f->watching : NULL;
}

void cp_following_destroy(struct cp_following *f)
{
	if (!f)
		return;
	cp_outlet_close(f->outlet);
	cp_close_fd(&f->fd);
	cp_close_fd(&f->terminal);
	cp_replay_destroy(f->replay);
	cp_profile_destroy(f->profile);
	cp_record_follow_destroy(f->follow);
	cp_buf_free(&f->sink.buf);
	cp_error_free(f->error);
	free(f);
}
