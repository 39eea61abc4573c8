/* SPDX-License-Identifier: MIT */
#include "cmd/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "cmd/objects.h"
#include "record/enclosed.h"

#define FRAMES 64
#define PART_MOST (4u << 20) /* bytes of code of one symbol */

/* Where code is read from: a file, or what the recording encloses. */
struct reading {
	struct cp_listing *l;
	struct cp_image *image; /* NULL: it is enclosed */
	const struct cp_record_code *code; /* the part being read, then */
	struct cp_map names; /* of that, by address and kind: its number plus 1 */
	struct cp_decoder *decoder;
	enum cp_syntax syntax;
	const char *name; /* of the function */
};

/* ---- names ---- */

/* "<name+0x12>" */
static void add_name(struct cp_buf *out, const char *name, uint64_t offset)
{
	cp_buf_printf(out, " <%s", name);
	if (offset)
		cp_buf_printf(out, "+0x%" PRIx64, offset);
	cp_buf_str(out, ">");
}

static bool add_enclosed_name(const struct reading *r, uint64_t at, bool data, struct cp_buf *out)
{
	const uint64_t *number = cp_map_get(&r->names, at << 1 | data);
	const struct cp_record_code_name *name = number ? &r->code->names[*number - 1] : NULL;

	if (name)
		add_name(out, name->name, name->offset);
	return name;
}

/* Nothing where there is none. */
static void add_symbol(const struct reading *r, uint64_t at, struct cp_buf *out)
{
	struct cp_symbol symbol;
	CP_FREE char *name = NULL;

	if (!r->image) {
		add_enclosed_name(r, at, false, out);
		return;
	}
	if (!cp_image_symbol(r->image, (struct cp_vaddr){ at }, &symbol))
		return;
	name = cp_demangle(symbol.name);
	add_name(out, name ? name : symbol.name, at - symbol.start.v);
}

static void add_variable(const struct reading *r, uint64_t at, struct cp_buf *out)
{
	uint64_t offset = 0;
	CP_FREE char *name =
		r->image ? cp_image_variable_at(r->image, (struct cp_vaddr){ at }, &offset) : NULL;

	cp_buf_printf(out, "  # %" PRIx64, at);
	if (name)
		add_name(out, name, offset);
	else if (r->image || !add_enclosed_name(r, at, true, out))
		add_symbol(r, at, out);
}

static void write_text(const struct reading *r, const struct cp_listed *insn, struct cp_buf *out)
{
	cp_buf_str(out, insn->text);
	if (insn->target) {
		cp_buf_printf(out, "%*s %" PRIx64,
			      (int)(6 - (strlen(insn->text) < 6 ? strlen(insn->text) : 6)), "",
			      insn->target);
		add_symbol(r, insn->target, out);
	} else if (insn->memory) {
		add_variable(r, insn->memory, out);
	}
}

/* ---- code ---- */

/* The number of the innermost line at an address; those around it have code, too. */
static uint32_t place_in_file(const struct reading *r, uint64_t at)
{
	struct cp_inline_frame frames[FRAMES];
	size_t count = cp_image_frames(r->image, (struct cp_vaddr){ at }, frames, FRAMES), i;
	uint32_t innermost = 0, number;

	for (i = 0; i < count; i++) {
		CP_FREE char *name = frames[i].function ? cp_demangle(frames[i].function) : NULL;

		number = cp_listing_line(r->l, frames[i].inlined && name ? name : r->name,
					 frames[i].decl_line, frames[i].file, frames[i].line);
		innermost = i ? innermost : number;
	}
	return innermost;
}

