/* SPDX-License-Identifier: MIT */
#include "record/follow.h"

#include <stdlib.h>

#include "record/call_decode.h"
#include "record/call_walk.h"
#include "record/decode.h"
#include "record/info.h"
#include "record/kept.h"

struct cp_record_follow {
	struct cp_record *record;
	struct cp_record_decoder decoder;
	uint64_t changes; /* the decoder's, when the tables were built */
};

CP_ERROR cp_record_follow_create(struct cp_record_follow **ret)
{
	struct cp_record_follow *f = calloc(1, sizeof(*f));

	if (f)
		f->record = calloc(1, sizeof(*f->record));
	if (!f || !f->record || !cp_record_build_parts(f->record)) {
		cp_record_follow_destroy(f);
		return cp_error_nomem();
	}
	f->record->info = cp_record_no_info();
	f->decoder.record = f->record;
	f->decoder.only_calls = true;
	if (!cp_record_build_tables(&f->decoder)) {
		cp_record_follow_destroy(f);
		return cp_error_nomem();
	}
	*ret = f;
	return NULL;
}

void cp_record_follow_destroy(struct cp_record_follow *f)
{
	if (!f)
		return;
	cp_record_decoder_deinit(&f->decoder);
	cp_record_destroy(f->record);
	free(f);
}

const struct cp_record *cp_record_followed(const struct cp_record_follow *f)
{
	return f->record;
}

static struct cp_error *broken(void)
{
	return cp_error_new(CP_ERR_FORMAT, 0, "following the recording: a chunk makes no sense");
}

static struct cp_error *take_info(struct cp_record_follow *f, const void *bytes, size_t size)
{
	struct cp_cursor c = cp_cursor(bytes, size);
	uint8_t id[CP_RECORD_ID_SIZE];

	return cp_record_get_info(&c, &f->record->arena, &f->record->info, id) ? NULL : broken();
}

static struct cp_error *take_data(struct cp_record_follow *f, const void *bytes, size_t size)
{
	const struct cp_record_chunk chunk = { .type = CP_RECORD_CHUNK_DATA,
					       .stored = (uint32_t)size,
					       .raw = (uint32_t)size };

	if (!cp_record_decode(&f->decoder, bytes, size))
		return f->decoder.no_memory ? cp_error_nomem() : broken();
	if (!cp_record_keep_calls(&f->decoder, &chunk, bytes, 0))
		return cp_error_nomem();
	if (f->changes == f->decoder.changes)
		return NULL;
	return cp_record_build_tables(&f->decoder) && cp_record_build_calls_so_far(&f->decoder)
		       ? NULL
		       : cp_error_nomem();
}

CP_ERROR cp_record_follow_chunk(struct cp_record_follow *f, unsigned type, const void *bytes,
				size_t size, bool *grown_ret)
{
	*grown_ret = false;
	if (type == CP_RECORD_CHUNK_INFO && !f->record->info.start_ns)
		return take_info(f, bytes, size);
	if (type != CP_RECORD_CHUNK_DATA)
		return NULL;
	CP_TRY(take_data(f, bytes, size));
	*grown_ret = f->changes != f->decoder.changes;
	f->changes = f->decoder.changes;
	return NULL;
}

CP_ERROR cp_record_follow_calls(struct cp_record_follow *f, cp_record_call_fn each, void *ctx)
{
	struct cp_record *r = f->record;
	struct cp_error *err = NULL;

	if (r->call_sections.count)
		err = cp_record_each_plain_call_of(r, CP_RECORD_NONE, each, ctx);
	cp_record_free_kept(r);
	r->call_sections.count = 0;
	return err;
}
