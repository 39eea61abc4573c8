/* SPDX-License-Identifier: MIT
 *
 * Frames of threads, and threads that stand still. Who sleeps is read as it sleeps, and
 * read again where it woke up meanwhile; who runs is held for it, once all that debug
 * information has to say was read in a look for nothing.
 */
#include "cmd/inspect_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/complain.h"
#include "cmd/holding.h"
#include "cmd/inspect_asked.h"
#include "cmd/inspect_watched.h"
#include "link/link.h"

#define TRIES 5 /* to read who sleeps, before it is held */

struct looking {
	struct cp_inspect *i;
	struct cp_error *lacks; /* the first: why a thread has no such frame */
	unsigned seen; /* frames, or threads */
	bool late; /* some of them had gone on by then */
};

/* ---- a frame ---- */

/* Says of a variable that its name means another one there. */
static void note_hidden(struct cp_inspect *i, const struct cp_scope_name *name)
{
	const struct cp_scope_name *meant;
	char *note;

	if (cp_scope_find(&i->frames.scope, i->in.env.arena, name->variable->name, &meant) < 2 ||
	    meant->variable == name->variable ||
	    asprintf(&note, "hidden by that of line %u", meant->variable->line) < 0)
		return;
	if (!cp_vec_push(&i->in.notes, note))
		free(note);
}

static CP_ERROR look_at_variable(struct cp_inspect *i, const void *what, struct cp_thing *ret,
				 const cprof_value **value_ret)
{
	const struct cp_expression_env *env = &i->in.env;
	const struct cp_scope *scope = &i->frames.scope;
	const struct cp_scope_name *names;

	cp_scope_names(scope, env->arena, &names);
	names += *(const size_t *)what;
	*ret = cp_frames_thing(&i->frames, names);
	*value_ret = ret->type || ret->error ? cp_thing_value(env, ret) : NULL;
	note_hidden(i, names);
	return NULL;
}

/* All arguments and locals of the chosen frame. */
static void show_variables(struct cp_inspect *i)
{
	const struct cp_scope_name *names;
	size_t count = cp_scope_names(&i->frames.scope, &i->in.arena, &names), n;
	struct cp_thing thing;
	const cprof_value *v;
	const char *name;

	if (!count && !i->o->json)
		cp_buf_str(i->out, i->frames.scope.signature && names
					   ? "    it has no variables\n"
					   : "    no debug information tells of its variables\n");
	for (n = 0; n < count; n++) {
		cp_scope_names(&i->frames.scope, &i->in.arena, &names);
		name = names ? names[n].variable->name : "";
		if (*name && !cp_inspect_look(i, look_at_variable, &n, &thing, &v) && v)
			cp_inspect_show(i, name, &thing, v);
		cp_inspect_forget(i);
	}
}

static void look_into(struct looking *l, const struct cp_leaf *leaf)
{
	struct cp_inspect *i = l->i;
	struct cp_error *err;

	if (l->seen && !i->o->thread)
		return;
	i->in.tid = leaf->tid;
	err = i->o->frame ? cp_frames_walk(&i->frames, leaf) : NULL;
	if (!err && i->o->frame)
		err = cp_frames_choose(&i->frames, i->o->frame);
	if (err && l->lacks)
		cp_error_free(err);
	else if (err)
		l->lacks = err;
	if (err)
		return;
	l->seen++;
	if (i->watched) {
		cp_watched_look(i);
		return;
	}
	cp_inspect_head(i);
	if (i->args->count > 1 || i->o->globals.count || i->o->pointed.count)
		cp_inspect_each(i);
	else
		show_variables(i);
}

/* ---- as they sleep ---- */

static void forget(struct looking *l)
{
	cp_error_free(l->lacks);
	l->lacks = NULL;
	l->seen = 0;
}

/* False: it runs, or hardly sleeps. */
static bool look_asleep(struct looking *l, pid_t tid)
{
	struct cp_inspect *i = l->i;
	const struct cp_json json = i->json;
	const struct looking before = *l;
	const size_t size = i->out->size, errors = i->errors.count;
	struct cp_leaf leaf;
	unsigned n;

	for (n = 0; n < TRIES; n++) {
		switch (cp_leaf_asleep(i->in.pid, tid, &leaf)) {
		case CP_LEAF_GONE:
			return true;
		case CP_LEAF_RUNS:
			return false;
		case CP_LEAF_FOUND:
			break;
		}
		look_into(l, &leaf);
		if (cp_leaf_still_sleeps(i->in.pid, &leaf))
			return true;
		i->out->size = size;
		i->json = json;
		cp_watched_drop(i, tid);
		cp_inspect_drop_errors(i, errors);
		if (!before.lacks)
			cp_error_free(l->lacks);
		*l = before;
	}
	return false;
}

