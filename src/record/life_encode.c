/* SPDX-License-Identifier: MIT */
#include "record/life_encode.h"

#include "record/encode.h"

void cp_record_encode_life(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_life *life)
{
	size_t before;

	if (cp_record_sink_failed(e->sink))
		return;
	if (part != e->lives.part && e->lives.bodies.size)
		cp_record_encode_flush(e);
	e->lives.part = part;
	before = e->lives.bodies.size;
	cp_record_put_life(&e->lives.bodies, life);
	e->pending += e->lives.bodies.size - before + 3 * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}

void cp_record_put_lives(struct cp_record_encoder *e)
{
	if (!e->lives.bodies.size)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, e->lives.part);
	cp_buf_add(&e->body, e->lives.bodies.bytes, e->lives.bodies.size);
	cp_record_put_field(&e->payload, CP_RECORD_LIVES, e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed || e->lives.bodies.failed;
	cp_buf_clear(&e->lives.bodies);
}

void cp_record_lives_free(struct cp_record_encoder *e)
{
	cp_buf_free(&e->lives.bodies);
}
