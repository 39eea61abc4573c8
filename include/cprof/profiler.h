/* SPDX-License-Identifier: MIT
 *
 * cprof/profiler.h - profilers: handles, start-up rules, event callbacks.
 *
 * A profiler is a set of callbacks, called in the controller process while
 * the profiled program runs on: from what was captured when the event
 * happened, one at a time, in the order of the events. Nothing of the program
 * waits for them. They may allocate memory and take locks of their own; the
 * program's locks are in another process.
 *
 *     #include <cprof/cprof.h>
 *     struct cprof_profiler { unsigned long hits; };
 *     static cprof_profiler prof;
 *     static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
 *     { p->hits++; (void)ip; (void)context; }
 *     ...
 *     cprof_profiler_handle h = cprof_profiler_create(&prof);
 *     cprof_profiler_set_sample_hit_callback(h, hit);
 *     if (cprof_profiler_enable_sampling(h))
 *             cprof_profiler_set_sample_mode(h, CPROF_SAMPLE_MODE_PROCESS, 99);
 *
 * Markings used in these headers:
 *   [init]   only before start-up is done, i.e. from a profiler's init function
 *            or, for embedders, before cprof_session_run(); what needs
 *            breakpoints, before the target is launched or attached to, unless
 *            it is with CPROF_SESSION_CALLS. Later the call fails (false or
 *            NULL) and changes nothing.
 *   [async]  callable from any thread and from a signal handler.
 *   [cb]     valid only until the callback it was passed to returns.
 *
 * The functions act on the session that is current on the calling thread
 * (cprof/session.h).
 */
#ifndef CPROF_PROFILER_H
#define CPROF_PROFILER_H

#include <cprof/events.h>
#include <cprof/module.h>
#include <cprof/types.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* API version of the running cprof (compare CPROF_PROFILER_API_VERSION). [async] */
CPROF_API uint32_t cprof_profiler_runtime_api_version(void);

/* Loads the profiler NAME of "NAME" or "NAME:ARGS" and passes the whole description to
 * its init function. NULL and "default" mean "log:report". No effect (CPROF_OK) if it
 * is loaded already, whatever ARGS were. Looked for are the built-in profilers,
 * cprof_profiler_init_NAME() of the running executable (link it with -rdynamic), and
 * libcprof-profiler-NAME.so in the directories of cprof_session_set_plugin_dirs(), of
 * $CPROF_PLUGIN_PATH, in the one that modules are installed in, and on the dynamic
 * linker's path. NOT_FOUND: there is none; API_VERSION: it was built against other
 * headers, and no code of it ran; FAIL: it can't be loaded, or has no such function;
 * cprof_session_error() tells more. Mono: mono_profiler_load(). [init] */
CPROF_API cprof_status cprof_profiler_load(const char *desc);

/* The part of `desc` after "NAME:", or "" if there is none. [async] */
CPROF_API const char *cprof_profiler_desc_args(const char *desc);

/* Splits ARGS at commas, honouring quotes and backslashes: stores the next
 * option (*value is NULL without '=', else part of *key). "noX" without a value
 * gives the key "X" and sets *negated when X is one of `known`, which ends with
 * NULL; `known` and `negated` may be NULL. False at the end, or without memory.
 * free() *key. Mono: the options of its log profiler. */
CPROF_API bool cprof_profiler_desc_next(const char **cursor, const char *const *known, char **key,
					char **value, bool *negated);

/* What --profile=NAME:help prints: options and what they mean, one a line.
 * `text` is borrowed until cleanup. cprof then starts nothing and ends with 0.
 * To be called when ARGS say so. [init] */
CPROF_API void cprof_profiler_set_help(cprof_profiler_handle handle, const char *text);

/* A line for the person who runs cprof: on standard error, behind the module's
 * name, control characters escaped; the newline is added. */
CPROF_API void cprof_profiler_printf(cprof_profiler_handle handle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Opens what an option such as output= names, as the built-in profilers do: "FILE",
 * "+FILE" (FILE.PID), "#N" (descriptor N), "|COMMAND" (the standard input of a shell's
 * COMMAND), "-" (standard output); %p in names is the process's id, %t date and time
 * (UTC), %% a %. NULL or "" is `default_name`. Where the name has the process's id and
 * there is no process yet, as in init, the file is made when the stream is first
 * flushed or closed. fclose() it, in shutdown_end or cleanup: of a command, that waits
 * for its end, and fails when the command did. NULL: cprof_session_error() tells why. */
CPROF_API FILE *cprof_profiler_open_output(const char *outspec, const char *default_name);

/* A number that the summary and `cprof report` show beside the module's name.
 * `name` is copied; `value` is read when the program is gone, after
 * runtime_shutdown_begin, and has to stay until the module's cleanup.
 * Mono: mono_counters_register(). [init] */
CPROF_API void cprof_profiler_register_counter(cprof_profiler_handle handle, const char *name,
					       const uint64_t *value);

/* Tells all counters of all profilers with what they are now, in the order in
 * which they were registered. `module` is NAME, or "" of an embedder's own
 * profiler; all valid until `fn` returns. */
typedef void (*cprof_counter_fn)(const char *module, const char *name, uint64_t value, void *data);
CPROF_API void cprof_profiler_each_counter(cprof_counter_fn fn, void *data);

/* Says that the profiler can't do its work, in words a person can act on: the
 * session goes on, its caller is told (cprof_session_error(),
 * cprof_session_profiler_failed(); when another profiler failed before,
 * cprof_session_warning()). Of one profiler the first counts. `handle` may be NULL. */
CPROF_API void cprof_profiler_fail(cprof_profiler_handle handle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Installs a profiler; `prof` (may be NULL) is passed to all its callbacks.
 * The handle lives until its cleanup callback returned. NULL when too late.
 * Mono: mono_profiler_create(). [init] */
CPROF_API cprof_profiler_handle cprof_profiler_create(cprof_profiler *prof) CPROF_WARN_UNUSED;

/* Called last of all, newest profiler first, after its other callbacks have
 * been removed: free `prof` here. */
typedef void (*cprof_profiler_cleanup_fn)(cprof_profiler *prof);
CPROF_API void cprof_profiler_set_cleanup_callback(cprof_profiler_handle handle,
						   cprof_profiler_cleanup_fn cb);

#ifdef __cplusplus
}
#endif
#endif
