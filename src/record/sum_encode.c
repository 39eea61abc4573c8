/* SPDX-License-Identifier: MIT */
#include "record/sum_encode.h"

#include "record/encode.h"

static void use(struct cp_record_encoder *e, unsigned table, uint32_t number)
{
	if (number != CP_RECORD_NONE)
		cp_record_encode_use(e, table, number);
}

void cp_record_encode_sum(struct cp_record_encoder *e, uint32_t part,
			  const struct cp_record_sum_bytes *row)
{
	struct cp_record_summing *s = &e->sums;

	if (part != s->part && s->rows.size)
		cp_record_encode_flush(e);
	if (cp_record_sink_failed(e->sink))
		return;
	use(e, CP_RECORD_THREADS, row->thread);
	use(e, CP_RECORD_PROCESSES, row->process);
	use(e, CP_RECORD_LOCATIONS, row->caller);
	use(e, CP_RECORD_LOCATIONS, row->callee);
	s->part = part;
	cp_buf_u8(&s->rows, (uint8_t)row->kind);
	cp_buf_uleb(&s->rows, row->size);
	cp_buf_add(&s->rows, row->bytes, row->size);
	e->pending += row->size + 3 * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}

void cp_record_put_sums(struct cp_record_encoder *e)
{
	struct cp_record_summing *s = &e->sums;

	if (!s->rows.size)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, s->part);
	cp_buf_add(&e->body, s->rows.bytes, s->rows.size);
	e->body.failed |= s->rows.failed;
	cp_record_put_field(&e->payload, CP_RECORD_SUMS, e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed;
	e->sample_bytes += e->body.size;
	cp_buf_clear(&s->rows);
}

void cp_record_sums_free(struct cp_record_encoder *e)
{
	cp_buf_free(&e->sums.rows);
}
