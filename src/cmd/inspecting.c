/* SPDX-License-Identifier: MIT */
#include "cmd/inspecting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/complain.h"
#include "cmd/frames.h"
#include "image/jit.h"
#include "inspect/bases.h"
#include "inspect/shapes.h"
#include "inspect/statics.h"
#include "inspect/type_names.h"

#define PAGE 4096u

/* ---- memory ---- */

static size_t read_process(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct cp_inspected *in = ctx;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread64(in->memory_fd, (uint8_t *)buffer + done, size - done,
			    (off64_t)(address + done));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	if (in->reading)
		cp_reads_note(in->reading, address, buffer, done);
	return done;
}

static size_t read_file(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct cp_inspected *in = ctx;

	return cp_image_read_initial(in->objects.list.items[0].image, (struct cp_vaddr){ address },
				     buffer, size);
}

static const struct cp_object *object_of(const struct cp_inspected *in, const char *path)
{
	const struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o)
		if (!strcmp(o->path, path))
			return o;
	return NULL;
}

/* What nobody had written to is not in the core, but in the file that was mapped; behind
 * the file's end, its last page has zeros. At most a page is asked for. */
static size_t read_mapped(const struct cp_inspected *in, uint64_t address, void *buffer,
			  size_t size)
{
	const struct cp_core_file *f;
	const struct cp_object *o;
	size_t got;

	cp_vec_for_each(&in->core->files, f) {
		o = address >= f->start && address < f->end ? object_of(in, f->path) : NULL;
		if (!o)
			continue;
		got = cp_image_read_file(o->image, f->offset + (address - f->start), buffer, size);
		memset((uint8_t *)buffer + got, 0, got ? size - got : 0);
		return got ? size : 0;
	}
	return 0;
}

static size_t read_core(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct cp_inspected *in = ctx;
	size_t done = 0, got, page;
	uint8_t *to = buffer;

	while (done < size) {
		got = cp_core_read(in->core, address + done, to + done, size - done);
		/* Pages are in it or not. */
		page = PAGE - (address + done) % PAGE;
		if (!got)
			got = read_mapped(in, address + done, to + done,
					  size - done < page ? size - done : page);
		if (!got)
			break;
		done += got;
	}
	return done;
}

/* ---- variables ---- */

static struct cp_placed_image program_of(const struct cp_inspected *in)
{
	const struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o)
		if (o->program)
			return (struct cp_placed_image){ o->image, o->bias };
	return (struct cp_placed_image){ 0 };
}

struct cp_thing cp_inspected_global(struct cp_inspected *in, const struct cp_object *object,
				    const struct cp_global *global)
{
	const struct cp_statics statics = { .memory = &in->memory,
					    .threads = in->pid || in->core ? &in->threads : NULL,
					    .tid = in->tid,
					    .arena = &in->arena,
					    .program = program_of(in) };
	const struct cp_placed_image of = { object->image, object->bias };

	return cp_static_thing(&statics, &of, object->program, global);
}

/* ---- names ---- */

/* Takes what is to be noted, once. */
static void add_note(struct cp_inspected *in, struct cp_buf *text)
{
	char **note;

	cp_buf_u8(text, 0);
	cp_vec_for_each(&in->notes, note)
		if (!text->failed && !strcmp(*note, (char *)text->bytes))
			text->size = 1;
	if (text->size == 1 || text->failed || !cp_vec_push(&in->notes, (char *)text->bytes))
		cp_buf_free(text);
}

/* Says which library has what a name was found to be; `file`: that it is declared in, or
 * NULL. */
static void note_library(struct cp_inspected *in, const struct cp_object *o, const char *name,
			 const char *file)
{
	struct cp_buf text = { 0 };

	if (o->program)
		return;
	in->library = in->library ? in->library : o->path;
	in->library_file = in->library == o->path && !in->library_file ? file : in->library_file;
	cp_buf_printf(&text, "%s is of %s", name, cp_basename(o->path));
	if (file)
		cp_buf_printf(&text, ", %s", cp_basename(file));
	add_note(in, &text);
}

