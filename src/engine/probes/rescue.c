/* SPDX-License-Identifier: MIT
 *
 * The tracer was killed and has taken out nothing. Another one attaches to the
 * processes, which is all that is needed (tracer/signals/trap.c): breakpoints, the
 * handler of SIGTRAP and what came with it go. Where attaching is refused, or that
 * tracer is killed, too, the text is put back from outside; the handler stays until the
 * next cprof comes.
 */
#include "engine/probes/rescue.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "engine/probes/arm.h"
#include "engine/target/family.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "tracer/known/proc.h"
#include "tracer/restore.h"
#include "tracer/tracer.h"

static bool is_left(cprof_session *s, const cprof_process *p)
{
	return engine_process(s, p->pid) == p;
}

/* Has the tracer attach to the process. False: the tracer does not answer. */
static bool attach(struct cp_link *link, int32_t pid)
{
	const struct cp_request rq = { .type = CP_REQUEST_ATTACH, .pid = pid };
	struct cp_answer answer;
	struct cp_error *err = cp_link_call(link, &rq, &answer, NULL);

	bool answered = !err;

	if (err || answer.errnum)
		cp_debug("process %d can't be attached to again", pid);
	cp_error_free(err);
	return answered;
}

/* Waits for the other tracer, which leaves when the link is closed. */
static void wait_for(struct cp_link *link, pid_t tracer, bool answers)
{
	int status;

	if (!answers)
		kill(tracer, SIGKILL);
	cp_close_fd(&link->controller_socket);
	link->controller_socket = -1;
	while (waitpid(tracer, &status, 0) < 0 && errno == EINTR)
		;
}

static void send_another(cprof_session *s)
{
	struct cp_link link = { .tracer_socket = -1, .controller_socket = -1, .kick = -1 };
	struct cp_error *err;
	bool answers = true;
	pid_t tracer;
	size_t i;

	err = cp_link_create(&link);
	if (!err)
		err = cp_tracer_spawn(&link, &tracer);
	if (!err) {
		for (i = 0; answers && i < s->processes.count; i++)
			if (is_left(s, s->processes.items[i]))
				answers = attach(&link, s->processes.items[i]->pid);
		wait_for(&link, tracer, answers);
	} else {
		cp_debug("no other tracer: %s", err->what);
	}
	cp_link_deinit(&link);
	cp_error_free(err);
}

void engine_restore(const cprof_session *s, int32_t pid)
{
	const pid_t tracer = proc_tracer_of(pid);
	size_t restored = 0;
	struct cp_error *err;

	/* What is there may be that one's, which is alive. */
	if (tracer && tracer != s->tracer)
		return;
	err = cp_restore_text(pid, &restored);
	if (err)
		cp_debug("text of %d: %s", pid, err->what);
	else if (restored)
		cp_info("%zu breakpoints of a killed cprof taken out of %d", restored, pid);
	cp_error_free(err);
}

void engine_arm_restore(cprof_session *s)
{
	size_t i;

	engine_each_family(s, f, restore)
		f->restore(s);
	if (!s->calls)
		return;
	send_another(s);
	for (i = 0; i < s->processes.count; i++)
		if (is_left(s, s->processes.items[i]))
			engine_restore(s, s->processes.items[i]->pid);
}
