/* SPDX-License-Identifier: MIT */
#include "engine/builtins.h"

#include <stddef.h>

#include "modules/modules.h"

const struct cp_builtin cp_builtins[] = {
	{ "log", cp_module_log_init },
	{ "coverage", cp_module_coverage_init },
	{ NULL, NULL },
};
