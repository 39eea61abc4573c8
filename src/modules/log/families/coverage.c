/* SPDX-License-Identifier: MIT
 *
 * Coverage in the recorder: chooses the functions that count, and writes what
 * was reached of them when the session ends.
 *
 *   log:coverage             counts are 0 and 1
 *   log:count                exact counts, slow
 *   log:branches=budget|exact|none
 *   log:include=GLOB         over source files; may be repeated, as those below
 *   log:exclude=GLOB
 *   log:path-map=OLD=NEW
 *   log:image=GLOB           of this program or library, too, wherever it lies,
 *                            and whether or not it has debug information
 *   log:known=FILE           what that recording says was reached is known
 *   log:test=NAME            the test that this is, for reports of several
 *
 * What is excluded is named in the recording all the same, so that a report
 * knows a glob that matched nothing from one that did its work.
 */
#include <cprof/cprof.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "base/types.h"
#include "base/vec.h"
#include "modules/log/families.h"
#include "modules/log/known.h"
#include "modules/log/numbers.h"
#include "record/coverage.h"

/* A program or library of which anything may count. */
struct covered {
	cprof_assembly *assembly;
	bool named; /* by --image */
	bool written; /* in this round */
	size_t told[5]; /* functions, blocks, rows, ... written last */
	struct cp_interner files; /* sources, in the order met */
	CP_VEC(uint32_t) left_out; /* of them */
};

/* Owned strings; a NULL follows the last. */
struct texts {
	char **items;
	size_t count, capacity;
};

struct coverage {
	cprof_coverage_mode mode;
	cprof_coverage_branches branches;
	struct texts include, exclude, path_map, images, known;
	struct texts test; /* the last one counts */
	struct cp_source_paths paths; /* their items */
	CP_VEC(struct covered *) covered; /* owned */
	struct cp_map assemblies; /* cprof_assembly * -> number in covered, or NOT_COVERED */
	struct cp_map verdicts; /* name of a source as the API has it -> wanted */
	uint64_t seen; /* of cprof_coverage_changed */
	uint64_t started_ns, next_ns; /* when to write next */
	/* The image that is being written. */
	struct covered *image;
	const char *last_file; /* as the API has it; most rows have that of the one before */
	uint32_t last_number;
	struct cp_arena strings;
	CP_VEC(struct cp_coverage_function) functions;
	CP_VEC(struct cp_coverage_block) blocks;
	CP_VEC(struct cp_coverage_row) rows;
	CP_VEC(struct cp_coverage_branch) branch_rows;
	CP_VEC(struct cp_coverage_inline) inlines;
	bool failed; /* out of memory */
};

/* ---- what counts ---- */

static bool is_named(const struct coverage *c, const char *path)
{
	size_t i;

	for (i = 0; i < c->images.count; i++)
		if (!fnmatch(c->images.items[i], path, 0) ||
		    !fnmatch(c->images.items[i], cp_basename(path), 0))
			return true;
	return false;
}

#define NOT_COVERED UINT64_MAX

/* NULL: nothing of it counts. */
static struct covered *add_image(struct coverage *c, cprof_assembly *a)
{
	const char *path = cprof_assembly_path(a);
	bool named = is_named(c, path), wanted;
	struct covered *image = NULL;

	wanted = *path == '/' && (named || !cp_path_is_system_image(path));
	if (wanted)
		image = calloc(1, sizeof(*image));
	if (image) {
		image->assembly = a;
		image->named = named;
		if (!cp_vec_push(&c->covered, image)) {
			free(image);
			image = NULL;
		}
	}
	c->failed |= wanted && !image;
	c->failed |= !cp_map_put(&c->assemblies, (uintptr_t)a,
				 image ? c->covered.count - 1 : NOT_COVERED);
	return image;
}

static struct covered *find_image(struct coverage *c, cprof_assembly *a)
{
	const uint64_t *known = cp_map_get(&c->assemblies, (uintptr_t)a);

	if (!known)
		return add_image(c, a);
	return *known == NOT_COVERED ? NULL : c->covered.items[*known];
}

