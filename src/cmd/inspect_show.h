/* SPDX-License-Identifier: MIT
 *
 * What `inspect` looks at, and how it shows it.
 */
#ifndef CP_CMD_INSPECT_SHOW_H
#define CP_CMD_INSPECT_SHOW_H

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/frames.h"
#include "cmd/inspecting.h"
#include "cmd/threads.h"
#include "transcript/look.h"

struct cp_leaves;
struct cp_watched;

struct cp_inspect_options {
	uint64_t depth, limit, string, watch_ns;
	const char *thread, *frame;
	struct cp_texts globals, pointed, shapes;
	bool json, stop;
	struct cp_symbols_options symbols;
};

struct cp_inspect {
	const struct cp_inspect_options *o;
	const struct cp_args *args;
	struct cp_inspected in;
	struct cp_value_limits limits;
	struct cp_look look;
	struct cp_json json;
	struct cp_buf *out;
	struct cp_threads threads; /* that are looked at: one, or all */
	struct cp_frames frames;
	const struct cp_leaves *leaves; /* all threads, while they are held; NULL */
	bool rehearsing; /* for nothing but to have read all that it takes */
	bool gathering; /* what is shown, and complained of, counts once it was all looked at */
	CP_VEC(struct cp_error *) errors; /* gathered */
	bool torn; /* what is to be shown changed while it was read */
	int status; /* so far */
	struct cp_reads looks[2]; /* the last two */
	struct cp_watched *watched; /* borrowed; NULL: one look is all */
};

/* Shows a value by what it was asked for. */
void cp_inspect_show(struct cp_inspect *i, const char *expression, const struct cp_thing *thing,
		     const cprof_value *v);
/* Makes a thing and its value; *value_ret NULL: there is nothing to show. */
typedef struct cp_error *(*cp_inspect_look_fn)(struct cp_inspect *i, const void *what,
					       struct cp_thing *ret, const cprof_value **value_ret);
/* The same, again where the program changed it meanwhile; i->torn where it went on to. */
CP_ERROR cp_inspect_look(struct cp_inspect *i, cp_inspect_look_fn look, const void *what,
			 struct cp_thing *ret, const cprof_value **value_ret);
/* Forgets what was noted of the last value, and what it was made of. */
void cp_inspect_forget_notes(struct cp_inspect *i);
void cp_inspect_forget(struct cp_inspect *i);
/* Shows what an expression is. */
CP_ERROR cp_inspect_one(struct cp_inspect *i, const char *text);
/* Shows the static variables whose names match. */
CP_ERROR cp_inspect_globals(struct cp_inspect *i, const char *glob);
/* With --json: the object of an expression that could not be evaluated, and why. */
void cp_inspect_lacks(struct cp_inspect *i, const char *expression, const struct cp_error *err);
/* Says which expression an error is of. */
CP_ERROR cp_inspect_about(const char *expression, struct cp_error *err);
/* Begins with which thread it is, and which frame of it. */
void cp_inspect_head(struct cp_inspect *i);
/* Complains, where what is shown counts. */
void cp_inspect_fail(struct cp_inspect *i, struct cp_error *err);
/* Forgets the gathered errors but the first `count`; complains of them. */
void cp_inspect_drop_errors(struct cp_inspect *i, size_t count);
void cp_inspect_tell_errors(struct cp_inspect *i);

#endif
