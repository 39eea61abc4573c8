/* SPDX-License-Identifier: MIT
 *
 * Stacks are walked by the mappings and the memory that is inspected, of a process as
 * of a core file. What a frame's variables and registers are follows from the registers
 * that the walk recovered.
 */
#include "cmd/frames.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/inspecting.h"
#include "inspect/entered.h"
#include "inspect/members.h"
#include "inspect/registers.h"
#include "inspect/statics.h"
#include "unwind/unwind.h"

#define FRAMES_MAX 4096
#define CORE_FRAMES_MAX (1u << 19) /* whose stack was full, perhaps */
#define INLINES_MAX 64
#define MAPS_MAX (64u << 20)
#define DEVICE 1 /* of files that a core names: any */

/* ---- what is mapped ---- */

struct mappings {
	CP_VEC(struct cp_unwind_mapping) list;
};

static CP_ERROR mappings_of_process(pid_t pid, struct mappings *to, struct cp_mapping **maps_ret,
				    size_t *count_ret)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_mapping *m;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	CP_TRY(cp_file_read(AT_FDCWD, path, MAPS_MAX, &text));
	CP_TRY(cp_mappings_parse(text.bytes, text.size, maps_ret, count_ret));
	for (m = *maps_ret; m < *maps_ret + *count_ret; m++) {
		if (!cp_vec_push(&to->list,
				 (struct cp_unwind_mapping){ .start = m->start,
							     .end = m->end,
							     .file_offset = m->offset,
							     .device = m->device,
							     .inode = m->inode,
							     .path = m->path,
							     .executable = m->executable }))
			return cp_error_nomem();
	}
	return NULL;
}

static const struct cp_core_file *file_at(const struct cp_core *core, uint64_t address)
{
	const struct cp_core_file *f;

	cp_vec_for_each(&core->files, f)
		if (address >= f->start && address < f->end)
			return f;
	return NULL;
}

/* A number for the file, the same wherever it is mapped. */
static uint64_t number_of(const struct cp_core *core, const struct cp_core_file *file)
{
	uint64_t n = 1;
	const struct cp_core_file *f;

	for (f = core->files.items; f < file && strcmp(f->path, file->path); f++)
		n++;
	return n;
}

static struct cp_object *object_at(struct cp_inspected *in, uint64_t address)
{
	struct cp_object *o;
	struct cp_vaddr end;

	cp_vec_for_each(&in->objects.list, o)
		if (cp_image_code(o->image, (struct cp_vaddr){ address - o->bias }, &end))
			return o;
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct cp_unwind_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Was code mapped there? The core says it of what it lists; the kernel lists everything,
 * gdb only what it saves. A mapping begins at a page, and the code perhaps in it. */
static bool is_executable(const struct cp_inspected *in, const struct cp_core_file *f)
{
	const struct cp_core *core = in->core;
	const size_t n = cp_vec_partition(&core->mappings, it, it->end <= f->start);
	const struct cp_object *o;

	if (n < core->mappings.count && core->mappings.items[n].start <= f->start)
		return core->mappings.items[n].executable;
	cp_vec_for_each(&in->objects.list, o)
		if (!strcmp(o->path, f->path))
			return cp_image_has_code(o->image, (struct cp_vaddr){ f->start - o->bias },
						 (struct cp_vaddr){ f->end - o->bias });
	return false;
}

/* What was mapped from files, in the core or not, and the rest of what is in it. */
static CP_ERROR mappings_of_core(struct cp_inspected *in, struct mappings *to)
{
	const struct cp_core *core = in->core;
	const struct cp_core_mapping *m;
	const struct cp_core_file *f;
	struct cp_unwind_mapping now;

	cp_vec_for_each(&core->files, f) {
		now = (struct cp_unwind_mapping){ .start = f->start,
						  .end = f->end,
						  .file_offset = f->offset,
						  .path = f->path,
						  .device = DEVICE,
						  .inode = number_of(core, f),
						  .executable = is_executable(in, f) };
		if (!cp_vec_push(&to->list, now))
			return cp_error_nomem();
	}
	cp_vec_for_each(&core->mappings, m) {
		now = (struct cp_unwind_mapping){ .start = m->start,
						  .end = m->end,
						  .path = m->vdso ? "[vdso]" : "",
						  .executable = m->executable };
		if (!file_at(core, m->start) && !cp_vec_push(&to->list, now))
			return cp_error_nomem();
	}
	cp_vec_sort(&to->list, by_start);
	return NULL;
}

/* The door that src/unwind has for files. */
static size_t find_sections(void *ctx, const struct cp_unwind_mapping *mapping,
			    struct cp_unwind_section *ret, size_t max)
{
	static const char *const names[] = { ".eh_frame", ".debug_frame" };
	struct cp_inspected *in = ctx;
	const struct cp_object *o;
	size_t count = 0, i;