/* *fresh_ret (may be NULL): it is new. */
static uint32_t find_file(struct coverage *c, struct covered *image, const char *file,
			  bool *fresh_ret)
{
	uint32_t number = CP_RECORD_NONE;

	if (file && !cp_intern(&image->files, file, strlen(file), &number, fresh_ret))
		c->failed = true;
	return number;
}

static uint32_t add_file(struct coverage *c, const char *file)
{
	if (!file || file != c->last_file) {
		c->last_number = find_file(c, c->image, file, NULL);
		c->last_file = file;
	}
	return c->last_number;
}

static bool source_wanted(struct coverage *c, const char *file)
{
	const uint64_t *known = cp_map_get(&c->verdicts, (uintptr_t)file);
	bool wanted;

	if (known)
		return *known;
	wanted = cp_source_wanted(&c->paths, file);
	cp_map_put(&c->verdicts, (uintptr_t)file, wanted);
	return wanted;
}

static struct coverage *coverage(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_coverage);
}

static bool filter(cprof_profiler *log, const cprof_function *function)
{
	struct coverage *c = coverage(log);
	cprof_assembly *a = cprof_image_assembly(cprof_function_image(function));
	struct covered *image = find_image(c, a);
	const char *file = image ? cprof_function_file(function) : NULL;
	bool fresh = false, wanted;
	uint32_t number;

	if (!image)
		return false;
	if (!file)
		return image->named ||
		       (!c->include.count && !cp_path_is_system(cprof_assembly_path(a)));
	wanted = source_wanted(c, file);
	number = find_file(c, image, file, &fresh);
	if (fresh && !wanted)
		c->failed |= !cp_vec_push(&image->left_out, number);
	return wanted;
}

/* ---- writing ---- */

static const char *keep(struct coverage *c, const char *text)
{
	const char *copy = cp_arena_copy(&c->strings, text ? text : "", text ? strlen(text) : 0);

	c->failed |= !copy;
	return copy ? copy : "";
}

static void add_blocks(struct coverage *c, const cprof_coverage_function *f)
{
	size_t i;

	for (i = 0; i < f->block_count; i++)
		c->failed |= !cp_vec_push(&c->blocks, (struct cp_coverage_block){
							      .address = f->blocks[i].address,
							      .size = f->blocks[i].size,
							      .count = f->blocks[i].count,
							      .next = f->blocks[i].next,
							      .landing = f->blocks[i].landing,
						      });
}

static void add_rows(struct coverage *c, const cprof_coverage_function *f, uint32_t first)
{
	const cprof_coverage_row *row;
	struct cp_coverage_row r;

	for (row = f->rows; f->row_count && row < f->rows + f->row_count; row++) {
		r = (struct cp_coverage_row){
			.block = first + row->block,
			.file = add_file(c, row->file),
			.line = row->line,
		};
		if (row->flags & CPROF_COVERAGE_ROW_STATEMENT)
			r.flags |= CP_COVERAGE_ROW_STATEMENT;
		if (row->flags & CPROF_COVERAGE_ROW_EMPTY)
			r.flags |= CP_COVERAGE_ROW_EMPTY;
		if (row->flags & CPROF_COVERAGE_ROW_INSIDE)
			r.flags |= CP_COVERAGE_ROW_INSIDE;
		if (row->flags & CPROF_COVERAGE_ROW_CUT)
			r.flags |= CP_COVERAGE_ROW_CUT;
		if (row->flags & CPROF_COVERAGE_ROW_UNSURE)
			r.flags |= CP_COVERAGE_ROW_UNSURE;
		if (row->flags & CPROF_COVERAGE_ROW_BYTE)
			r.flags |= CP_COVERAGE_ROW_BYTE;
		if (r.file != CP_RECORD_NONE)
			c->failed |= !cp_vec_push(&c->rows, r);
	}
}

