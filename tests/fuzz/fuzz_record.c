/* SPDX-License-Identifier: MIT
 *
 * The reader of recordings. Checksums would keep a fuzzer out of nearly all
 * of it, so the first byte tells what the rest is:
 *   0: a file as it is; 1: the payload of a DATA chunk; 2: two payloads, cut
 *   where the second byte says (in 256ths); 3: of an INFO chunk.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/merge.h"
#include "base/error.h"
#include "record/call_encode.h"
#include "record/load.h"
#include "record/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile uint64_t sum; /* so that nothing read is left out */

static void touch(const char *text)
{
	sum += text ? strlen(text) : 0;
}

static void walk_samples(const struct cp_record *r)
{
	const struct cp_record_sample *s = cp_record_samples(r);
	const uint32_t *stack;
	uint32_t flags;
	size_t i, k, count;

	for (i = 0; i < cp_record_sample_count(r); i++, s++) {
		touch(cp_record_get_process(r, cp_record_get_thread(r, s->thread)->process)->name);
		touch(cp_record_get_thread(r, s->thread)->name);
		stack = cp_record_get_stack(r, s->stack, &count, &flags);
		for (k = 0; k < count && k < 100; k++)
			sum += cp_record_get_location(r, stack[k])->address;
	}
}

static void walk_annotations(const struct cp_record *r)
{
	size_t i;

	for (i = 0; i < cp_record_annotation_count(r); i++) {
		struct cp_record_annotation a = cp_record_get_annotation(r, i);

		touch(cp_record_get_thread(r, a.thread)->name);
		touch(a.name);
		touch(a.category);
		touch(a.object);
		sum += a.kind + a.id + (uint64_t)a.value;
	}
}

static void touch_values(const cprof_value *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];

		touch(v->name);
		touch(v->type);
		touch(v->symbol);
		if (cp_record_is_text(v->kind) && v->u.text.length)
			sum += (uint8_t)v->u.text.bytes[0] +
			       (uint8_t)v->u.text.bytes[v->u.text.length - 1];
		if (v->items) /* the reader limits how deep they are */
			touch_values(v->items, v->count);
	}
}

static bool touch_call(void *ctx, const struct cp_record_call *call)
{
	const struct cp_record *r = ctx;

	sum += cp_record_get_location(r, call->function)->address;
	touch(cp_record_get_thread(r, call->thread)->name);
	if (call->target != CP_RECORD_NONE)
		sum += cp_record_get_location(r, call->target)->address;
	if (call->stack >= cp_record_stack_count(r) && call->stack != CP_RECORD_NONE)
		abort();
	touch_values(call->values, call->value_count);
	return true;
}

static void walk_calls(struct cp_record *r)
{
	struct cp_error *err = cp_record_each_call(r, touch_call, r);

	if (err && err->code != CP_ERR_NOMEM)
		abort();
	cp_error_free(err);
}

static void walk_sums(const struct cp_record *r)
{
	size_t i;

	for (i = 0; i < cp_record_sum_count(r); i++) {
		const struct cp_record_sum *row = cp_record_get_sum(r, i);

		if (cp_record_sum_is_of_thread(row)) {
			touch(cp_record_get_thread(r, row->thread)->name);
			continue;
		}
		touch(cp_record_get_process(r, row->process)->name);
		sum += cp_record_get_location(r, row->callee)->address;
		if (row->caller != CP_RECORD_NONE)
			sum += cp_record_get_location(r, row->caller)->address;
		sum += cp_call_sum_quantile(&row->sum, 0.99).ns;
	}
	sum += cp_record_summed_count(r);
}

static void touch_file(const struct cp_coverage_image *c, uint32_t n)
{
	if (n != CP_RECORD_NONE)
		touch(c->files[n]);
}