	cp_vec_for_each(&in->objects.list, o) {
		if (!mapping->path || strcmp(o->path, mapping->path) != 0)
			continue;
		for (i = 0; i < CP_ARRAY_SIZE(names) && count < max; i++) {
			struct cp_unwind_section *s = &ret[count];

			if (!cp_image_section(o->image, names[i], &s->bytes, &s->size, &s->addr))
				continue;
			s->debug_frame = i == 1;
			count++;
		}
		break;
	}
	return count;
}

CP_ERROR cp_frames_open(struct cp_frames *frames, struct cp_inspected *in)
{
	const struct cp_unwind_files files = { find_sections, in };
	struct mappings mappings = { 0 };
	struct cp_mapping *maps = NULL;
	struct cp_error *err;
	size_t count = 0;

	*frames = (struct cp_frames){ .in = in };
	frames->max = in->core ? CORE_FRAMES_MAX : FRAMES_MAX;
	frames->walked = malloc(frames->max * sizeof(*frames->walked));
	if (!frames->walked)
		return cp_error_nomem();
	err = in->core ? mappings_of_core(in, &mappings)
		       : mappings_of_process(in->pid, &mappings, &maps, &count);
	if (!err)
		err = cp_unwind_space_create(cp_arch_host(), &in->memory, NULL, &frames->space);
	if (!err) {
		cp_unwind_space_set_files(frames->space, &files);
		err = cp_unwind_space_set_mappings(frames->space, mappings.list.items,
						   mappings.list.count);
	}
	cp_vec_free(&mappings.list);
	cp_mappings_free(maps, count);
	return err;
}

static void forget(struct cp_frames *frames)
{
	struct cp_inspected_frame *f;

	cp_vec_for_each(&frames->list, f)
		free(f->function);
	frames->list.count = 0;
	frames->chosen = NULL;
}

void cp_frames_close(struct cp_frames *frames)
{
	struct cp_frame_signature *s;
	struct cp_frame_names *a;

	forget(frames);
	cp_vec_free(&frames->list);
	cp_vec_for_each(&frames->signatures, s)
		if (s->signature)
			cp_signature_destroy(s->signature);
	cp_vec_free(&frames->signatures);
	cp_vec_for_each(&frames->around, a)
		cp_outer_names_free(&a->names);
	cp_vec_free(&frames->around);
	cp_arena_free(&frames->sites);
	if (frames->space)
		cp_unwind_space_destroy(frames->space);
	free(frames->walked);
	*frames = (struct cp_frames){ 0 };
}

/* ---- the stack ---- */

static char *name_of(struct cp_object *o, uint64_t address, const struct cp_inline_frame *inlined)
{
	struct cp_symbol s;

	if (inlined && inlined->inlined)
		return inlined->function ? cp_demangle(inlined->function) : NULL;
	if (o && cp_image_symbol(o->image, (struct cp_vaddr){ address }, &s))
		return cp_demangle(s.name);
	return inlined && inlined->function ? cp_demangle(inlined->function) : NULL;
}

static bool add_frame(struct cp_frames *frames, const struct cp_inspected_frame *base,
		      const struct cp_inline_frame *inlined)
{
	struct cp_inspected_frame f = *base;

	f.number = frames->list.count;
	f.function = name_of(f.object, f.address, inlined);
	if (inlined) {
		f.inlined = inlined->inlined;
		f.file = inlined->file;
		f.line = inlined->line;
	}
	if (cp_vec_push(&frames->list, f))
		return true;
	free(f.function);
	return false;
}

/* A frame of the stack, with the calls that are inlined where it is. */
static bool add_walked(struct cp_frames *frames, size_t n)
{
	const struct cp_frame *w = &frames->walked[n];
	uint64_t pc = w->pc.v - !(w->flags & CP_FRAME_EXACT_PC);
	struct cp_inspected_frame f = { .walked = n, .object = object_at(frames->in, pc) };
	struct cp_inline_frame inlined[INLINES_MAX];
	size_t count = 0, i;

	f.address = pc - (f.object ? f.object->bias : 0);
	if (f.object)
		count = cp_image_frames(f.object->image, (struct cp_vaddr){ f.address }, inlined,
					INLINES_MAX);
	count = count < INLINES_MAX ? count : INLINES_MAX;
	for (i = 0; i < count; i++) {
		f.level = (uint32_t)i;
		if (!add_frame(frames, &f, &inlined[i]))
			return false;
	}
	return count || add_frame(frames, &f, NULL);
}

CP_ERROR cp_frames_walk(struct cp_frames *frames, const struct cp_leaf *leaf)
{
	const struct cp_unwind_capture capture = { .regs = leaf->regs,
						   .held = true,
						   .pid = frames->in->pid };
	enum cp_unwind_end end = CP_UNWIND_END_NO_INFO;
	size_t i;

	forget(frames);
	frames->leaf = *leaf;
	cp_unwind_walk(frames->space, CP_UNWINDER_OWN, &capture, frames->walked, frames->max,
		       &frames->count, &end);
	frames->truncated = end != CP_UNWIND_END_ROOT;
	for (i = 0; i < frames->count; i++)
		if (!add_walked(frames, i))
			return cp_error_nomem();
	return NULL;
}

/* ---- what its function was entered with ---- */

static bool entered_place(void *ctx, uint64_t pc, struct cp_entered_place *ret)
{
	struct cp_frames *frames = ctx;
	struct cp_object *o = object_at(frames->in, pc);

	if (!o)
		return false;
	*ret = (struct cp_entered_place){ o, o->image, o->bias, pc - o->bias };
	return true;
}

static bool entered_function(void *ctx, const struct cp_entered_place *at, uint64_t *entry_ret,
			     const char **linkage_name_ret)
{
	struct cp_symbol s;

	(void)ctx;
	if (!cp_image_symbol(at->image, (struct cp_vaddr){ at->address }, &s))
		return false;
	*entry_ret = s.start.v;
	*linkage_name_ret = s.name;
	return true;
}

static const struct cp_call_site *entered_call_site(void *ctx, const struct cp_entered_place *at)
{
	struct cp_frames *frames = ctx;
	struct cp_call_site *site = cp_arena_alloc(&frames->sites, sizeof(*site));

	return site && cp_image_call_site(at->image, (struct cp_vaddr){ at->address },
					  &frames->sites, site)
		       ? site
		       : NULL;
}

static const struct cp_call_site *entered_tail_call(void *ctx, const struct cp_entered_place *at,
						    uint64_t from, uint64_t to)
{
	struct cp_frames *frames = ctx;
	struct cp_call_site *site = cp_arena_alloc(&frames->sites, sizeof(*site));

	return site && cp_image_tail_call(at->image, (struct cp_vaddr){ from },
					  (struct cp_vaddr){ to }, &frames->sites, site)
		       ? site
		       : NULL;
}

static bool entered_never_comes_back(void *ctx, const struct cp_entered_place *at, uint64_t entry)
{
	(void)ctx;
	return cp_image_never_comes_back(at->image, (struct cp_vaddr){ entry });
}

static const struct cp_entered_ops entered_ops = {
	.place = entered_place,
	.function = entered_function,
	.call_site = entered_call_site,
	.tail_call = entered_tail_call,
	.never_comes_back = entered_never_comes_back,
};

/* ---- the chosen one ---- */

static struct cp_signature *read_signature(struct cp_frames *frames,
					   const struct cp_inspected_frame *f)
{
	const struct cp_value_limits *limits = frames->in->env.limits;
	struct cp_signature *signature = NULL;
	struct cp_symbol s;

	if (f->inlined)
		cp_error_free(cp_signature_read_frame(f->object->image,
						      (struct cp_vaddr){ f->address }, f->level,
						      limits, &signature));
	else if (cp_image_symbol(f->object->image, (struct cp_vaddr){ f->address }, &s))
		cp_error_free(cp_signature_read(f->object->image, s.start, s.name, false, false,
						CP_SIGNATURE_ARGUMENTS | CP_SIGNATURE_LOCALS,
						limits, &signature));
	return signature;
}

static struct cp_signature *signature_of(struct cp_frames *frames,
					 const struct cp_inspected_frame *f)
{
	struct cp_frame_signature now = { f->object, f->address, f->level, NULL }, *s;

	if (!f->object)
		return NULL;
	cp_vec_for_each(&frames->signatures, s)
		if (s->object == f->object && s->address == f->address && s->level == f->level)
			return s->signature;
	now.signature = read_signature(frames, f);
	if (!now.signature || cp_vec_push(&frames->signatures, now))
		return now.signature;
	cp_signature_destroy(now.signature);
	return NULL;
}

/* The vector registers that the calling convention uses, as they were captured. */
static void fill_vector(struct cp_frames *frames, const struct cp_inspected_frame *f,
			struct cp_capture *capture)
{
	const struct cp_leaf *leaf = &frames->leaf;

