/* SPDX-License-Identifier: MIT
 *
 * Stack snapshots and the ways they are refused, at a call that stands still:
 * of its own thread, of one that runs, of one that sleeps, of none.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	unsigned calls;
};

struct walk {
	const char *wanted;
	bool found, abort;
	unsigned frames, contexts, not_honest;
};

static cprof_profiler prof;
static const cprof_frame_info *kept;

static unsigned choose(cprof_profiler *p, const cprof_function *f)
{
	(void)p;
	return strcmp(cprof_function_name(f), "probed_look") != 0
		       ? 0
		       : CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_HOLD;
}

static cprof_walk frame(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	struct walk *w = data;

	(void)ip;
	w->frames++;
	w->contexts += context && size == sizeof(*context);
	/* rax and rdx are the callee's: nobody knows them above the leaf. */
	w->not_honest += context && w->frames > 1 && context->valid & 3;
	w->found |= f && !strcmp(cprof_function_name(f), w->wanted);
	kept = info;
	return w->abort ? CPROF_WALK_ABORT : CPROF_WALK_CONTINUE;
}

static void snapshot(const char *what, cprof_thread *t, unsigned flags, const char *wanted,
		     const cprof_context *seed)
{
	struct walk w = { .wanted = wanted, .abort = !strcmp(what, "aborted") };
	cprof_status status = cprof_do_stack_snapshot(t, frame, flags, &w, seed, sizeof(*seed));

	printf("%s: %s", what, cprof_status_string(status));
	if (!status)
		printf(", %s, %s contexts", w.found ? wanted : "nothing",
		       !w.contexts		? "no"
		       : w.contexts == w.frames ? "all"
						: "some");
	printf("%s%s\n", w.not_honest ? ", lies" : "",
	       kept && (cprof_frame_info_cfa(kept) || cprof_frame_info_image(kept)) ? ", undead"
										    : "");
}

static bool other(cprof_thread *t, void *data)
{
	if (t == cprof_current_thread())
		return true;
	*(bool *)data = true;
	kept = NULL;
	snapshot("other", t, 0, "probed_spin", NULL);
	return true;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	cprof_context seed;
	bool any = false;

	(void)f;
	(void)context;
	if (p->calls++ != 1)
		return;
	snapshot("own", cprof_current_thread(), 0, "main", NULL);
	snapshot("registers", cprof_current_thread(), CPROF_SNAPSHOT_REGISTER_CONTEXT, "main",
		 NULL);
	snapshot("aborted", cprof_current_thread(), 0, "main", NULL);
	cprof_thread_context(cprof_current_thread(), CPROF_CONTEXT_INTEGER, &seed);
	snapshot("seed", cprof_current_thread(), 0, "main", &seed);
	seed.u.raw[16] = 16;
	snapshot("seed outside of code", cprof_current_thread(), 0, "main", &seed);
	cprof_for_each_thread(other, &any);
	if (!any)
		printf("no other thread\n");
	fflush(stdout);
}

/* Of an event without a thread, and of a thread that is gone. */
static void exited(cprof_profiler *p, uintptr_t tid)
{
	static cprof_thread *gone;

	(void)p;
	(void)tid;
	if (gone)
		snapshot("gone", gone, 0, "main", NULL);
	gone = cprof_current_thread();
}

static void ended(cprof_profiler *p)
{
	(void)p;
	snapshot("no event", cprof_current_thread(), 0, "main", NULL);
	fflush(stdout);
}

CPROF_PROFILER_INIT(snapprobe)
{
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	cprof_profiler_set_call_instrumentation_filter_callback(h, choose);
	cprof_profiler_set_method_enter_callback(h, enter);
	cprof_profiler_set_thread_exited_callback(h, exited);
	cprof_profiler_set_runtime_shutdown_end_callback(h, ended);
}
