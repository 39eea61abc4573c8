/* SPDX-License-Identifier: MIT */
#ifndef CP_RECORD_COVERAGE_BUILD_H
#define CP_RECORD_COVERAGE_BUILD_H

#include "record/decoder.h"

/* After the tables; false without memory. */
bool cp_record_build_coverage(struct cp_record_decoder *d);

#endif
