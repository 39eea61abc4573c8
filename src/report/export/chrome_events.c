/* SPDX-License-Identifier: MIT */
#include "report/export/chrome_events.h"

void cp_chrome_microseconds(struct cp_chrome *c, const char *key, uint64_t ns)
{
	cp_buf_printf(c->j.out, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000),
		      (unsigned)(ns % 1000));
}
