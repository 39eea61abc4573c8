/* SPDX-License-Identifier: MIT
 *
 * A program with a profiler of its own in it: counts the calls of called() in
 * the program that it is given, and loads the profilers it is told to, of which
 * `inside` is here.
 *
 *     embed PROGRAM [PLUGIN_DIR PROFILER...]
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <sys/wait.h>

struct cprof_profiler {
	unsigned long calls;
};

static void enter(cprof_profiler *p, const cprof_function *function, cprof_call_context *context)
{
	(void)function;
	(void)context;
	p->calls++;
}

CPROF_PROFILER_INIT(inside)
{
	printf("inside: %s\n", desc);
}

static int fail(cprof_session *s, const char *what)
{
	printf("%s: %s\n", what, cprof_session_error(s));
	cprof_session_destroy(s);
	return 1;
}

int main(int argc, char **argv)
{
	static cprof_profiler profiler;
	cprof_session *s = cprof_session_create();
	cprof_callspec *spec = cprof_callspec_parse("called", NULL);
	const char *dirs[] = { argc > 2 ? argv[2] : ".", NULL };
	char *command[] = { argv[1], NULL };
	cprof_profiler_handle handle;
	int i, status;

	if (argc < 2 || !s || !spec)
		return 2;
	cprof_session_set_plugin_dirs(s, dirs);
	handle = cprof_profiler_create(&profiler);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_trace(handle, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
	for (i = 3; i < argc; i++)
		if (cprof_profiler_load(argv[i]) != CPROF_OK)
			return fail(s, argv[i]);
	if (cprof_session_launch(s, argv[1], command, NULL,
				 CPROF_SESSION_FOLLOW_FORKS | CPROF_SESSION_CALLS) != CPROF_OK)
		return fail(s, "launch");
	if (cprof_session_run(s, 0) != CPROF_OK)
		return fail(s, "run");
	status = cprof_session_exit_status(s, true);
	printf("embed: %lu calls, status %d\n", profiler.calls, WEXITSTATUS(status));
	cprof_session_destroy(s);
	cprof_callspec_free(spec);
	return 0;
}
