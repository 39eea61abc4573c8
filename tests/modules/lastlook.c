/* SPDX-License-Identifier: MIT
 *
 * A profiler that looks at the memory of what is about to be unloaded, and prints
 *
 *     PATH mapped|gone FIRST-BYTES
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	FILE *out;
};
static cprof_profiler prof;

static void unloading(cprof_profiler *p, const cprof_image *image)
{
	char bytes[4] = "none";

	if (cprof_read_memory(cprof_current_process(), cprof_image_base(image), bytes,
			      sizeof(bytes), NULL) != CPROF_OK)
		memcpy(bytes, "none", sizeof(bytes));
	fprintf(p->out, "%s %s %.3s\n", cprof_image_path(image),
		cprof_image_is_mapped(image) ? "mapped" : "gone",
		bytes[0] == 0x7f ? bytes + 1 : bytes);
	fflush(p->out);
}

CPROF_PROFILER_INIT(lastlook)
{
	cprof_profiler_handle handle = cprof_profiler_create(&prof);

	prof.out = fopen(cprof_profiler_desc_args(desc), "w");
	if (handle && prof.out)
		cprof_profiler_set_image_unloading_callback(handle, unloading);
}