static void add_branches(struct coverage *c, const cprof_coverage_function *f, uint32_t first)
{
	size_t i;

	for (i = 0; i < f->branch_count; i++)
		c->failed |= !cp_vec_push(&c->branch_rows,
					  (struct cp_coverage_branch){
						  .address = f->branches[i].address,
						  .block = first + f->branches[i].block,
						  .file = add_file(c, f->branches[i].file),
						  .line = f->branches[i].line,
						  .taken = f->branches[i].taken,
						  .passed = f->branches[i].passed,
						  .target = f->branches[i].target_block,
					  });
}

static void add_inlines(struct coverage *c, const cprof_coverage_function *f, uint32_t first)
{
	size_t i;

	for (i = 0; i < f->inline_count; i++)
		c->failed |=
			!cp_vec_push(&c->inlines, (struct cp_coverage_inline){
							  .name = keep(c, f->inlines[i].name),
							  .file = add_file(c, f->inlines[i].file),
							  .line = f->inlines[i].line,
							  .block = first + f->inlines[i].block,
						  });
}

static void add_function(struct coverage *c, const cprof_coverage_function *f)
{
	struct cp_coverage_function r = {
		.name = keep(c, f->name),
		.linkage = keep(c, f->linkage_name),
		.address = f->address,
		.file = add_file(c, f->file),
		.line = f->line,
		.entry = (uint32_t)c->blocks.count + f->entry,
		.flags = (f->complete ? 0 : CP_COVERAGE_FUNCTION_PARTIAL) |
			 (f->artificial ? CP_COVERAGE_FUNCTION_ARTIFICIAL : 0),
		.first_block = (uint32_t)c->blocks.count,
		.first_row = (uint32_t)c->rows.count,
		.first_branch = (uint32_t)c->branch_rows.count,
		.first_inline = (uint32_t)c->inlines.count,
	};

	add_blocks(c, f);
	add_rows(c, f, r.first_block);
	add_branches(c, f, r.first_block);
	add_inlines(c, f, r.first_block);
	r.block_count = (uint32_t)c->blocks.count - r.first_block;
	r.row_count = (uint32_t)c->rows.count - r.first_row;
	r.branch_count = (uint32_t)c->branch_rows.count - r.first_branch;
	r.inline_count = (uint32_t)c->inlines.count - r.first_inline;
	c->failed |= !cp_vec_push(&c->functions, r);
}

static void add_left_out(struct coverage *c)
{
	size_t i;

	for (i = 0; i < c->image->left_out.count; i++)
		c->failed |= !cp_vec_push(&c->functions,
					  (struct cp_coverage_function){
						  .name = "",
						  .linkage = "",
						  .file = c->image->left_out.items[i],
						  .flags = CP_COVERAGE_FUNCTION_LEFT_OUT,
						  .first_block = (uint32_t)c->blocks.count,
						  .first_row = (uint32_t)c->rows.count,
						  .first_branch = (uint32_t)c->branch_rows.count,
						  .first_inline = (uint32_t)c->inlines.count,
					  });
}