/* The last place that begins no later. */
static const struct cp_record_code_place *enclosed_place(const struct cp_record_code *code,
							 uint64_t offset)
{
	size_t from = 0, to = code->place_count, middle;

	while (from < to) {
		middle = (from + to) / 2;
		if (code->places[middle].offset <= offset)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &code->places[from - 1] : NULL;
}

static uint32_t place_enclosed(const struct reading *r, uint64_t at)
{
	const struct cp_record_code_place *place = enclosed_place(r->code, at - r->code->start);
	uint32_t innermost = 0, number, i;

	for (i = 0; place && i < place->frame_count; i++) {
		const struct cp_record_frame *f = &place->frames[i];

		if (!f->file && !f->line)
			continue; /* a name alone is no line */
		number = cp_listing_line(r->l, f->inlined && f->function ? f->function : r->name,
					 f->decl_line, f->file, f->line);
		innermost = i ? innermost : number;
	}
	return innermost;
}

static CP_ERROR list_part(const struct reading *r, uint64_t start, const uint8_t *code,
			  size_t there)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_listed insn;
	size_t at;

	for (at = 0; at < there; at += insn.size) {
		struct cp_listing_insn row = { .address = start + at, .begins = at == 0 };

		cp_arch_list(r->decoder, r->syntax, code + at, there - at, start + at, &insn);
		cp_buf_clear(&text);
		write_text(r, &insn, &text);
		row.text = text.bytes ? text.bytes : "";
		row.line = r->image ? place_in_file(r, start + at) : place_enclosed(r, start + at);
		if (insn.flow == CP_FLOW_JUMP || insn.flow == CP_FLOW_BRANCH)
			row.target = insn.target;
		if (text.failed || !cp_listing_add(r->l, &row, insn.size))
			return cp_error_nomem();
	}
	return NULL;
}

static CP_ERROR read_part(const struct reading *r, uint64_t start, uint64_t size)
{
	CP_FREE uint8_t *code = malloc(size);

	if (!code)
		return cp_error_nomem();
	return list_part(r, start, code,
			 cp_image_read(r->image, (struct cp_vaddr){ start }, code, size));
}

static CP_ERROR read_parts(const struct reading *r, const char **why_ret)
{
	struct cp_symbol symbol;
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < r->l->starts.count; i++) {
		uint64_t start = r->l->starts.items[i];

		if (start < end || !cp_image_symbol(r->image, (struct cp_vaddr){ start }, &symbol))
			continue;
		if (!symbol.size || symbol.size > PART_MOST)
			continue;
		end = symbol.start.v + symbol.size;
		CP_TRY(read_part(r, symbol.start.v, symbol.size));
	}
	if (!r->l->insns.count)
		*why_ret = "its file does not say where it begins and ends";
	return NULL;
}

/* ---- what the recording encloses ---- */

static const struct cp_record_code *enclosed_at(const struct cp_listing *l, uint64_t start)
{
	const struct cp_record *r = l->profile->record;
	uint32_t i;

	for (i = 0; i < cp_record_code_count(r); i++) {
		const struct cp_record_code *code = cp_record_get_code(r, i);

		if (code->image == l->image && start - code->start < code->size)
			return code;
	}
	return NULL;
}

static CP_ERROR list_enclosed(struct reading *r, const struct cp_record_code *code)
{
	struct cp_error *err;
	bool ok = true;
	size_t i;

	r->code = code;
	for (i = 0; ok && i < code->name_count; i++)
		ok = cp_map_put(&r->names, code->names[i].address << 1 | code->names[i].data,
				i + 1);
	err = ok ? list_part(r, code->start, code->bytes, code->size) : cp_error_nomem();
	cp_map_free(&r->names);
	r->names = (struct cp_map){ 0 };
	return err;
}

/* Is all code of the function that was seen enclosed? */
static bool is_enclosed(const struct cp_listing *l)
{
	size_t i;

	for (i = 0; i < l->starts.count; i++)
		if (!enclosed_at(l, l->starts.items[i]))
			return false;
	return l->image != CP_RECORD_NONE && l->starts.count;
}

