/* SPDX-License-Identifier: MIT */
#include "report/export/chrome_events.h"

void cp_chrome_microseconds(struct cp_chrome *c, const char *key, uint64_t ns)
{
	cp_json_u64(&c->j, key, ns / 1000);
	cp_buf_u8(c->j.out, '.');
	cp_buf_decimal_fill(c->j.out, ns % 1000, 3, '0');
}