/* When the file was last written; 0: nobody knows, it is gone. */
static uint64_t written(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

static uint32_t flags(const struct coverage *c)
{
	return (c->mode == CPROF_COVERAGE_COUNT ? CP_COVERAGE_COUNTED : 0) |
	       (c->branches == CPROF_COVERAGE_BRANCHES_EXACT  ? CP_COVERAGE_EXACT_BRANCHES
		: c->branches == CPROF_COVERAGE_BRANCHES_NONE ? CP_COVERAGE_NO_BRANCHES
							      : 0);
}

/* Functions that were chosen of an image stay chosen: its layout is as it was told last
 * unless there is more of it now. */
static bool same_layout(struct covered *image, const struct cp_coverage_image *r)
{
	const size_t sizes[] = { r->function_count, r->block_count, r->row_count, r->branch_count,
				 r->inline_count };
	bool same = !memcmp(image->told, sizes, sizeof(sizes)) && r->function_count;

	memcpy(image->told, sizes, sizeof(sizes));
	return same;
}

/* Writes the image under way; its arrays are used again. */
static void end_image(cprof_profiler *log)
{
	struct coverage *c = coverage(log);
	struct covered *image = c->image;
	CP_FREE const char **files = NULL;
	struct cp_coverage_image r;
	size_t i;

	if (!image)
		return;
	add_left_out(c);
	c->image = NULL;
	c->last_file = NULL;
	files = calloc(image->files.count + 1, sizeof(*files));
	c->failed |= !files;
	for (i = 0; files && i < image->files.count; i++)
		files[i] = image->files.items[i].bytes;
	r = (struct cp_coverage_image){
		.image = cp_recorder_assembly(log, image->assembly),
		.flags = flags(c),
		.written_ns = written(cprof_assembly_path(image->assembly)),
		.files = files,
		.file_count = image->files.count,
		.functions = c->functions.items,
		.function_count = c->functions.count,
		.blocks = c->blocks.items,
		.block_count = c->blocks.count,
		.rows = c->rows.items,
		.row_count = c->rows.count,
		.branches = c->branch_rows.items,
		.branch_count = c->branch_rows.count,
		.inlines = c->inlines.items,
		.inline_count = c->inlines.count,
	};
	r.same_layout = same_layout(image, &r);
	if (!c->failed)
		cp_record_coverage(log->writer, &r);
	image->written = true;
	c->functions.count = c->blocks.count = c->rows.count = 0;
	c->branch_rows.count = c->inlines.count = 0;
	cp_arena_reset(&c->strings);
}

static bool take_function(const cprof_coverage_function *f, void *data)
{
	cprof_profiler *log = data;
	struct coverage *c = coverage(log);
	struct covered *image = find_image(c, f->assembly);

	if (image != c->image)
		end_image(log);
	c->image = image;
	/* Beside sources, what has none is the compiler's start-up code. */
	if (image && (f->file || f->row_count || !image->files.count))
		add_function(c, f);
	return !c->failed;
}

/* All counts, as they are when the program is gone, or until now. */
static void write_all(cprof_profiler *log)
{
	struct coverage *c = coverage(log);
	size_t i;

	for (i = 0; i < c->covered.count; i++)
		c->covered.items[i]->written = false;
	cprof_coverage_each(take_function, log);
	end_image(log);
	/* Images of which every source was left out. */
	for (i = 0; i < c->covered.count; i++) {
		if (c->covered.items[i]->written)
			continue;
		c->image = c->covered.items[i];
		end_image(log);
	}
	if (c->failed)
		cprof_profiler_fail(log->handle, "the coverage is not recorded: out of memory");
}

/* Should we be killed, what was reached until now is there. It takes a fiftieth
 * of the time at most; exact counts change always, and then of what was recorded
 * a hundredth is lost. */
#define SHARE_OF_TIME 50
#define SHARE_OF_COUNTS 100

static void beat(cprof_profiler *log)
{
	struct coverage *c = coverage(log);
	uint64_t now = cp_now();

	if (now < c->next_ns || !cprof_coverage_changed(&c->seen))
		return;
	write_all(log);
	c->next_ns = now + (cp_now() - now) * SHARE_OF_TIME;
	if (c->mode == CPROF_COVERAGE_COUNT)
		c->next_ns += (now - c->started_ns) / SHARE_OF_COUNTS;
}

/* ---- settings ---- */

static bool push_text(struct texts *texts, const char *text)
{
	char *copy = cp_vec_reserve(texts, texts->count + 2) ? strdup(text) : NULL;

	if (!copy)
		return false;
	texts->items[texts->count++] = copy;
	texts->items[texts->count] = NULL;
	return true;
}

static void free_texts(struct texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		free(texts->items[i]);
	cp_vec_free(texts);
}

static bool set_branches(struct coverage *c, const char *value)
{
	static const char *const names[] = {
		[CPROF_COVERAGE_BRANCHES_BUDGET] = "budget",
		[CPROF_COVERAGE_BRANCHES_EXACT] = "exact",
		[CPROF_COVERAGE_BRANCHES_NONE] = "none",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], value) != 0)
			continue;
		c->branches = (cprof_coverage_branches)i;
		return true;
	}
	return false;
}