static void note_others(struct cp_inspected *in, const struct cp_globals *found)
{
	const struct cp_global *g;
	struct cp_buf text = { 0 };
	size_t i;

	for (i = 1; i < found->list.count && i < 4; i++) {
		g = &found->list.items[i];
		cp_buf_str(&text, i > 1 ? ", " : "also: ");
		if (g->file)
			cp_buf_printf(&text, "'%s'::", cp_basename(g->file));
		cp_buf_printf(&text, "%s", g->name);
		if (g->line)
			cp_buf_printf(&text, " (line %u)", g->line);
	}
	if (found->list.count > 4)
		cp_buf_printf(&text, " and %zu more", found->list.count - 4);
	add_note(in, &text);
}

static struct cp_named_global *known_global(struct cp_inspected *in, const char *key)
{
	struct cp_named_global *k;

	cp_vec_for_each(&in->known, k)
		if (!strcmp(k->key, key))
			return k;
	return NULL;
}

/* Looks for it in one object; *ret stays NULL where it is not. */
static CP_ERROR look_in(struct cp_inspected *in, struct cp_object *object,
			const struct cp_global_query *query, struct cp_named_global *ret,
			const char **near)
{
	struct cp_globals *found = calloc(1, sizeof(*found));
	struct cp_error *err = found ? NULL : cp_error_nomem();

	if (!err)
		err = cp_image_find_globals(object->image, query, found);
	if (err || !cp_vec_push(&in->globals, found)) {
		free(found);
		return err ? err : cp_error_nomem();
	}
	if (found->list.count)
		*ret = (struct cp_named_global){ .found = found, .in = object };
	else
		*near = *near ? *near : found->near;
	return NULL;
}

/* A name means that; *key is taken where it is to be remembered. */
static CP_ERROR choose_global(struct cp_inspected *in, const struct cp_named_global *global,
			      char **key, const char *name, struct cp_thing *ret)
{
	struct cp_named_global known = *global;

	if (!known.key) {
		known.key = *key;
		if (!cp_vec_push(&in->known, known))
			return cp_error_nomem();
		*key = NULL;
	}
	note_library(in, known.in, name, known.found->list.items[0].file);
	note_others(in, known.found);
	*ret = cp_inspected_global(in, known.in, &known.found->list.items[0]);
	return NULL;
}

/* What no debug information tells of may have a symbol: a place without a type. */
static bool symbol_of(const struct cp_object *o, const char *name, struct cp_thing *ret)
{
	struct cp_vaddr at;

	if (!cp_image_variable(o->image, name, &at))
		return false;
	*ret = cp_thing_at(NULL, at.v + o->bias);
	return true;
}

/* A function is where it begins, as C has it. */
static bool function_of(struct cp_inspected *in, const struct cp_object *o, const char *name,
			struct cp_thing *ret)
{
	const struct cp_placed_image of = { o->image, o->bias };

	return cp_function_thing(&of, name, &in->arena, ret);
}

static struct cp_named_type *known_type(struct cp_inspected *in, const char *key)
{
	struct cp_named_type *k;

	cp_vec_for_each(&in->known_types, k)
		if (!strcmp(k->key, key))
			return k;
	return NULL;
}

/* An enumerator of the program, or of its libraries. */
static bool enumerator_of(struct cp_inspected *in, bool program, const char *name,
			  struct cp_thing *ret)
{
	struct cp_named_type now = { 0 }, *known;
	const struct cp_type *type;
	struct cp_object *o;

	if (asprintf(&now.key, "%s enumerator %s", program ? "own" : "other", name) < 0)
		return false;
	known = known_type(in, now.key);
	cp_vec_for_each(&in->objects.list, o)
		if (!known && !now.type && o->program == program)
			now.type = cp_enumeration_in(o->image, name);
	type = known ? known->type : now.type;
	if (known || !cp_vec_push(&in->known_types, now))
		free(now.key);
	return type && cp_enumerator_of(&in->env, type, cp_name_last_part(name), ret);
}

