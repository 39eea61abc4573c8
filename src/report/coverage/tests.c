/* SPDX-License-Identifier: MIT */
#include "report/coverage/tests.h"

#include <string.h>

#include "record/coverage_tests.h"

/* False: it is none, or left out. */
static bool find(const struct cp_tests *t, const char *name, uint32_t *test_ret)
{
	size_t n = cp_vec_partition(&t->names, it, strcmp(*it, name) < 0);

	*test_ret = (uint32_t)n;
	return n < t->names.count && !strcmp(t->names.items[n], name);
}

static int compare_names(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

bool cp_tests_find(struct cp_tests *t, const struct cp_record *r)
{
	size_t i, kept = 0;

	for (i = 0; i < cp_record_part_count(r); i++) {
		const char *name = cp_record_test(r, (uint32_t)i + 1);

		if (*name && !cp_vec_push(&t->names, name))
			return false;
	}
	cp_vec_sort(&t->names, compare_names);
	for (i = 0; i < t->names.count; i++)
		if (!kept || strcmp(t->names.items[kept - 1], t->names.items[i]) != 0)
			t->names.items[kept++] = t->names.items[i];
	t->left_out = kept > CP_TESTS_MOST ? kept - CP_TESTS_MOST : 0;
	t->names.count = kept - t->left_out;
	return true;
}

bool cp_tests_set_image(struct cp_tests *t, const struct cp_record *r, size_t image)
{
	size_t n = cp_record_coverage_parts(r, image), i;

	t->image.count = 0;
	for (i = 0; i < n; i++) {
		const char *name;
		struct cp_test_blocks it = {
			.blocks = cp_record_part_blocks(r, image, i, &name),
		};

		if (find(t, name, &it.test) && !cp_vec_push(&t->image, it))
			return false;
	}
	return true;
}

void cp_tests_free(struct cp_tests *t)
{
	cp_vec_free(&t->names);
	cp_vec_free(&t->image);
}

bool cp_tests_add(const struct cp_tests *t, struct cp_arena *arena, uint64_t **set, uint32_t test)
{
	size_t words = (t->names.count + 63) / 64;

	if (!*set) {
		*set = cp_arena_array(arena, words, sizeof(**set));
		if (!*set)
			return false;
		memset(*set, 0, words * sizeof(**set));
	}
	(*set)[test / 64] |= UINT64_C(1) << (test % 64);
	return true;
}

size_t cp_tests_count(const uint64_t *set, size_t count)
{
	size_t all = 0, i;

	for (i = 0; set && i < (count + 63) / 64; i++)
		all += (size_t)__builtin_popcountll(set[i]);
	return all;
}
