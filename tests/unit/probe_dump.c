/* SPDX-License-Identifier: MIT
 *
 * For those who judge a file's functions and plans, and for measuring.
 *
 *     probe_dump functions FILE   address size kind flags linkage name, aliases, parts
 *     probe_dump plans FILE       address size kind why linkage name
 *                                 | why | sites | ranges
 *     probe_dump blocks FILE      address size kind why linkage name
 *                                 | why | blocks (start:size:bytes) | branches (jump:taken:passed)
 *     probe_dump times FILE       nothing but the times, on standard error
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe/blocks.h"
#include "probe/plan.h"
#include "unwind/pads.h"

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

static const char *const whys[] = {
	"FULL", "BY_RETURN", "NO_EXIT", "REFUSED", "NO_CODE", "WITHHELD"
};

static void print_plan(const struct cp_probe_function *f, const struct cp_probe_plan *plan)
{
	static const char kinds[] = "ertci";
	const struct cp_probe_site *s;
	size_t i;

	printf("%llx %llx %d %s %s | %s |", (unsigned long long)f->address,
	       (unsigned long long)f->size, f->kind, whys[plan->why], f->linkage_name,
	       plan->why_text);
	cp_vec_for_each(&plan->sites, s)
		printf(" %c%llx", kinds[s->kind], (unsigned long long)s->address);
	printf(" |");
	for (i = 0; i < plan->range_count; i++)
		printf(" %llx-%llx", (unsigned long long)plan->ranges[i].start,
		       (unsigned long long)plan->ranges[i].end);
	puts(plan->loops ? " loops" : "");
}

static int plan_all(struct cp_image *image, struct cp_probe_functions *all, bool print)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	struct cp_reader reader = cp_probe_file_reader(image);
	struct cp_probe_plan plan = { 0 };
	size_t counts[CP_ARRAY_SIZE(whys)] = { 0 }, i, n = 0;
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < all->count; i++) {
		if (cp_probe_plan_function(decoder, &reader, all, &all->items[i], &plan))
			return 1;
		if (print)
			print_plan(&all->items[i], &plan);
		if (all->items[i].kind != CP_PROBE_PLT) {
			counts[plan.why]++;
			n++;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	fprintf(stderr, "planned in %.1f ms; %zu functions that are no stubs:",
		(double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6, n);
	for (i = 0; i < CP_ARRAY_SIZE(whys); i++)
		fprintf(stderr, " %s %zu (%.1f%%)", whys[i], counts[i],
			n ? 100 * (double)counts[i] / (double)n : 0);
	fputc('\n', stderr);
	cp_probe_plan_free(&plan);
	cp_decoder_destroy(decoder);
	return 0;
}

static void print_blocks(const struct cp_probe_function *f, const struct cp_probe_blocks *found)
{
	const struct cp_probe_branch *j;
	const struct cp_probe_block *b;

	printf("%llx %llx %d %s %s | %s |", (unsigned long long)f->address,
	       (unsigned long long)f->size, f->kind, found->complete ? "FULL" : "ENTRY",
	       f->linkage_name, found->why_text);
	cp_vec_for_each(&found->blocks, b)
		printf(" %llx:%x:%d", (unsigned long long)b->address, b->size, b->insn_size);
	printf(" |");
	cp_vec_for_each(&found->branches, j)
		printf(" %llx:%d:%d:%d", (unsigned long long)j->address, (int)j->block,
		       (int)j->taken_block, (int)j->passed_block);
	putchar('\n');
}

/* How many directions have to be watched at the jump. */
static size_t untold(const struct cp_probe_blocks *found)
{
	const struct cp_probe_branch *j;
	size_t n = 0;

	cp_vec_for_each(&found->branches, j)
		n += j->taken_block == CP_NO_BLOCK || j->passed_block == CP_NO_BLOCK;
	return n;
}

static void read_pads(struct cp_image *image, const struct cp_reader *reader,
		      struct cp_probe_functions *all)
{
	struct cp_unwind_section frames = { 0 };

	if (cp_image_section(image, ".eh_frame", &frames.bytes, &frames.size, &frames.addr))
		cp_error_free(cp_unwind_pads(&cp_arch_x86_64, &frames, reader, &all->pads,
					     &all->pad_count));
}

static int find_all(struct cp_image *image, struct cp_probe_functions *all, bool print)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	struct cp_reader reader = cp_probe_file_reader(image);
	size_t i, blocks = 0, branches = 0, watched = 0, incomplete = 0;
	struct cp_probe_blocks found = { 0 };
	struct cp_code code = { 0 };
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	read_pads(image, &reader, all);
	for (i = 0; i < all->count; i++) {
		if (cp_probe_blocks_find(&code, decoder, &reader, all, &all->items[i], &found))
			return 1;
		if (print)
			print_blocks(&all->items[i], &found);
		blocks += found.blocks.count;
		branches += found.branches.count;
		watched += untold(&found);
		incomplete += !found.complete;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	fprintf(stderr,
		"blocks in %.1f ms: %zu, %zu branches, %zu of them to be watched; "
		"%zu functions of %zu not to their end; %zu landing pads\n",
		(double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6, blocks,
		branches, watched, incomplete, all->count, all->pad_count);
	cp_probe_blocks_free(&found);
	cp_code_free(&code);
	cp_decoder_destroy(decoder);
	return 0;
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
	if (!strcmp(argv[1], "blocks"))
		find_all(image, &all, true);
	else if (!strcmp(argv[1], "times"))
		find_all(image, &all, false);
	if (strcmp(argv[1], "functions") != 0 && strcmp(argv[1], "blocks") != 0 &&
	    plan_all(image, &all, !strcmp(argv[1], "plans")))
		return 1;
	cp_probe_functions_free(&all);
	cp_image_destroy(image);
	return 0;
}
