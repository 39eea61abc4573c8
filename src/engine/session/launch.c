/* SPDX-License-Identifier: MIT
 *
 * Starting CMD. CMD is the controller's own child, so that its exit status comes here
 * whatever happens to the tracer:
 *
 *   controller ── fork ──► child: waits at `go`
 *       │                    ▲
 *       ├─ LAUNCH ─► tracer ─┘ seizes it (nobody is stopped)
 *       └─ byte to `go` ─► child: exec; what fails comes back as an errno
 *                          through a pipe that a successful exec closes
 *
 * Should the controller be killed before, the child gets no byte and ends: CMD is not
 * started behind the back of whoever stopped cprof.
 *
 * The child inherits everything but these descriptors, which close at exec: directory,
 * environment, descriptors, signal mask and dispositions, limits, affinity.
 */
#include "engine/session/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "engine/probes/trace.h"
#include "engine/session/capture.h"
#include "engine/session/explain.h"
#include "engine/target/family.h"
#include "engine/target/state.h"

/* What the child does: only calls that are safe between fork and exec. */
__attribute__((noreturn)) static void become_command(const char *path, char *const argv[],
						     char *const envp[], int go, int error,
						     const cprof_session *s)
{
	ssize_t n;
	char byte;
	int err;

	/* The tracer is no ancestor of the child: where Yama asks for one, it is let
	 * in. */
	prctl(PR_SET_PTRACER, (unsigned long)s->tracer, 0, 0, 0);
	if (s->flags & CPROF_SESSION_NO_ASLR && personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(126);
	if (s->ignores_children)
		signal(SIGCHLD, SIG_IGN);
	do {
		n = read(go, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(125);
	execvpe(path, argv, envp);
	err = errno;
	if (write(error, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

static char **copy_argv(char *const argv[])
{
	size_t n = 0, i;
	char **copy;

	while (argv[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (i = 0; copy && i < n; i++)
		copy[i] = strdup(argv[i]);
	return copy;
}

unsigned engine_trace_flags(const cprof_session *s)
{
	bool calls = s->flags & CPROF_SESSION_CALLS || engine_probes_wanted(s);
	unsigned id, flags = calls ? CP_TRACE_PROBES : 0;

	if (s->flags & CPROF_SESSION_FOLLOW_FORKS)
		flags |= CP_TRACE_FOLLOW;
	for (id = 1; id < ENGINE_FAMILIES; id++)
		if (engine_family_wanted(s, id))
			flags |= s->families[id]->trace;
	return flags;
}

static struct cp_error *seize_child(cprof_session *s, pid_t child)
{
	struct cp_request rq = {
		.type = CP_REQUEST_LAUNCH,
		.pid = child,
		.flags = engine_trace_flags(s),
	};
	struct cp_answer answer;

	CP_TRY(cp_link_call(&s->link, &rq, &answer, NULL));
	if (answer.errnum)
		return engine_explain_attach(child, &answer);
	s->probes = rq.flags & CP_TRACE_PROBES;
	return engine_choose_capture(s, child);
}

struct cp_error *engine_launch(cprof_session *s, const char *path, char *const argv[],
			       char *const envp[])
{
	int go[2], error[2];
	struct cp_error *err;
	pid_t child;

	/* A socket: writing to it raises no SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return cp_error_new(CP_ERR_IO, errno, "make a pair of sockets");
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return cp_error_new(CP_ERR_IO, errno, "make a pipe");
	}
	child = fork();
	if (child == 0) {
		close(go[1]);
		close(error[0]);
		become_command(path, argv, envp ? envp : environ, go[0], error[1], s);
	}
	close(go[0]);
	close(error[1]);
	s->child_go = go[1];
	s->child_error = error[0];
	if (child < 0)
		return cp_error_new(CP_ERR_IO, errno, "start a process");
	s->child = s->target = child;
	s->link.shared->working_ns = cp_now();
	s->command = copy_argv(argv);
	err = seize_child(s, child);
	if (err) {
		/* The child has not run anything of CMD yet. */
		kill(child, SIGKILL);
		engine_reap_child(s, true);
	}
	return err;
}

void engine_release_child(cprof_session *s)
{
	int err = 0;
	ssize_t n;

	if (s->child_go < 0)
		return;
	if (send(s->child_go, "", 1, MSG_NOSIGNAL) < 0)
		cp_debug("start CMD: %m"); /* the child was killed already */
	cp_close_fd(&s->child_go);
	s->child_go = -1;
	do {
		n = read(s->child_error, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	cp_close_fd(&s->child_error);
	s->child_error = -1;
	if (n == sizeof(err))
		s->exec_errno = err;
}

bool engine_reap_child(cprof_session *s, bool wait)
{
	int status;
	pid_t pid;

	if (!s->child || s->wait_status != -1)
		return s->child != 0;
	do {
		pid = waitpid(s->child, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid != s->child)
		return false;
	s->wait_status = status;
	return true;
}

cprof_status engine_fail_exec(cprof_session *s)
{
	int errnum = s->exec_errno;
	enum cp_error_code code = errnum == ENOENT   ? CP_ERR_NOT_FOUND
				  : errnum == EACCES ? CP_ERR_PERMISSION
						     : CP_ERR_IO;

	return engine_fail(s, cp_error_new(code, 0, "cannot run '%s': %s",
					   s->command ? s->command[0] : "", strerror(errnum)));
}
