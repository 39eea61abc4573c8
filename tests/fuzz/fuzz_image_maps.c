/* SPDX-License-Identifier: MIT
 *
 * The text of a maps file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_mapping *mappings = NULL;
	size_t count = 0, i;
	struct cp_error *err;

	err = cp_mappings_parse((const char *)data, size, &mappings, &count);
	cp_error_free(err);
	for (i = 0; i < count; i++) {
		if (strlen(mappings[i].path) > size || mappings[i].end < mappings[i].start)
			abort();
	}
	cp_mappings_free(mappings, count);
	return 0;
}
