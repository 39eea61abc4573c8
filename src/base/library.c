/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include <dlfcn.h>

const char *cp_library_load(const char *soname, const struct cp_library_function *functions,
			    size_t count, void *table)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL), *function;
	size_t i;

	for (i = 0; handle && i < count; i++) {
		function = dlsym(handle, functions[i].name);
		if (!function)
			break;
		*(void **)((char *)table + functions[i].at) = function;
	}
	return handle && i == count ? NULL : dlerror();
}