static bool look_at_sleepers(struct looking *l)
{
	bool asleep = true;
	const pid_t *tid;

	l->i->gathering = true;
	cp_vec_for_each(&l->i->threads.list, tid) {
		asleep = (l->seen && !l->i->o->thread) || look_asleep(l, *tid);
		if (!asleep)
			break;
	}
	l->i->gathering = false;
	return asleep;
}

/* ---- while they are held ---- */

static bool is_chosen(const struct cp_inspect *i, pid_t tid)
{
	const pid_t *chosen;

	cp_vec_for_each(&i->threads.list, chosen)
		if (*chosen == tid)
			return true;
	return false;
}

static void look_at_held(void *ctx, const struct cp_leaves *leaves, bool held)
{
	struct looking *l = ctx;
	const uint64_t begin = cp_now();
	const struct cp_leaf *leaf;

	forget(l);
	cp_watched_drop(l->i, 0);
	l->i->leaves = leaves;
	cp_vec_for_each(&leaves->list, leaf)
		if (is_chosen(l->i, leaf->tid))
			look_into(l, leaf);
	l->i->leaves = NULL;
	l->late = !held || cp_now() - begin > CP_CAPTURE_HOLD_NS;
}

/* False after a complaint. */
static bool hold(struct looking *l)
{
	struct cp_inspect *i = l->i;
	struct cp_threads all = { 0 };
	const struct cp_threads *wanted = i->o->pointed.count ? &all : &i->threads;
	struct cp_holding h = {
		.pid = i->in.pid,
		.stop = i->o->stop,
		.may_end = i->watched != NULL,
		.look = look_at_held,
		.ctx = l,
	};
	const struct cp_json json = i->json;
	struct cp_buf *out = i->out, nothing = { 0 };
	bool done;

	if (i->o->pointed.count)
		cp_error_free(cp_threads_choose(&i->in, "all", &all));
	h.tids = wanted->list.items;
	h.count = wanted->list.count;
	i->out = i->json.out = &nothing;
	i->rehearsing = h.rehearses = true;
	done = cp_hold(&h);
	i->rehearsing = h.rehearses = false;
	i->out = out;
	i->json = json;
	cp_buf_free(&nothing);
	done = done && cp_hold(&h);
	cp_holding_end(&h);
	cp_vec_free(&all.list);
	if (done && l->late && i->o->stop)
		cp_inspect_fail(i, cp_error_new(CP_ERR_TIMEOUT, 0,
						"the threads had gone on when all was read, which "
						"is not of one moment"));
	return done;
}

/* ---- all ---- */

static void look_at_core(struct looking *l)
{
	struct cp_leaf leaf;
	const pid_t *tid;

	cp_vec_for_each(&l->i->threads.list, tid)
		if (cp_leaf_of_core(l->i->in.core, *tid, &leaf))
			look_into(l, &leaf);
}

/* Nobody has such a frame. */
static void fail(struct looking *l)
{
	struct cp_inspect *i = l->i;

	if (i->threads.list.count > 1 && l->lacks) {
		cp_error_free(l->lacks);
		l->lacks = cp_error_new(CP_ERR_NOT_FOUND, 0, "no thread's stack has a frame %s",
					i->o->frame);
	}
	if (!l->lacks)
		l->lacks = cp_error_new(CP_ERR_GONE, 0, "the thread has ended");
	if (i->watched) {
		cp_watched_lacks(i, l->lacks->what);
		return;
	}
	cp_inspect_fail(i, l->lacks);
	l->lacks = NULL;
}

void cp_inspect_frames(struct cp_inspect *i)
{
	struct looking l = { .i = i };
	const struct cp_json json = i->json;
	const size_t size = i->out->size;
	struct cp_error *err = cp_frames_open(&i->frames, &i->in);
	bool done = true;

	i->in.frames = i->o->frame ? &i->frames : NULL;
	if (err) {
		cp_inspect_fail(i, err);
	} else if (i->in.core) {
		look_at_core(&l);
	} else if (i->o->stop || !look_at_sleepers(&l)) {
		i->out->size = size;
		i->json = json;
		cp_inspect_drop_errors(i, 0);
		done = hold(&l);
	}
	cp_inspect_tell_errors(i);
	if (!done)
		i->status = CP_EXIT_FAILURE;
	else if (!err && !l.seen)
		fail(&l);
	cp_error_free(l.lacks);
	i->in.frames = NULL;
	cp_frames_close(&i->frames);
}
