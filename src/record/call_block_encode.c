/* SPDX-License-Identifier: MIT */
#include "record/call_block_encode.h"

#include "record/encode.h"

/* Readers unpack a chunk for each of its blocks in turn, or hold it meanwhile. */
#define CHUNK_BYTES ((size_t)2 << 20)

void cp_record_encode_block(struct cp_record_encoder *e, uint32_t part,
			    const struct cp_call_block *block)
{
	struct cp_record_blocks *b = &e->blocks;
	size_t i;

	if ((part != b->part && b->count) || b->blocks.size > CHUNK_BYTES)
		cp_record_encode_flush(e);
	if (cp_record_sink_failed(e->sink))
		return;
	cp_record_encode_use(e, CP_RECORD_THREADS, block->thread);
	for (i = 0; i < block->function_count; i++)
		cp_record_encode_use(e, CP_RECORD_LOCATIONS, block->functions[i]);
	cp_buf_clear(&b->one);
	cp_buf_uleb(&b->one, block->thread);
	cp_buf_uleb(&b->one, block->count);
	cp_buf_uleb(&b->one, block->depth);
	cp_buf_uleb(&b->one, block->start_ns);
	cp_buf_uleb(&b->one, block->costs.own_ps);
	cp_buf_uleb(&b->one, block->costs.inner_ps);
	cp_buf_uleb(&b->one, block->costs.own_doubt_ps);
	cp_buf_uleb(&b->one, block->costs.inner_doubt_ps);
	cp_buf_uleb(&b->blocks, b->one.size + block->size);
	cp_buf_add(&b->blocks, b->one.bytes, b->one.size);
	cp_buf_add(&b->blocks, block->bytes, block->size);
	b->blocks.failed |= b->one.failed;
	b->part = part;
	b->valued |= block->valued;
	b->count += block->count;
	e->pending += block->size + b->one.size + 4 * CP_RECORD_NUMBER_MAX;
	cp_record_encode_check(e);
}

void cp_record_put_blocks(struct cp_record_encoder *e)
{
	struct cp_record_blocks *b = &e->blocks;

	if (!b->blocks.size)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, b->part);
	cp_buf_uleb(&e->body, e->sink->calls);
	cp_buf_uleb(&e->body, b->count);
	cp_buf_add(&e->body, b->blocks.bytes, b->blocks.size);
	e->body.failed |= b->blocks.failed;
	cp_record_put_field(&e->payload,
			    b->valued ? CP_RECORD_CALL_BLOCKS_VALUED : CP_RECORD_CALL_BLOCKS,
			    e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed;
	e->sample_bytes += e->body.size;
	e->sink->calls += b->count;
	e->sink->quick = true;
	b->count = 0;
	b->valued = false;
	cp_buf_clear(&b->blocks);
}

void cp_record_blocks_free(struct cp_record_encoder *e)
{
	cp_buf_free(&e->blocks.blocks);
	cp_buf_free(&e->blocks.one);
}
