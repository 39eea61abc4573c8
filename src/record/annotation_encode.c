/* SPDX-License-Identifier: MIT
 *
 * Annotations are one table of numbers: names, categories and objects are rows
 * of the strings, few of which are new.
 *
 *    part, first, count | columns
 */
#include "record/annotation_encode.h"

#include "record/encode.h"

void cp_record_annotating_free(struct cp_record_encoder *e)
{
	struct cp_record_annotating *a = &e->annotations;
	size_t i;

	for (i = 0; i < CP_ANNOTATION_COLUMNS; i++)
		cp_vec_free(&a->columns[i]);
	a->count = 0;
}

static uint64_t string(struct cp_record_encoder *e, const char *text)
{
	uint64_t ref = cp_record_encode_string(e, text);

	if (ref)
		cp_record_encode_use(e, CP_RECORD_STRINGS, ref - 1);
	return ref;
}

void cp_record_encode_annotation(struct cp_record_encoder *e, uint32_t part,
				 const struct cp_record_annotation *a)
{
	struct cp_record_annotating *to = &e->annotations;
	uint64_t row[CP_ANNOTATION_COLUMNS] = {
		[CP_ANNOTATION_TS] = a->ts_ns,
		[CP_ANNOTATION_HOW] = a->kind | (uint64_t)a->flags << CP_ANNOTATION_KIND_BITS,
		[CP_ANNOTATION_THREAD] = a->thread,
		[CP_ANNOTATION_ID] = a->id,
		[CP_ANNOTATION_VALUE] = (uint64_t)a->value,
	};
	size_t i;

	if (part != to->part && to->count)
		cp_record_encode_flush(e);
	if (cp_record_sink_failed(e->sink))
		return;
	cp_record_encode_use(e, CP_RECORD_THREADS, a->thread);
	row[CP_ANNOTATION_NAME] = string(e, a->name);
	row[CP_ANNOTATION_CATEGORY] = string(e, a->category);
	row[CP_ANNOTATION_OBJECT] = string(e, a->object);
	to->part = part;
	for (i = 0; i < CP_ANNOTATION_COLUMNS; i++) {
		if (!cp_record_encode_ok(e, cp_vec_push(&to->columns[i], row[i])))
			return;
	}
	to->count++;
	e->pending += CP_ANNOTATION_COLUMNS * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}

void cp_record_put_annotations(struct cp_record_encoder *e)
{
	struct cp_record_annotating *a = &e->annotations;
	size_t i;

	if (!a->count)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, a->part);
	cp_buf_uleb(&e->body, e->sink->annotations);
	cp_buf_uleb(&e->body, a->count);
	for (i = 0; i < CP_ANNOTATION_COLUMNS; i++) {
		cp_record_put_column(&e->body, a->columns[i].items, a->count);
		a->columns[i].count = 0;
	}
	cp_record_put_field(&e->payload, CP_RECORD_ANNOTATIONS, e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed;
	e->sample_bytes += e->body.size;
	e->sink->annotations += a->count;
	a->count = 0;
}
