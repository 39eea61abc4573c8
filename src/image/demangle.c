/* SPDX-License-Identifier: MIT
 *
 * Demangling through libiberty, fenced in. A mangled name of a few hundred
 * bytes can stand for a tree that prints gigabytes, because substitutions
 * refer to earlier parts again and again; libiberty also recurses once a
 * character, and allocates on the stack the product of two counts. So:
 *
 *  - the tree is built first, and its size as printed (without template
 *    parameters) computed on the shared nodes, each once;
 *  - output goes through a callback that leaves by longjmp() when there is
 *    too much of it. libiberty's printer keeps everything on the stack, so
 *    nothing is lost; a Rust name of that kind may leak one small buffer;
 *  - long names are handled on a thread with a large stack of its own.
 *
 * What is refused comes back as it was.
 */
#include "image/image.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"

#define MAX_NAME 16384 /* longer than any that compilers made of real programs */
#define SHORT_NAME 1024 /* up to here any thread's stack is large enough */
#define MAX_TEXT (512u << 10)
#define MAX_WEIGHT (UINT64_C(1) << 18)
#define MAX_STACK_COPIES (UINT64_C(16) << 10) /* of 24 bytes or less each */
#define BIG_STACK (UINT64_C(64) << 20)

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

struct job {
	const char *name;
	struct cp_buf text;
	bool ok;
	jmp_buf enough;
};

static void append(const char *text, size_t size, void *opaque)
{
	struct job *job = opaque;

	if (size > MAX_TEXT - job->text.size)
		longjmp(job->enough, 1);
	cp_buf_add(&job->text, text, size);
	if (job->text.failed)
		longjmp(job->enough, 1);
}

/* ---- how much a tree would print ---- */

struct weigh {
	struct cp_map done; /* node -> weight */
	uint64_t templates, references;
	bool bad;
};

/* The parts of a node that are nodes. */
static void parts(struct demangle_component *c, struct demangle_component **left,
		  struct demangle_component **right)
{
	*left = *right = NULL;
	switch ((int)c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		*left = c->u.s_extended_operator.name;
		return;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		*left = c->u.s_fixed.length;
		return;
	case DEMANGLE_COMPONENT_CTOR:
		*left = c->u.s_ctor.name;
		return;
	case DEMANGLE_COMPONENT_DTOR:
		*left = c->u.s_dtor.name;
		return;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		*left = c->u.s_unary_num.sub;
		return;
	default:
		*left = c->u.s_binary.left;
		*right = c->u.s_binary.right;
	}
}

static uint64_t weight(struct weigh *w, struct demangle_component *c, unsigned depth)
{
	struct demangle_component *left, *right;
	uint64_t *known, sum;

	if (!c || w->bad)
		return 0;
	if (depth > 4 * MAX_NAME) {
		w->bad = true;
		return 0;
	}
	known = cp_map_get(&w->done, (uintptr_t)c);
	if (known)
		return *known;
	/* A node within itself ends here with what it has so far. */
	if (!cp_map_put(&w->done, (uintptr_t)c, 1))
		w->bad = true;
	if (c->type == DEMANGLE_COMPONENT_TEMPLATE)
		w->templates++;
	if (c->type == DEMANGLE_COMPONENT_REFERENCE ||
	    c->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE)
		w->references++;
	parts(c, &left, &right);
	sum = 1 + weight(w, left, depth + 1) + weight(w, right, depth + 1);
	if (sum > MAX_WEIGHT || !cp_map_put(&w->done, (uintptr_t)c, sum))
		w->bad = true;
	return sum;
}

static bool bearable(struct demangle_component *tree)
{
	struct weigh w = { 0 };
	bool ok;

	weight(&w, tree, 0);
	/* Each may be counted twice there. */
	ok = !w.bad && 4 * w.templates * w.references <= MAX_STACK_COPIES;
	cp_map_free(&w.done);
	return ok;
}

/* ---- one name ---- */

static bool rust(struct job *job)
{
	if (setjmp(job->enough))
		return false;
	return rust_demangle_callback(job->name, OPTIONS, append, job);
}

static bool print(struct job *job, struct demangle_component *tree)
{
	if (setjmp(job->enough))
		return false;
	return cplus_demangle_print_callback(OPTIONS, tree, append, job);
}

static bool itanium(struct job *job)
{
	void *memory = NULL;
	struct demangle_component *tree = cplus_demangle_v3_components(job->name, OPTIONS, &memory);

	if (!tree)
		return false;
	cp_buf_clear(&job->text);
	job->ok = bearable(tree) && print(job, tree);
	free(memory);
	return job->ok;
}

static void *run(void *opaque)
{
	struct job *job = opaque;

	job->ok = rust(job) || itanium(job);
	return NULL;
}

static void run_on_big_stack(struct job *job)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, BIG_STACK) &&
	    !pthread_create(&thread, &attr, run, job))
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static bool is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3) ||
	       !strncmp(name, "_GLOBAL__", 9);
}

static char *demangle(const char *name)
{
	struct job job = { .name = name };
	size_t size;

	if (!is_mangled(name))
		return strdup(name);
	size = strnlen(name, MAX_NAME + 1);
	if (size <= SHORT_NAME)
		run(&job);
	else if (size <= MAX_NAME)
		run_on_big_stack(&job);
	if (job.ok && job.text.size && !job.text.failed)
		return job.text.bytes;
	cp_buf_free(&job.text);
	return strdup(name);
}

/* A stub's name is that of what it leads to. */
static char *demangle_stub(const char *name, size_t size)
{
	char *target = strndup(name, size), *known = target ? demangle(target) : NULL, *stub = NULL;

	if (known && asprintf(&stub, "%s%s", known, name + size) < 0)
		stub = NULL;
	free(target);
	free(known);
	return stub;
}

char *cp_demangle(const char *name)
{
	const char *at = is_mangled(name) ? strrchr(name, '@') : NULL;

	if (at && !strcmp(at, "@plt"))
		return demangle_stub(name, (size_t)(at - name));
	return demangle(name);
}