/* The types of that name in one object; NULL: it has none. */
static const struct cp_found *types_in(struct cp_inspected *in, const struct cp_object *o,
				       const char *name, bool whole)
{
	struct cp_found *found = calloc(1, sizeof(*found));
	struct cp_error *err = found ? cp_image_find_types(o->image, name, found) : NULL;

	if (found && !err && found->types.count &&
	    (!whole || !strcmp(found->types.items[0].name, name)) && cp_vec_push(&in->types, found))
		return found;
	if (found && !err)
		cp_found_free(found);
	cp_error_free(err);
	free(found);
	return NULL;
}

/* A function of the program, of whose name only the end is said. */
static bool function_within(struct cp_inspected *in, const char *name, struct cp_thing *ret)
{
	struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o) {
		const struct cp_placed_image of = { o->image, o->bias };

		if (o->program && cp_function_within(&of, name, &in->arena, ret))
			return true;
	}
	return false;
}

/* Has the program a type of that name? It may be asked for it again and again. */
static bool is_type(struct cp_inspected *in, const char *name)
{
	struct cp_named_type now = { 0 }, *known;
	const struct cp_found *found = NULL;
	struct cp_object *o;

	if (asprintf(&now.key, "whether %s", name) < 0)
		return false;
	known = known_type(in, now.key);
	cp_vec_for_each(&in->objects.list, o)
		if (!known && !found && o->program)
			found = types_in(in, o, name, false);
	if (found)
		now.type = found->types.items[0].type;
	now.type = known ? known->type : now.type;
	if (known || !cp_vec_push(&in->known_types, now))
		free(now.key);
	return now.type;
}

/* Why nothing has that name. */
static CP_ERROR no_variable(struct cp_inspected *in, const char *name, const char *file,
			    const char *near)
{
	struct cp_error *err;

	if (!file && *name != '$' && is_type(in, name))
		return cp_error_hint(
			cp_error_new(CP_ERR_NOT_FOUND, 0, "%s is a type, and no variable", name),
			"what it consists of: cprof layout FILE '%s'; its size: sizeof(%s); what "
			"is at an address: {%s}0x55d0",
			name, name, name);
	err = cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no variable %s%s%s", name,
			   file ? " in " : "", file ? file : "");
	if (*name == '$' && !in->frames)
		return cp_error_hint(err, "registers are a frame's: --frame=0");
	return near ? cp_error_hint(err, "did you mean %s?", near) : err;
}

/* What the program has of that name, and what others see of its libraries. A static of a
 * file of a library's is remembered in *own: nobody can have meant it by that name. */
static CP_ERROR find_global(struct cp_inspected *in, const struct cp_global_query *query,
			    struct cp_named_global *ret, struct cp_named_global *own,
			    struct cp_thing *thing_ret, bool *done_ret, const char **near)
{
	struct cp_named_global found;
	struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o) {
		found = (struct cp_named_global){ 0 };
		CP_TRY(look_in(in, o, query, &found, near));
		if (found.found &&
		    (o->program || query->file || found.found->list.items[0].external)) {
			*ret = found;
			return NULL;
		}
		*own = own->found ? *own : found;
		/* A library's variable is not what a function of the program is meant by. */
		*done_ret = !query->file && o->program &&
			    (function_of(in, o, query->name, thing_ret) ||
			     enumerator_of(in, true, query->name, thing_ret));
		if (*done_ret)
			return NULL;
	}
	return NULL;
}

