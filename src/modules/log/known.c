/* SPDX-License-Identifier: MIT
 *
 * What a recording that this run is added to holds of coverage: the run needs to find
 * out the rest.
 */
#include "modules/log/known.h"

#include "base/vec.h"
#include "record/coverage.h"

struct known {
	CP_VEC(cprof_coverage_known) items;
	bool ok;
};

static bool is_reached(uint64_t count)
{
	return count && count != CP_COVERAGE_UNKNOWN;
}

static void add(struct known *k, uint64_t address, uint32_t size, unsigned flags)
{
	k->ok = k->ok && cp_vec_push(&k->items, (cprof_coverage_known){ address, size, flags });
}

static void take(struct known *k, const struct cp_coverage_image *image)
{
	size_t i;

	k->items.count = 0;
	k->ok = true;
	for (i = 0; i < image->block_count; i++)
		if (is_reached(image->blocks[i].count) && image->blocks[i].size)
			add(k, image->blocks[i].address, image->blocks[i].size, 0);
	for (i = 0; i < image->branch_count; i++) {
		const struct cp_coverage_branch *b = &image->branches[i];
		unsigned flags = 0;

		flags |= is_reached(b->taken) ? CPROF_COVERAGE_KNOWN_TAKEN : 0;
		flags |= is_reached(b->passed) ? CPROF_COVERAGE_KNOWN_PASSED : 0;
		if (!flags)
			continue;
		if (b->taken == CP_COVERAGE_UNKNOWN || b->passed == CP_COVERAGE_UNKNOWN)
			flags |= CPROF_COVERAGE_KNOWN_GAVE_UP;
		add(k, b->address, 0, flags);
	}
}

void cp_known_read(cprof_profiler_handle handle, const char *path)
{
	const struct cp_coverage_image *image;
	struct cp_record *r = NULL;
	struct known k = { .ok = true };
	size_t i;

	/* cover has looked at the file, and says what is wrong with it. */
	cp_error_free(cp_record_load(path, &r));
	for (i = 0; r && i < cp_record_coverage_count(r); i++) {
		image = cp_record_get_coverage(r, i);
		if (image->flags & CP_COVERAGE_COUNTED)
			continue;
		take(&k, image);
		if (k.ok)
			cprof_profiler_set_coverage_known(
				handle, cp_record_get_image(r, image->image)->build_id,
				k.items.items, k.items.count);
	}
	cp_vec_free(&k.items);
	cp_record_destroy(r);
}
