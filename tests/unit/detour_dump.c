/* SPDX-License-Identifier: MIT
 *
 * detour_dump FILE          each function's windows, for who judges them:
 *     address size why where name | window:size:room:how:hop:begins site@before ...
 * detour_dump -s FILE...    how many of each file's functions are fast, and why not
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "detour/plan.h"
#include "detour/space.h"
#include "detour_file.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print_plan(const struct cp_probe_function *function, const struct cp_detour_plan *plan)
{
	const struct cp_detour_window *w;
	size_t i;

	printf("%llx %llx %d %llx %s |", (unsigned long long)function->address,
	       (unsigned long long)function->size, plan->why, (unsigned long long)plan->where,
	       function->linkage_name);
	cp_vec_for_each(&plan->windows, w) {
		printf(" %llx:%d:%d:%c:%llx:%x", (unsigned long long)w->address, w->size, w->room,
		       "jhcp"[w->how], (unsigned long long)w -> hop, w -> begins);
		for (i = 0; i < w->site_count; i++)
			printf("%c%u@%u", i ? ',' : ' ', w->sites[i].number, w->sites[i].before);
		if (!w->site_count)
			printf(" host");
	}
	putchar('\n');
}

struct counts {
	size_t functions, whys[CP_DETOUR_WHYS], windows[CP_DETOUR_HOWS], far_only;
	size_t placed, not_placed, bytes;
	struct cp_detour_space *space;
	uint64_t bias;
	struct cp_detour_rings rings;
};

/* As the program would be mapped: a position-independent one where the kernel puts
 * those, with nothing around it but a heap. */
static void prepare_space(const struct detour_file *f, struct counts *c)
{
	uint64_t start, end;

	c->bias = f->text->start < 0x400000 ? 0x555555554000 : 0;
	start = f->text->start + c->bias;
	end = f->text->end + c->bias;
	c->space = cp_detour_space_create();
	if (c->bias) {
		cp_detour_space_add(c->space, 0x555500000000, start - (UINT64_C(1) << 20));
		cp_detour_space_add(c->space, end + (UINT64_C(1) << 28), 0x5556f0000000);
	} else {
		cp_detour_space_add(c->space, end + (UINT64_C(1) << 27), 0x7fff0000);
	}
	c->rings = (struct cp_detour_rings){ .zero = 0x10000000, .log = 20 };
	c->rings.slow = cp_detour_space_take(c->space, start, CP_DETOUR_SLOW_MAX);
}

static void place(struct counts *c, const struct cp_detour_window *w)
{
	struct cp_detour_placed placed;
	struct cp_detour d;

	cp_detour_of_window(w, &d);
	d.pc += c->bias;
	if (w->site_count == 1) {
		d.records[0].before = d.size < w->size ? 0 : w->sites[0].before;
		d.records[0].taken = d.size < w->size || w->how == CP_DETOUR_BY_CHANGE
					     ? false
					     : w->sites[0].taken;
		d.record_count = 1;
	}
	if (cp_detour_place(c->space, &cp_arch_x86_64, &d, w, c->bias, &c->rings, &placed)) {
		c->placed++;
		c->bytes += placed.size;
	} else {
		c->not_placed++;
	}
}

static void count(struct counts *c, const struct cp_detour_plan *plan)
{
	struct cp_detour_landing ways[CP_DETOUR_LANDINGS];
	const struct cp_detour_window *w;

	c->functions++;
	c->whys[plan->why]++;
	cp_vec_for_each(&plan->windows, w) {
		c->windows[w->how]++;
		if (w->how == CP_DETOUR_BY_JUMP && cp_detour_landings(w->begins, w->room, ways))
			c->far_only += ways[0].mask >> 24 != 0;
		if (c->space)
			place(c, w);
	}
}

static struct cp_error *plan_all(struct detour_file *f, bool print, struct counts *c)
{
	struct cp_detour_planner planner = { .text = f->text,
					     .functions = &f->functions,
					     .frames = { detour_file_is_gone, f } };
	struct cp_detour_plan plan = { 0 };
	struct cp_probe_plan sites = { 0 };
	struct cp_error *err = NULL;
	size_t i;

	for (i = 0; i < f->functions.count && !err; i++) {
		const struct cp_probe_function *function = &f->functions.items[i];

		if (function->kind == CP_PROBE_PLT)
			continue;
		err = cp_probe_plan_function(f->decoder, &f->reader, &f->functions, function,
					     &sites);
		if (!err)
			err = cp_detour_plan_function(&planner, function, &sites, &plan);
		if (!err && print)
			print_plan(function, &plan);
		if (!err)
			count(c, &plan);
	}
	cp_detour_planner_deinit(&planner);
	cp_detour_plan_free(&plan);
	cp_probe_plan_free(&sites);
	return err;
}

static void print_counts(const char *path, const struct counts *c, double ms)
{
	size_t traced = c->functions - c->whys[CP_DETOUR_WHY_SITES], i;
	const uint64_t *chunks;

	printf("%s: %zu functions, %.2f %% of them fast, %.2f %% of those with sites; "
	       "%zu jumps (%.1f %% need a far one), %zu hops, %zu changes, %zu puns; %.0f ms\n",
	       path, c->functions,
	       100.0 * (double)c->whys[0] / (double)(c->functions + !c->functions),
	       100.0 * (double)c->whys[0] / (double)(traced + !traced), c->windows[0],
	       100.0 * (double)c->far_only / (double)(c->windows[0] + !c->windows[0]),
	       c->windows[1], c->windows[2], c->windows[3], ms);
	printf("  %zu windows placed, %zu not; %zu bytes of code, %zu chunks\n", c->placed,
	       c->not_placed, c->bytes, cp_detour_space_chunks(c->space, &chunks));
	for (i = 1; i < CP_DETOUR_WHYS; i++) {
		if (c->whys[i])
			printf("  %6zu %s\n", c->whys[i],
			       cp_detour_why_text((enum cp_detour_why)i));
	}
}

int main(int argc, char **argv)
{
	bool sums = argc > 1 && !strcmp(argv[1], "-s");
	struct cp_error *err;
	double start;
	int i;

	for (i = sums ? 2 : 1; i < argc; i++) {
		struct counts counts = { 0 };
		struct detour_file file = { 0 };

		start = now_ms();
		err = detour_file_open(argv[i], &file);
		if (!err && sums)
			prepare_space(&file, &counts);
		if (!err)
			err = plan_all(&file, !sums, &counts);
		if (err) {
			fprintf(stderr, "%s: %s\n", argv[i], err->what);
			return 1;
		}
		if (sums)
			print_counts(argv[i], &counts, now_ms() - start);
		cp_detour_space_destroy(counts.space);
		detour_file_close(&file);
	}
	return 0;
}