/* What no debug information tells of: by symbols, but those of `but`. */
static bool find_symbol(struct cp_inspected *in, const char *name, const struct cp_object *but,
			struct cp_thing *ret)
{
	struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o)
		if (o != but && symbol_of(o, name, ret)) {
			note_library(in, o, name, NULL);
			return true;
		}
	cp_vec_for_each(&in->objects.list, o)
		if (o != but && function_of(in, o, name, ret))
			return true;
	return false;
}

static CP_ERROR find_variable(void *ctx, const char *name, const char *file, struct cp_thing *ret)
{
	const struct cp_global_query query = { .name = cp_starts_with(name, "::") ? name + 2 : name,
					       .file = file };
	struct cp_inspected *in = ctx;
	CP_FREE char *key = NULL;
	const struct cp_named_global *known;
	struct cp_named_global found = { 0 }, own = { 0 };
	const char *near = NULL;
	bool done = false;

	if (!file && in->frames && cp_frames_find(in->frames, name, ret))
		return NULL;
	if (asprintf(&key, "%s\n%s", file ? file : "", name) < 0)
		return cp_error_nomem();
	known = known_global(in, key);
	if (!known)
		CP_TRY(find_global(in, &query, &found, &own, ret, &done, &near));
	if (done)
		return NULL;
	if (known || found.found)
		return choose_global(in, known ? known : &found, &key, query.name, ret);
	if (!file && (find_symbol(in, query.name, own.in, ret) ||
		      enumerator_of(in, false, query.name, ret) ||
		      (*name != ':' && function_within(in, name, ret))))
		return NULL;
	if (own.found)
		return choose_global(in, &own, &key, query.name, ret);
	return no_variable(in, name, file, near);
}

/* Says which other type was taken, where a name leaves it open. */
static void note_type(struct cp_inspected *in, const char *name, const struct cp_found *found)
{
	const struct cp_found_type *t;
	struct cp_buf text = { 0 };

	/* It is in what the name does not say. */
	if (!in->frames || strlen(found->types.items[0].name) <= strlen(name) ||
	    !cp_ends_with(found->types.items[0].name, name))
		return;
	cp_buf_printf(&text, "%s is %s", name, found->types.items[0].name);
	cp_vec_for_each(&found->types, t)
		if (t > found->types.items && t < found->types.items + 4)
			cp_buf_printf(&text, "%s%s",
				      t == found->types.items + 1 ? "; also: " : ", ", t->name);
	cp_buf_u8(&text, 0);
	if (text.failed || !cp_vec_push(&in->notes, (char *)text.bytes))
		cp_buf_free(&text);
}

/* In what the function of the frame is in, from the inside: ns::Class::f has Class::T. */
static const struct cp_found *types_of_frame(struct cp_inspected *in, const char *name)
{
	const struct cp_inspected_frame *f = in->frames ? in->frames->chosen : NULL;
	CP_FREE char *scope = f && f->object && f->function ? strdup(f->function) : NULL;
	const struct cp_found *found = NULL;
	const char *last;

	if (scope)
		scope[cp_short_name(scope)] = '\0';
	while (scope && *scope && !found) {
		CP_FREE char *full = NULL;

		if (asprintf(&full, "%s::%s", scope, name) < 0)
			return NULL;
		found = types_in(in, f->object, full, true);
		last = cp_name_last_part(scope);
		scope[last > scope + 1 ? last - scope - 2 : 0] = '\0';
	}
	return found;
}

static CP_ERROR find_type(void *ctx, const char *name, const struct cp_type **ret)
{
	struct cp_inspected *in = ctx;
	const struct cp_inspected_frame *f = in->frames ? in->frames->chosen : NULL;
	const struct cp_named_type *known;
	struct cp_named_type now = { 0 };
	size_t i;

	if (asprintf(&now.key, "%s\n%s", f && f->function ? f->function : "", name) < 0)
		return cp_error_nomem();
	known = known_type(in, now.key);
	if (known) {
		free(now.key);
		now = *known;
	} else {
		now.found = f && !cp_starts_with(name, "::") ? types_of_frame(in, name) : NULL;
		now.own = now.found != NULL;
		for (i = 0; i < in->objects.list.count && !now.found; i++)
			now.found = types_in(in, &in->objects.list.items[i], name, false);
		if (!now.found) {
			free(now.key);
			return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no type %s", name);
		}
		now.type = now.found->types.items[0].type;
		if (!cp_vec_push(&in->known_types, now))
			free(now.key);
	}
	*ret = now.type;
	if (!now.own)
		note_type(in, name, now.found);
	return NULL;
}

