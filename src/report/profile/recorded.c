/* SPDX-License-Identifier: MIT */
#include "report/profile/recorded.h"

#include <sys/wait.h>

uint64_t cp_report_duration(const struct cp_record *record)
{
	uint64_t start = cp_record_info(record)->start_ns, end = cp_record_final(record)->end_ns;

	if (!end) /* never closed: the last sample tells */
		end = cp_record_samples_end(record);
	return end > start ? end - start : 0;
}

int cp_report_exit_status(const struct cp_record *record)
{
	const struct cp_record_totals *t = cp_record_final(record);

	if (!t->ended)
		return -1;
	return WIFSIGNALED(t->wait_status) ? 128 + WTERMSIG(t->wait_status)
					   : WEXITSTATUS(t->wait_status);
}

void cp_report_command(const struct cp_record *record, struct cp_buf *out)
{
	char *const *arg = cp_record_info(record)->command;

	for (; arg && *arg; arg++) {
		if (out->size)
			cp_buf_u8(out, ' ');
		cp_buf_str(out, *arg);
	}
}
