/* SPDX-License-Identifier: MIT
 *
 * probe_dump functions FILE: each function of a file, for those who judge it:
 *     address size kind flags linkage name, aliases
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/plan.h"

static void print_functions(struct cp_probe_functions *all)
{
	struct cp_probe_function *f;
	size_t i, k;

	for (i = 0; i < all->count; i++) {
		f = &all->items[i];
		printf("%llx %llx %d %d %s %s", (unsigned long long)f->address,
		       (unsigned long long)f->size, f->kind, f->flags, f->linkage_name,
		       cp_probe_function_name(f));
		for (k = 0; k < f->alias_count; k++)
			printf(" %s", cp_probe_alias_name(&all->aliases.items[f->first_alias + k]));
		for (k = 1; k < f->range_count; k++)
			printf(" %llx-%llx", (unsigned long long)f->ranges[k].start,
			       (unsigned long long)f->ranges[k].end);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct cp_probe_functions all = { 0 };
	struct cp_image *image = NULL;
	struct timespec a, b, c;
	struct cp_error *err;

	if (argc != 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	err = cp_image_open_file(argv[2], NULL, &image);
	if (!err) {
		const struct cp_symbol *symbols;
		size_t count;

		err = cp_image_symbols(image, &symbols, &count);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (!err)
		err = cp_probe_functions_read(image, &all);
	clock_gettime(CLOCK_MONOTONIC, &c);
	if (err) {
		fprintf(stderr, "%s\n", err->what);
		return 1;
	}
	if (!strcmp(argv[1], "functions"))
		print_functions(&all);
	fprintf(stderr, "%zu functions, %zu parts left; symbols %.2f ms, functions %.2f ms\n",
		all.count, all.parts.count,
		(double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6,
		(double)(c.tv_sec - b.tv_sec) * 1e3 + (double)(c.tv_nsec - b.tv_nsec) / 1e6);
	cp_probe_functions_free(&all);
	cp_image_destroy(image);
	return 0;
}