static bool template_of(void *ctx, uint64_t address, const char *constant, struct cp_template *ret)
{
	struct cp_inspected *in = ctx;
	struct cp_object *o;
	struct cp_vaddr end;

	cp_vec_for_each(&in->objects.list, o) {
		struct cp_vaddr at = { address - o->bias };

		if (cp_image_code(o->image, at, &end))
			return cp_image_template_of(o->image, at, constant, ret);
	}
	return false;
}

/* The function at an address. */
static const char *symbol_at(void *ctx, uint64_t address)
{
	struct cp_inspected *in = ctx;
	struct cp_object *o;
	struct cp_symbol s;
	struct cp_vaddr end;
	const char *plain;
	char *text;
	size_t size;

	cp_vec_for_each(&in->objects.list, o) {
		struct cp_vaddr at = { address - o->bias };
		CP_FREE char *name = NULL;

		if (!cp_image_code(o->image, at, &end) || !cp_image_symbol(o->image, at, &s))
			continue;
		name = cp_demangle(s.name);
		plain = name ? name : s.name;
		size = strlen(plain) + sizeof("+18446744073709551615");
		text = cp_arena_alloc(&in->arena, size);
		if (text && at.v == s.start.v)
			snprintf(text, size, "%s", plain);
		else if (text)
			snprintf(text, size, "%s+%llu", plain,
				 (unsigned long long)(at.v - s.start.v));
		return text;
	}
	return NULL;
}

static char *variable_at(void *ctx, uint64_t address, uint64_t *offset_ret)
{
	struct cp_inspected *in = ctx;
	struct cp_object *o;
	char *name;

	cp_vec_for_each(&in->objects.list, o) {
		name = cp_image_variable_at(o->image, (struct cp_vaddr){ address - o->bias },
					    offset_ret);
		if (name)
			return name;
	}
	return NULL;
}

static char *class_of(void *ctx, const struct cp_type *type, uint64_t address)
{
	return cp_base_class_of(&((struct cp_inspected *)ctx)->env, type, address);
}

/* ---- opening ---- */

static bool any(void *ctx, const char *path, const char *started_as, bool program)
{
	(void)ctx;
	(void)path;
	(void)started_as;
	(void)program;
	return true;
}

static int by_program(const void *a, const void *b)
{
	const struct cp_object *x = a, *y = b;

	return (int)y->program - (int)x->program;
}

/* The C library and the dynamic linker, which may have several names. */
static void find_library(struct cp_inspected *in)
{
	struct cp_object *o;

	in->threads.memory = &in->memory;
	cp_vec_for_each(&in->objects.list, o) {
		const struct cp_placed_image placed = { o->image, o->bias };

		cp_thread_library_meet(&in->threads, &placed, o->path, o->program);
	}
}

static CP_ERROR open_process(struct cp_inspected *in, const struct cp_image_options *options)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)in->pid);
	in->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in->memory_fd < 0 && (errno == ENOENT || errno == ESRCH))
		return cp_objects_gone(in->pid);
	if (in->memory_fd < 0)
		return cp_error_hint(cp_error_new(CP_ERR_PERMISSION, errno,
						  "the memory of process %d can't be read",
						  (int)in->pid),
				     "it has to be your own, or you root; see "
				     "/proc/sys/kernel/yama/ptrace_scope");
	in->memory = (struct cp_reader){ read_process, in };
	CP_TRY(cp_objects_process(in->pid, options, any, NULL, &in->objects));
	cp_vec_sort(&in->objects.list, by_program);
	find_library(in);
	return NULL;
}

