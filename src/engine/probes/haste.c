/* SPDX-License-Identifier: MIT */
#include "engine/probes/haste.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/types.h"
#include "engine/probes/plans.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "tracer/known/proc.h"

#define LOOK_NS (100 * CP_NS_PER_MS) /* between looks at the process */
#define PATIENCE_NS CP_NS_PER_S /* until somebody hears of it */
#define READ_LARGE (4 << 20) /* a file whose symbols may take as long to read, in bytes */

/* Is a signal waiting that asks the program to end, and that it would get? */
static bool is_asked_to_end(pid_t pid)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	uint64_t blocked = proc_blocked(pid);
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(ends); i++)
		if (proc_is_pending(pid, ends[i]) && !(blocked >> (ends[i] - 1) & 1) &&
		    !proc_ignores(pid, ends[i]))
			return true;
	return false;
}

void engine_haste_begin(cprof_process *p)
{
	struct engine_haste *h = &p->session->life.haste;

	*h = (struct engine_haste){
		.of = p,
		.tell = h->tell,
		.data = h->data,
		.cuts = h->cuts,
		.cut_at = h->cut_at,
		.done = h->done,
		.functions = h->functions,
		.begun_ns = cp_now(),
		.looked_ns = cp_now(),
	};
}

void engine_haste_end(cprof_process *p)
{
	struct engine_haste *h = &p->session->life.haste;

	h->of = NULL;
	if (h->told)
		h->tell(NULL, 0, 0, h->data);
	if (h->gives_way) /* it goes on now, and has a while for its signal */
		p->session->armed_ns = cp_now();
}

static void look(struct engine_haste *h, pid_t pid, uint64_t now)
{
	h->looked_ns = now;
	/* Who was there before us is not to wait for that for long. */
	if (h->of->session->child)
		h->of->session->link.shared->working_ns = now;
	if (!is_asked_to_end(pid))
		h->asked_ns = 0;
	else if (!h->asked_ns)
		h->asked_ns = now;
	h->gives_way |=
		(h->asked_ns && now - h->asked_ns > PATIENCE_NS) || proc_why(pid, EAGAIN) == ESRCH;
}

bool engine_haste_allowed(const cprof_process *p)
{
	const struct engine_haste *h = &p->session->life.haste;

	return !p->session->stop_asked && !(h->of == p && h->gives_way);
}

/* Has it been a while, or will it be? */
static bool takes_long(const struct engine_haste *h, const cprof_image *image)
{
	struct stat file;

	return cp_now() - h->begun_ns > PATIENCE_NS ||
	       (!stat(image->assembly->path, &file) && file.st_size > READ_LARGE);
}

void engine_haste_reads(const cprof_image *image)
{
	struct engine_haste *h = &image->process->session->life.haste;

	if (h->of != image->process || !h->tell || !takes_long(h, image))
		return;
	h->tell(image->assembly->path, 0, 0, h->data);
	h->told = true;
}

/* Both steps as one way through the file's functions: `done` and `of` are those of one. */
static void join_steps(const cprof_image *image, enum engine_haste_step step, size_t *done,
		       size_t *of)
{
	const struct engine_plans *plans = image->assembly->plans;
	size_t all = plans ? plans->functions.count : *of;

	if (!image->process->session->detours)
		return;
	if (step == ENGINE_HASTE_DETOURS)
		*done = all / 2 + (size_t)((double)(all - all / 2) * (double)*done / (double)*of);
	else
		*done /= 2;
	*of = all;
}

bool engine_haste_allows(const cprof_image *image, enum engine_haste_step step, size_t done,
			 size_t of)
{
	const cprof_process *p = image->process;
	struct engine_haste *h = &p->session->life.haste;
	uint64_t now;

	if (h->of != p)
		return !p->session->stop_asked;
	now = cp_now();
	if (now - h->looked_ns > LOOK_NS) {
		look(h, p->pid, now);
		if (h->tell && now - h->begun_ns > PATIENCE_NS) {
			join_steps(image, step, &done, &of);
			h->tell(image->assembly->path, done, of, h->data);
			h->told = true;
		}
	}
	if (engine_haste_allowed(p))
		return true;
	h->cut_at = image->assembly->path;
	h->done = done;
	h->functions = of;
	return false;
}

void engine_haste_cut(cprof_process *p, bool cut)
{
	struct engine_haste *h = &p->session->life.haste;

	h->cuts += (uint64_t)cut - p->life.cut;
	p->life.cut = cut;
}

void engine_haste_warn(cprof_session *s)
{
	const struct engine_haste *h = &s->life.haste;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!h->cuts)
		return;
	if (h->cut_at)
		cp_buf_printf(&text, ", at %zu of %zu functions of %s", h->done, h->functions,
			      h->cut_at);
	engine_warn(s,
		    "it ended while code was prepared%s: what was not placed by then is not "
		    "told of",
		    text.bytes ? text.bytes : "");
}
