/* SPDX-License-Identifier: MIT
 *
 * What filters want of functions. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_WISHES_H
#define CP_ENGINE_PROBES_WISHES_H

#include <cprof/cprof.h>

struct cp_probe_function;
struct engine_asked;

/* What filters want of a function. */
struct engine_wish {
	unsigned flags; /* CPROF_CALL_INSTRUMENTATION_*, ENGINE_TRACED_ROLE */
	bool named; /* the function was named in full */
	const char *called; /* as in struct engine_traced */
};

/* What the filters of all profilers want of a function, together. */
struct engine_asking {
	unsigned flags, once; /* `once`: only if the first call is enough for all profilers */
	bool named;
	const char *name; /* the name that was asked for; NULL: the function is not wanted */
};
/* Where asking begins: `once` is set, the rest is zero. */
#define ENGINE_ASKING \
	{ \
		.once = CPROF_CALL_INSTRUMENTATION_ONCE \
	}

/* Adds what the filters want of `f`, by its own names. */
void engine_ask(cprof_session *s, cprof_image *image, struct cp_probe_function *f,
		struct engine_asking *a);
/* Do specs alone decide, and is what they said of the image's functions still so? */
bool engine_asked_before(const cprof_session *s, const cprof_image *image);
/* Then: they said of the function that nobody wants it. */
bool engine_asked_for_nothing(const struct engine_asked *asked, size_t number);
void engine_asked_free(struct engine_asked *asked);
struct engine_wish engine_settle(const struct engine_asking *a);

#endif