	if (f->walked || !leaf->vectors)
		return;
	cp_arch_fp_values(leaf->vectors, leaf->vectors_size, frames->vector.v, frames->vector.x87);
	capture->vector = &frames->vector;
}

void cp_frames_enter(struct cp_frames *frames, const struct cp_inspected_frame *f)
{
	const struct cp_frame *w = &frames->walked[f->walked];
	const struct cp_expression_env *env = &frames->in->env;
	const struct cp_callers callers = { &entered_ops, frames, w, frames->count - f->walked,
					    env->memory };
	uint64_t sp = w->regs.r[cp_arch_host()->sp];

	frames->chosen = f;
	frames->scope = (struct cp_scope){
		.capture = { .regs = w->regs,
			     .memory = env->memory,
			     .shapes = env->shapes,
			     .bias = f->object ? f->object->bias : 0,
			     .symbol = env->symbol,
			     .symbol_ctx = env->ctx,
			     .entry = &frames->entered.regs,
			     .passed = &frames->entered.passed },
		.frame = { .pc = { f->address }, .cfa_offset = (int64_t)(w->cfa.v - sp) },
	};
	if (!w->cfa.v || !(w->regs.known >> cp_arch_host()->sp & 1))
		return;
	frames->scope.signature = signature_of(frames, f);
	fill_vector(frames, f, &frames->scope.capture);
	cp_entered_find(&callers, &frames->entered);
}

bool cp_frames_extent(const struct cp_frames *frames, const struct cp_inspected_frame *f,
		      uint64_t *low_ret, uint64_t *high_ret)
{
	const struct cp_frame *w = &frames->walked[f->walked];

	if (!(w->regs.known >> cp_arch_host()->sp & 1) || !w->cfa.v)
		return false;
	*low_ret = w->regs.r[cp_arch_host()->sp];
	*high_ret = w->cfa.v;
	return *low_ret < *high_ret;
}

/* Is a function of that name meant by `wanted`, which may lack parameters, and what it is
 * in from the left? */
static bool is_called(const char *name, const char *wanted)
{
	const char *clone = strstr(name, " [clone ");
	CP_FREE char *plain = clone ? strndup(name, (size_t)(clone - name)) : strdup(name);
	size_t size, length = strlen(wanted);

	if (!plain)
		return false;
	size = strchr(wanted, '(') && !cp_starts_with(wanted, "(anon") ? strlen(plain)
								       : cp_short_name(plain);
	if (!strchr(wanted, '.') && !strpbrk(plain, "(: "))
		size = strcspn(plain, "."); /* of C: f.isra.0 */
	return size >= length && !memcmp(plain + size - length, wanted, length) &&
	       (size == length || strchr(": *&", plain[size - length - 1]));
}

/* What functions there are, for who asked for another one. */
static CP_ERROR no_such(const struct cp_frames *frames, const char *wanted)
{
	struct cp_error *err =
		cp_error_new(CP_ERR_NOT_FOUND, 0, "the stack of thread %d has no frame %s",
			     (int)frames->leaf.tid, wanted);
	struct cp_buf names CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_inspected_frame *f;

	cp_vec_for_each(&frames->list, f)
		if (f->function && names.size < 200)
			cp_buf_printf(&names, "%s%.*s", names.size ? ", " : "",
				      (int)cp_short_name(f->function), f->function);
	cp_buf_u8(&names, 0);
	return names.size > 1 && !names.failed ? cp_error_hint(err, "it has %s", names.bytes) : err;
}

CP_ERROR cp_frames_choose(struct cp_frames *frames, const char *wanted)
{
	const struct cp_inspected_frame *f;
	char *end;
	unsigned long number = strtoul(wanted, &end, 10);

	cp_vec_for_each(&frames->list, f) {
		if (*wanted && !*end ? f->number != number
				     : !f->function || !is_called(f->function, wanted))
			continue;
		cp_frames_enter(frames, f);
		return NULL;
	}
	return no_such(frames, wanted);
}

/* ---- names ---- */

static void note_others(struct cp_frames *frames, const struct cp_scope_name *names, size_t count)
{
	struct cp_buf text = { 0 };
	size_t i;

	for (i = 1; i < count && i < 4; i++)
		if (names[i].variable->line)
			cp_buf_printf(&text, "%s%s (line %u)",
				      text.size ? ", " : "also: ", names[i].variable->name,
				      names[i].variable->line);
	if (!text.size) {
		cp_buf_free(&text);
		return;
	}
	cp_buf_u8(&text, 0);
	if (text.failed || !cp_vec_push(&frames->in->notes, (char *)text.bytes))
		cp_buf_free(&text);
}

static bool register_named(const struct cp_frames *frames, const char *name, struct cp_thing *ret)
{
	const struct cp_frame *w = &frames->walked[frames->chosen->walked];
	const struct cp_leaf *leaf = frames->chosen->walked ? NULL : &frames->leaf;
	const struct cp_register_values values = {
		.regs = &w->regs,
		.others = leaf && leaf->has_others ? leaf->others : NULL,
		.vectors = leaf ? leaf->vectors : NULL,
		.vectors_size = leaf ? leaf->vectors_size : 0,
	};

	return cp_register_thing(&values, name, frames->in->env.arena, ret);
}

/* A method names members of its object without `this->`. */
static bool member_named(const struct cp_frames *frames, const char *name, struct cp_thing *ret)
{
	const struct cp_expression_env *env = &frames->in->env;
	const struct cp_scope_name *names;
	struct cp_thing object;

	if (!cp_scope_find(&frames->scope, env->arena, "this", &names))
		return false;
	object = cp_scope_thing(&frames->scope, env, names);
	return cp_member_of_this(env, &object, name, ret);
}

static struct cp_outer_names *names_around(struct cp_frames *frames, const struct cp_object *o)
{
	const struct cp_frame_names empty = { .object = o };
	struct cp_frame_names *a;

