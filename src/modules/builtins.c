/* SPDX-License-Identifier: MIT */
#include "engine/builtins.h"

#include <stddef.h>

#include "modules/modules.h"

const struct cp_builtin cp_builtins[] = {
	{ "log", cp_module_log_init, "the recorder: samples, calls and coverage into a file" },
	{ "coverage", cp_module_coverage_init,
	  "what was reached, as XML, with Mono's options and filters" },
	{ NULL, NULL, NULL },
};
