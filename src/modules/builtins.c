/* SPDX-License-Identifier: MIT */
#include "engine/api/builtins.h"

#include <stddef.h>

#include "modules/modules.h"

const struct cp_builtin cp_builtins[] = {
	{ "log", cp_module_log_init, "the recorder: samples, calls and coverage into a file" },
	{ "coverage", cp_module_coverage_init,
	  "what was reached, as XML, with Mono's options and filters" },
	{ "calls", cp_module_calls_init, "prints calls as they happen" },
	{ "stacks", cp_module_stacks_init, "folded stacks of samples, for flame graphs" },
	{ "order", cp_module_order_init, "functions by their first call, for a linker" },
	{ "aot", cp_module_order_init, "Mono's name of order" },
	{ NULL, NULL, NULL },
};
