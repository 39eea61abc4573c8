/* SPDX-License-Identifier: MIT */
#include "report/look/sink.h"

#include <errno.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text.h"

#define SPILL_BYTES (64u << 10)

static int put(const struct cp_sink *sink, const struct cp_buf *out)
{
	if (sink->put)
		return sink->put(sink->ctx, out->bytes, out->size);
	if (fwrite(out->bytes, 1, out->size, sink->file) == out->size)
		return 0;
	return errno ? errno : EIO;
}

static void write_out(struct cp_sink *sink)
{
	struct cp_buf ascii CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_buf *out = sink->ascii ? &ascii : &sink->buf;

	if (sink->ascii && sink->buf.size)
		cp_text_to_ascii(&ascii, sink->buf.bytes, sink->buf.size);
	if (!sink->errnum && out->size)
		sink->errnum = put(sink, out);
	if (ascii.failed && !sink->errnum)
		sink->errnum = ENOMEM;
	cp_buf_clear(&sink->buf);
}

void cp_sink_spill(struct cp_sink *sink)
{
	if (sink->buf.size >= SPILL_BYTES)
		write_out(sink);
}

int cp_sink_flush(struct cp_sink *sink)
{
	bool failed = sink->buf.failed;

	write_out(sink);
	return failed ? ENOMEM : sink->errnum;
}

CP_ERROR cp_sink_finish(struct cp_sink *sink)
{
	bool failed = sink->buf.failed;

	write_out(sink);
	cp_buf_free(&sink->buf);
	if (!sink->errnum && sink->file && fflush(sink->file))
		sink->errnum = errno;
	if (failed)
		return cp_error_nomem();
	if (sink->errnum)
		return cp_error_new(CP_ERR_IO, sink->errnum, "writing the export");
	return NULL;
}
