/* SPDX-License-Identifier: MIT
 *
 * A condition from whoever types it, over arguments that are there and not.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cprof_value point[] = { { .kind = CPROF_VALUE_INT, .name = "x", .u.i = INT64_MIN },
				{ .kind = CPROF_VALUE_FLOAT, .name = "y", .u.f = 1e300 } };
	cprof_value target = { .kind = CPROF_VALUE_STRUCT, .name = "", .items = point, .count = 2 };
	const cprof_value arguments[] = {
		{ .kind = CPROF_VALUE_POINTER,
		  .name = "p",
		  .u.u = 1,
		  .items = &target,
		  .count = 1 },
		{ .kind = CPROF_VALUE_UINT, .name = "n", .u.u = UINT64_MAX },
		{ .kind = CPROF_VALUE_STRING, .name = "s", .u.text = { "text", 4 }, .cut = true },
		{ .kind = CPROF_VALUE_ENUM, .name = "e", .symbol = "A | B" },
		{ .kind = CPROF_VALUE_ARRAY, .name = "v", .items = point, .count = 2 },
	};
	char *text = calloc(1, size + 1);
	struct cp_condition *condition;
	struct cp_error *err;

	if (!text)
		return 0;
	memcpy(text, data, size);
	err = cp_condition_parse(text, &condition);
	if (err) {
		cp_error_free(err);
	} else {
		cp_condition_holds(condition, arguments, CP_ARRAY_SIZE(arguments));
		cp_condition_destroy(condition);
	}
	free(text);
	return 0;
}