	cp_vec_for_each(&frames->around, a)
		if (a->object == o)
			return &a->names;
	return cp_vec_push(&frames->around, empty)
		       ? &frames->around.items[frames->around.count - 1].names
		       : NULL;
}

/* A static member of its class, or what else the function is in has. */
static bool static_around(struct cp_frames *frames, const char *name, struct cp_thing *ret)
{
	const struct cp_inspected_frame *f = frames->chosen;
	struct cp_outer_names *names = f->object ? names_around(frames, f->object) : NULL;
	const struct cp_outer_name *n =
		names ? cp_outer_variable_within(names, f->object->image, f->function, name) : NULL;

	if (!n)
		return false;
	*ret = cp_inspected_global(frames->in, f->object, &n->found.list.items[0]);
	return true;
}

struct cp_thing cp_frames_thing(struct cp_frames *frames, const struct cp_scope_name *name)
{
	const struct cp_expression_env *env = &frames->in->env;
	struct cp_global own;

	if (!name->fixed)
		return cp_scope_thing(&frames->scope, env, name);
	own = cp_static_of(frames->scope.signature, name->variable, env->arena);
	return cp_inspected_global(frames->in, frames->chosen->object, &own);
}

bool cp_frames_find(struct cp_frames *frames, const char *name, struct cp_thing *ret)
{
	const struct cp_expression_env *env = &frames->in->env;
	const struct cp_scope_name *names;
	size_t count;

	if (!frames->chosen)
		return false;
	if (*name == '$')
		return register_named(frames, name + 1, ret);
	count = cp_scope_find(&frames->scope, env->arena, name, &names);
	if (!count)
		return member_named(frames, name, ret) || static_around(frames, name, ret);
	note_others(frames, names, count);
	*ret = cp_frames_thing(frames, names);
	return true;
}
