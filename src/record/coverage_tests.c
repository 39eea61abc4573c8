/* SPDX-License-Identifier: MIT */
#include "record/coverage_tests.h"

#include "record/coverage_encode.h"
#include "record/reader.h"

const char *cp_record_test(const struct cp_record *r, uint32_t part)
{
	const struct cp_record_info *info =
		part && part <= r->parts.count ? r->parts.items[part - 1].info : NULL;

	return info ? info->test : "";
}

size_t cp_record_coverage_parts(const struct cp_record *r, size_t image)
{
	return image < r->coverage.count ? r->coverage.items[image].counts.count : 0;
}

const uint64_t *cp_record_part_blocks(const struct cp_record *r, size_t image, size_t n,
				      const char **test_ret)
{
	const struct cp_record_counts *counts = &r->coverage.items[image].counts.items[n];

	*test_ret = cp_record_test(r, counts->part);
	return counts->values;
}

bool cp_coverage_ran(uint64_t count)
{
	return count && count != CP_COVERAGE_UNKNOWN && count != CP_COVER_ABSENT;
}