static void warn_of_core(const struct cp_inspected *in)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_object *o;

	if (in->core->cut)
		cp_complain_text("warning: the core file is cut short: what is missing is "
				 "unreadable");
	cp_vec_for_each(&in->objects.list, o) {
		if (!o->replaced)
			continue;
		cp_buf_clear(&text);
		cp_buf_printf(&text,
			      "warning: %s is not the file that the core was made with: what is "
			      "said of it may be wrong",
			      o->path);
		cp_complain_text(text.bytes ? text.bytes : o->path);
	}
}

/* Leaves in->core NULL where the file is no core. */
static CP_ERROR open_core(struct cp_inspected *in, const char *path,
			  const struct cp_image_options *options)
{
	if (access(path, F_OK))
		return NULL; /* it may be a program's name */
	CP_TRY(cp_core_open(path, &in->core));
	if (!in->core)
		return NULL;
	in->tid = in->core->threads.items[0].tid;
	in->memory = (struct cp_reader){ read_core, in };
	CP_TRY(cp_objects_core(in->core, options, &in->objects));
	if (!in->objects.list.count)
		return cp_error_new(CP_ERR_NOT_FOUND, 0,
				    "%s names none of the files it was made of", path);
	warn_of_core(in);
	cp_vec_sort(&in->objects.list, by_program);
	find_library(in);
	return NULL;
}

CP_ERROR cp_inspected_open(struct cp_inspected *in, const char *target,
			   const struct cp_image_options *options)
{
	char *end;
	long pid = strtol(target, &end, 10);

	*in = (struct cp_inspected){ .memory_fd = -1 };
	in->env = (struct cp_expression_env){ .arena = &in->arena,
					      .memory = &in->memory,
					      .variable = find_variable,
					      .type = find_type,
					      .symbol = symbol_at,
					      .variable_at = variable_at,
					      .ctx = in,
					      .values = cp_value_arena_create() };
	if (!in->env.values)
		return cp_error_nomem();
	if (*target && !*end && pid > 0 && pid <= INT32_MAX) {
		in->pid = in->tid = (pid_t)pid;
		return open_process(in, options);
	}
	CP_TRY(open_core(in, target, options));
	if (in->core)
		return NULL;
	in->memory = (struct cp_reader){ read_file, in };
	return cp_objects_file(target, options, &in->objects);
}

void cp_inspected_use_shapes(struct cp_inspected *in, struct cp_shapes *shapes)
{
	shapes->find_type = in->env.type;
	shapes->ctx = in;
	shapes->template_of = template_of;
	shapes->class_of = class_of;
	shapes->type_of_vtable = cp_vtable_type;
	in->env.shapes = shapes;
}

void cp_inspected_close(struct cp_inspected *in)
{
	struct cp_named_global *g;
	struct cp_globals **globals;
	struct cp_named_type *t;
	struct cp_found **types;
	char **note;

	cp_vec_for_each(&in->known, g)
		free(g->key);
	cp_vec_free(&in->known);
	cp_vec_for_each(&in->known_types, t)
		free(t->key);
	cp_vec_free(&in->known_types);
	cp_vec_for_each(&in->globals, globals) {
		cp_globals_free(*globals);
		free(*globals);
	}
	cp_vec_free(&in->globals);
	cp_vec_for_each(&in->types, types) {
		cp_found_free(*types);
		free(*types);
	}
	cp_vec_free(&in->types);
	cp_vec_for_each(&in->notes, note)
		free(*note);
	cp_vec_free(&in->notes);
	cp_vtables_free(&in->vtables);
	cp_objects_free(&in->objects);
	cp_core_destroy(in->core);
	cp_close_fd(&in->memory_fd);
	cp_arena_free(&in->arena);
	cp_value_arena_destroy(in->env.values);
}
