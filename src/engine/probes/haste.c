/* SPDX-License-Identifier: MIT */
#include "engine/probes/haste.h"

#include <errno.h>
#include <signal.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/types.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "tracer/known/proc.h"

#define LOOK_NS (100 * CP_NS_PER_MS) /* between looks at the process */
#define PATIENCE_NS CP_NS_PER_S /* until somebody hears of it */

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

bool engine_haste_allows(const cprof_image *image, size_t done, size_t of)
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
