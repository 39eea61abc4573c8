/* SPDX-License-Identifier: MIT
 *
 * cprof/module.h - what makes a shared library a profiler module.
 *
 * A module NAME is a file libcprof-profiler-NAME.so with a function
 *
 *     CPROF_PROFILER_INIT(NAME)
 *     {
 *             ... cprof_profiler_create(), callbacks; the whole description that
 *             was given to --profile=NAME[:ARGS] is `desc` ...
 *     }
 *
 * which runs in the controller before the program executes any code of its own
 * or, for `cprof attach`, before it is attached to.
 *
 *     cc -fPIC -shared -o libcprof-profiler-NAME.so NAME.c $(pkg-config --cflags cprof)
 *     cprof run --plugin-dir=. --profile=NAME -- ./program
 */
#ifndef CPROF_MODULE_H
#define CPROF_MODULE_H

#include <cprof/types.h>

/* Every file that includes this carries the API version it was compiled
 * against as an ELF note, so that a module of another version is refused
 * before any code of it runs. */
#define CPROF_PROFILER_NOTE_NAME "cprof"
#define CPROF_PROFILER_NOTE_TYPE 0x50525043u /* "CPRP" */
#if defined(__ELF__) && !defined(CPROF_PROFILER_NO_NOTE)
static const struct {
	uint32_t name_size, desc_size, type;
	char name[8];
	uint32_t api_version;
} cprof_profiler_note_ __attribute__((used, aligned(4), section(".note.cprof.profiler"))) = {
	sizeof(CPROF_PROFILER_NOTE_NAME), sizeof(uint32_t), CPROF_PROFILER_NOTE_TYPE,
	CPROF_PROFILER_NOTE_NAME, CPROF_PROFILER_API_VERSION
};
#endif

/* CPROF_PROFILER_SUMMARY("prints calls as they happen") outside of functions:
 * what `cprof modules` says of the module, read without running it. */
#define CPROF_PROFILER_SUMMARY_NOTE_TYPE 0x53525043u /* "CPRS" */
#if defined(__ELF__) && !defined(CPROF_PROFILER_NO_NOTE)
#define CPROF_PROFILER_SUMMARY(text) \
	static const struct { \
		uint32_t name_size, desc_size, type; \
		char name[8]; \
		char summary[(sizeof(text) + 3) / 4 * 4]; \
	} cprof_profiler_summary_ \
		__attribute__((used, aligned(4), section(".note.cprof.profiler"))) = { \
			sizeof(CPROF_PROFILER_NOTE_NAME), (sizeof(text) + 3) / 4 * 4, \
			CPROF_PROFILER_SUMMARY_NOTE_TYPE, CPROF_PROFILER_NOTE_NAME, text \
		}
#else
#define CPROF_PROFILER_SUMMARY(text) extern char cprof_profiler_summary_
#endif

/* Opens the definition of a module's init function, with the right linkage. */
#ifdef __cplusplus
#define CPROF_PROFILER_INIT(name) \
	extern "C" CPROF_API void cprof_profiler_init_##name(const char *desc); \
	void cprof_profiler_init_##name(__attribute__((unused)) const char *desc)
#else
#define CPROF_PROFILER_INIT(name) \
	CPROF_API void cprof_profiler_init_##name(const char *desc); \
	void cprof_profiler_init_##name(__attribute__((unused)) const char *desc)
#endif

#endif
