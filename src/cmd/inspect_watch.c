/* SPDX-License-Identifier: MIT */
#include "cmd/inspect_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/reports.h"

#define STAMP 13 /* columns of "12:34:56.789 " */

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

/* Shows what an expression is now, if that is not `last`, which becomes it. */
static CP_ERROR watch_one(struct cp_inspect *i, const char *expression, struct cp_buf *last)
{
	struct cp_buf now = { 0 }, line CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf *out = i->out;
	struct cp_error *err;
	struct timespec at;

	i->out = &now;
	i->json = (struct cp_json){ .out = &now };
	err = cp_inspect_one(i, expression);
	i->out = out;
	if (err || now.failed ||
	    (now.size == last->size && now.size && !memcmp(now.bytes, last->bytes, now.size))) {
		cp_buf_free(&now);
		return err;
	}
	cp_buf_free(last);
	*last = now;
	clock_gettime(CLOCK_REALTIME, &at);
	if (i->o->json) {
		cp_buf_printf(&line, "{\"time_ns\":%llu,",
			      (unsigned long long)at.tv_sec * 1000000000u +
				      (unsigned long long)at.tv_nsec);
		cp_buf_add(&line, now.bytes + 1, now.size - 1);
		cp_buf_u8(&line, '\n');
	} else {
		print_stamp(i, &line, &at);
		if (i->threads.list.count > 1)
			cp_buf_printf(&line, "%d ", (int)i->in.tid);
		cp_buf_add(&line, now.bytes, now.size);
	}
	fwrite(line.bytes, 1, line.size, stdout);
	return fflush(stdout) ? cp_error_new(CP_ERR_IO, errno, "standard output") : NULL;
}

/* Has the process ended before `ns` are over? */
static bool ends_within(int pidfd, uint64_t ns)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	const struct timespec time = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return ppoll(&end, 1, &time, NULL) > 0;
}

/* Errors of the expressions count the first time; what comes later may go again. */
int cp_inspect_watch(struct cp_inspect *i)
{
	const struct cp_args *args = i->args;
	size_t count = i->threads.list.count * (size_t)(args->count - 1), n, e;
	struct cp_buf *last = calloc(count, sizeof(*last));
	int pidfd = (int)syscall(SYS_pidfd_open, i->in.pid, 0), status = CP_EXIT_OK;
	struct cp_error *err = NULL;
	bool first = true;

	i->look.columns = i->look.columns > STAMP + 40 ? i->look.columns - STAMP : i->look.columns;
	if (!last || pidfd < 0)
		err = last ? cp_error_new(CP_ERR_GONE, errno, "process %d", (int)i->in.pid)
			   : cp_error_nomem();
	do {
		for (n = 0; !err && n < count; n++) {
			e = n % (size_t)(args->count - 1);
			i->in.tid = i->threads.list.items[n / (size_t)(args->count - 1)];
			err = watch_one(i, args->operands[e + 1], &last[n]);
			if (err && err->code != CP_ERR_IO) {
				status = first ? cp_reports_fail(err) : status;
				if (!first)
					cp_error_free(err);
				err = NULL;
			}
		}
		first = false;
	} while (!err && !ends_within(pidfd, i->o->watch_ns));
	for (n = 0; last && n < count; n++)
		cp_buf_free(&last[n]);
	free(last);
	cp_close_fd(&pidfd);
	return err ? cp_reports_fail(err) : status;
}