static void walk_function(const struct cp_coverage_image *c, const struct cp_coverage_function *f)
{
	uint32_t i;

	touch(f->name);
	touch(f->linkage);
	touch_file(c, f->file);
	for (i = 0; i < f->block_count; i++)
		sum += c->blocks[f->first_block + i].count;
	for (i = 0; i < f->row_count; i++) {
		sum += c->blocks[c->rows[f->first_row + i].block].count;
		touch_file(c, c->rows[f->first_row + i].file);
	}
	for (i = 0; i < f->branch_count; i++) {
		sum += c->blocks[c->branches[f->first_branch + i].block].count;
		touch_file(c, c->branches[f->first_branch + i].file);
	}
	for (i = 0; i < f->inline_count; i++) {
		touch(c->inlines[f->first_inline + i].name);
		sum += c->blocks[c->inlines[f->first_inline + i].block].count;
	}
}

static void walk_coverage(const struct cp_record *r)
{
	size_t i, k;

	for (i = 0; i < cp_record_coverage_count(r); i++) {
		const struct cp_coverage_image *c = cp_record_get_coverage(r, i);

		touch(cp_record_get_image(r, c->image)->path);
		for (k = 0; k < c->function_count; k++)
			walk_function(c, &c->functions[k]);
	}
}

static void walk(const struct cp_record *r)
{
	char *const *arg;
	uint32_t i, k;

	for (i = 0; i < cp_record_image_count(r); i++)
		touch(cp_record_get_image(r, i)->path);
	for (i = 0; i < cp_record_location_count(r); i++) {
		const struct cp_record_location *l = cp_record_get_location(r, i);

		if (l->image != CP_RECORD_NONE)
			touch(cp_record_get_image(r, l->image)->build_id);
		for (k = 0; k < l->frame_count && k < 100; k++) {
			touch(l->frames[k].function);
			touch(l->frames[k].linkage);
			touch(l->frames[k].file);
		}
	}
	walk_samples(r);
	walk_annotations(r);
	walk_coverage(r);
	for (arg = cp_record_info(r)->command; *arg; arg++)
		touch(*arg);
	touch(cp_record_info(r)->host);
	for (i = 0; i < cp_record_part_count(r); i++)
		touch(cp_record_get_part(r, i)->id);
	sum += cp_record_final(r)->samples + cp_record_damage(r)->dropped;
}

static void add_chunk(struct cp_buf *file, uint32_t sequence, uint8_t type, const uint8_t *bytes,
		      size_t size)
{
	struct cp_record_chunk chunk = {
		.type = type,
		.sequence = sequence,
		.stored = (uint32_t)size,
		.raw = (uint32_t)size,
		.payload_crc = cp_record_crc(bytes, size),
	};

	cp_record_put_chunk(file, &chunk);
	cp_buf_add(file, bytes, size);
}

static void make_file(struct cp_buf *file, const uint8_t *bytes, size_t size)
{
	struct cp_record_preamble preamble = { CP_RECORD_MAJOR, CP_RECORD_MINOR, 1, { 1 } };
	size_t first = size;

	if (bytes[0] == 0) {
		cp_buf_add(file, bytes + 1, size - 1);
		return;
	}
	cp_record_put_preamble(file, &preamble);
	if (bytes[0] == 3) {
		add_chunk(file, 0, CP_RECORD_CHUNK_INFO, bytes + 1, size - 1);
		return;
	}
	if (bytes[0] == 2 && size > 2)
		first = 2 + (size - 2) * bytes[1] / 256;
	add_chunk(file, 0, CP_RECORD_CHUNK_DATA, bytes + 1 + (bytes[0] == 2),
		  first - 1 - (bytes[0] == 2));
	if (first < size)
		add_chunk(file, 1, CP_RECORD_CHUNK_DATA, bytes + first, size - first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cp_record *r = NULL;
	struct cp_buf file = { 0 };
	uint8_t *exact;

	if (!size || bytes[0] > 3 || (bytes[0] == 2 && size < 2))
		return 0;
	make_file(&file, bytes, size);
	exact = malloc(file.size + 1);
	if (exact && file.size)
		memcpy(exact, file.bytes, file.size);
	cp_error_free(cp_record_load_bytes(exact, file.size, "fuzz", &r));
	free(exact); /* a recording keeps nothing of its file */
	cp_buf_free(&file);
	if (r) {
		walk(r);
		walk_calls(r);
		walk_sums(r);
		cp_error_free(cp_record_merge(&r, 1, open("/dev/null", O_WRONLY | O_CLOEXEC)));
	}
	cp_record_destroy(r);
	return 0;
}
