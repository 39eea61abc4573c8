/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_LOAD_H
#define CP_RECORD_LOAD_H

#include "record/record.h"

/* As cp_record_load(), from memory; `name` is for errors. */
CP_ERROR cp_record_load_bytes(const void *bytes, size_t size, const char *name,
			      struct cp_record **ret);

#endif