static bool take_text(cprof_profiler *log, const char *key, const char *value)
{
	struct coverage *c = coverage(log);

	if (!strcmp(key, "branches"))
		return set_branches(c, value);
	if (!strcmp(key, "path-map"))
		return strchr(value, '=') && push_text(&c->path_map, value);
	return push_text(!strcmp(key, "include")   ? &c->include
			 : !strcmp(key, "exclude") ? &c->exclude
			 : !strcmp(key, "known")   ? &c->known
			 : !strcmp(key, "test")	   ? &c->test
						   : &c->images,
			 value);
}

static bool take(cprof_profiler *log, const char *key, const char *value)
{
	static const char *const texts[] = { "branches", "path-map", "include", "exclude",
					     "image",	 "known",    "test" };
	bool known = !value && !strcmp(key, "count");
	size_t i;

	if (known)
		coverage(log)->mode = CPROF_COVERAGE_COUNT;
	for (i = 0; value && i < CP_ARRAY_SIZE(texts); i++)
		known |= !strcmp(texts[i], key);
	if (known)
		cp_recorder_turn_on(log, &cp_recorder_coverage);
	return known && (!value || take_text(log, key, value));
}

/* ---- the family ---- */

static void start(cprof_profiler *log)
{
	struct coverage *c = coverage(log);
	size_t i;

	c->started_ns = cp_now();
	c->paths = (struct cp_source_paths){
		.root = realpath(".", NULL),
		.include = (const char *const *)c->include.items,
		.exclude = (const char *const *)c->exclude.items,
		.path_map = (const char *const *)c->path_map.items,
	};
	if (!c->paths.root)
		c->paths.root = strdup("/");
	if (!c->paths.root || !cprof_profiler_enable_coverage()) {
		cprof_profiler_fail(log->handle, "coverage can't be recorded: it is too late");
		return;
	}
	cprof_profiler_set_coverage_mode(log->handle, c->mode);
	cprof_profiler_set_coverage_branches(log->handle, c->branches);
	cprof_profiler_set_coverage_filter_callback(log->handle, filter);
	for (i = 0; i < c->known.count; i++)
		cp_known_read(log->handle, c->known.items[i]);
}

static void describe(const cprof_profiler *log, struct cp_record_info *info)
{
	const struct coverage *c = coverage(log);

	if (c->test.count)
		info->test = c->test.items[c->test.count - 1];
}

static void release(void *state)
{
	struct coverage *c = state;
	size_t i;

	for (i = 0; i < c->covered.count; i++) {
		cp_interner_free(&c->covered.items[i]->files);
		cp_vec_free(&c->covered.items[i]->left_out);
		free(c->covered.items[i]);
	}
	cp_vec_free(&c->covered);
	free_texts(&c->include);
	free_texts(&c->exclude);
	free_texts(&c->path_map);
	free_texts(&c->images);
	free_texts(&c->known);
	free_texts(&c->test);
	free((char *)(uintptr_t)c->paths.root);
	cp_map_free(&c->assemblies);
	cp_map_free(&c->verdicts);
	cp_arena_free(&c->strings);
	cp_vec_free(&c->functions);
	cp_vec_free(&c->blocks);
	cp_vec_free(&c->rows);
	cp_vec_free(&c->branch_rows);
	cp_vec_free(&c->inlines);
}

const struct cp_recorder_family cp_recorder_coverage = {
	.option = "coverage",
	.help = "  coverage, count, branches=HOW, image=GLOB, include=GLOB, exclude=GLOB, "
		"path-map=OLD=NEW\n"
		"  test=NAME          as --name of run\n"
		"                     as options of run\n",
	.holds = CP_RECORD_HAS_COVERAGE,
	.state_size = sizeof(struct coverage),
	.whole = true,
	.take = take,
	.start = start,
	.describe = describe,
	.beat = beat,
	.end = write_all,
	.release = release,
};
