/* SPDX-License-Identifier: MIT */
#include "modules/log/families.h"

const struct cp_recorder_family *const cp_recorder_families[] = {
#define CP_RECORDER_ROW(name) &cp_recorder_##name,
	CP_RECORDER_FAMILIES(CP_RECORDER_ROW)
#undef CP_RECORDER_ROW
		NULL
};