static CP_ERROR read_enclosed(struct reading *r)
{
	const struct cp_arch *arch =
		!strcmp(cp_record_info(r->l->profile->record)->machine, "x86_64") ? &cp_arch_x86_64
										  : NULL;
	const struct cp_record_code *last = NULL, *code;
	struct cp_error *err = NULL;
	size_t i;

	r->decoder = arch ? cp_decoder_create(arch) : NULL;
	if (!r->decoder)
		return arch ? cp_error_nomem()
			    : cp_error_new(CP_ERR_NOT_FOUND, 0,
					   "the code is of an instruction set that cprof does "
					   "not read");
	for (i = 0; !err && i < r->l->starts.count; i++) {
		code = enclosed_at(r->l, r->l->starts.items[i]);
		if (code != last)
			err = list_enclosed(r, code);
		last = code;
	}
	cp_decoder_destroy(r->decoder);
	return err;
}

/* ---- the file ---- */

static CP_ERROR check_build_id(const struct cp_image *image, const char *path, const char *want)
{
	const char *has = cp_image_build_id(image);
	struct cp_error *err;

	if (!*want || !strcmp(has, want))
		return NULL;
	err = cp_error_new(CP_ERR_NOT_FOUND, 0,
			   "%s is not what was recorded: its build-id is %.12s…, not %.12s…", path,
			   *has ? has : "none", want);
	return cp_error_hint(
		err, "--binary=FILE names a copy of what was recorded; --source shows lines alone");
}

static const struct cp_arch *arch_of(const struct cp_image *image)
{
	return cp_image_machine(image) == cp_arch_x86_64.e_machine ? &cp_arch_x86_64 : NULL;
}

static CP_ERROR read_image(struct reading *r, const char *path, const char *build_id,
			   const char **why_ret)
{
	struct cp_error *err = check_build_id(r->image, path, build_id);

	if (err)
		return err;
	if (!arch_of(r->image)) {
		*why_ret = "it is code of an instruction set that cprof does not read";
		return NULL;
	}
	r->decoder = cp_decoder_create(arch_of(r->image));
	if (!r->decoder)
		return cp_error_nomem();
	err = read_parts(r, why_ret);
	cp_decoder_destroy(r->decoder);
	return err;
}

static CP_ERROR open_file(struct cp_code_files *files, const char *path, struct cp_image **ret)
{
	struct cp_code_file *known, file = { 0 };
	struct cp_error *err;

	cp_vec_for_each(&files->list, known) {
		if (!strcmp(known->path, path)) {
			*ret = known->objects.list.items[0].image;
			return NULL;
		}
	}
	CP_TRY(cp_objects_file(path, files->options, &file.objects));
	file.path = strdup(path);
	err = file.path && cp_vec_push(&files->list, file) ? NULL : cp_error_nomem();
	if (err) {
		cp_objects_free(&file.objects);
		free(file.path);
		return err;
	}
	*ret = file.objects.list.items[0].image;
	return NULL;
}

void cp_code_files_free(struct cp_code_files *files)
{
	struct cp_code_file *file;

	cp_vec_for_each(&files->list, file) {
		cp_objects_free(&file->objects);
		free(file->path);
	}
	cp_vec_free(&files->list);
}

CP_ERROR cp_listing_read(struct cp_code_files *files, struct cp_listing *l, const char **why_ret)
{
	struct reading r = { .l = l,
			     .syntax = files->syntax,
			     .name = l->profile->functions.items[l->function].name };
	const struct cp_record_image *of =
		l->image == CP_RECORD_NONE ? NULL
					   : cp_record_get_image(l->profile->record, l->image);
	const char *path;
	struct cp_error *err;

	*why_ret = NULL;
	if (!of) {
		*why_ret = l->hosts.count ? "all of its code is inlined"
					  : "none of its code is in a file";
		return NULL;
	}
	if (!files->instead && is_enclosed(l))
		return read_enclosed(&r);
	if (of->path[0] == '[') {
		*why_ret = "its code is in no file";
		return NULL;
	}
	path = files->instead ? files->instead : of->path;
	err = open_file(files, path, &r.image);
	if (err)
		return cp_error_hint(err, "--source shows lines alone; --binary=FILE names a copy "
					  "of what was recorded");
	return read_image(&r, path, of->build_id, why_ret);
}
