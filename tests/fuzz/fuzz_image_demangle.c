/* SPDX-License-Identifier: MIT
 *
 * A mangled name; the prefixes of the manglings are put before it too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "image/mangled.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const prefixes[] = { "", "_Z", "_R", "_ZN" };
	char *name = malloc(size + 8), *text;
	struct cp_mangled mangled;
	size_t i, n;

	for (i = 0; name && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		n = strlen(prefixes[i]);
		memcpy(name, prefixes[i], n);
		if (size)
			memcpy(name + n, data, size);
		name[n + size] = 0;
		text = cp_demangle(name);
		if (!text || strlen(text) > (1u << 20) + size)
			abort();
		free(text);
		if (cp_mangled_function(name, &mangled) && mangled.count > CP_MANGLED_MAX)
			abort();
	}
	free(name);
	return 0;
}
