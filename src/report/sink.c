/* SPDX-License-Identifier: MIT */
#include "report/sink.h"

#include <errno.h>

#define SPILL_BYTES (64u << 10)

static void write_out(struct cp_sink *sink)
{
	if (!sink->errnum && sink->buf.size &&
	    fwrite(sink->buf.bytes, 1, sink->buf.size, sink->file) != sink->buf.size)
		sink->errnum = errno ? errno : EIO;
	cp_buf_clear(&sink->buf);
}

void cp_sink_spill(struct cp_sink *sink)
{
	if (sink->buf.size >= SPILL_BYTES)
		write_out(sink);
}

CP_ERROR cp_sink_finish(struct cp_sink *sink)
{
	bool failed = sink->buf.failed;

	write_out(sink);
	cp_buf_free(&sink->buf);
	if (!sink->errnum && fflush(sink->file))
		sink->errnum = errno;
	if (failed)
		return cp_error_nomem();
	if (sink->errnum)
		return cp_error_new(CP_ERR_IO, sink->errnum, "writing the export");
	return NULL;
}
