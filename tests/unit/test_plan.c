/* SPDX-License-Identifier: MIT
 *
 * test_plan STRANGE: the plans and blocks of functions that are hard to plan.
 */
#include "probe/blocks.h"
#include "probe/plan.h"

#include <string.h>

#include "test.h"

/* why, then sites as kind and offset: e entry, r ret, t tail, c conditional
 * tail, i indirect; "loops". */
static const struct {
	const char *name, *plan;
} expected[] = {
	{ "just_ret", "FULL e0 r0" },
	{ "just_jump", "FULL e0 t0" },
	{ "just_indirect", "FULL e0 i0" },
	{ "loops_to_entry", "FULL e0 r4 loops" },
	{ "recurses_in_place", "NO_EXIT e0 loops" },
	{ "conditional", "FULL e0 c2 r8" },
	{ "data_inside", "FULL e0 r6" },
	{ "data_that_decodes", "FULL e0 r7" },
	{ "falls_through", "BY_RETURN e0" },
	{ "fallen_into", "FULL e0 r0" },
	{ "into_the_middle", "BY_RETURN e0" },
	{ "fallen", "FULL e0 r4" },
	{ "never", "REFUSED" },
	{ "calls_at_the_end", "NO_EXIT e0" },
	{ "overlapping", "BY_RETURN e0" },
	{ "skips_a_prefix", "FULL e0 r5" },
	{ "with_cold", "FULL e0 r8" },
	{ "with_handler", "FULL e0 r5 r11" },
	{ "computed", "FULL e0 i0 r7" },
	{ "computed_and_data", "BY_RETURN e0" },
	{ "interpreter", "BY_RETURN e0" },
	{ "no_instruction", "REFUSED" },
	{ "cut_off", "BY_RETURN e0" },
	{ "restores", "WITHHELD" },
	{ "chosen", "FULL e0 r7" },
	{ "enclosing", "FULL e0 r4" },
	{ "enclosed", "FULL e0 r2" },
	{ "without_size", "FULL e0 r2" },
	{ "without_size_either", "FULL e0 r0" },
};

static struct cp_probe_functions all;

static struct cp_probe_function *named(const char *linkage_name)
{
	size_t i;

	for (i = 0; i < all.count; i++) {
		if (!strcmp(all.items[i].linkage_name, linkage_name))
			return &all.items[i];
	}
	return NULL;
}

static void describe(const struct cp_probe_function *f, const struct cp_probe_plan *plan, char *to,
		     size_t size)
{
	static const char *const whys[] = { "FULL",    "BY_RETURN", "NO_EXIT",
					    "REFUSED", "NO_CODE",   "WITHHELD" };
	const struct cp_probe_site *s;
	size_t n = (size_t)snprintf(to, size, "%s", whys[plan->why]);

	cp_vec_for_each(&plan->sites, s) {
		if (n < size)
			n += (size_t)snprintf(to + n, size - n, " %c%d", "ertci"[s->kind],
					      (int)(s->address - f->address));
	}
	if (plan->loops && n < size)
		snprintf(to + n, size - n, " loops");
}

static void test_plans(struct cp_image *image)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	struct cp_reader memory = cp_probe_file_reader(image);
	struct cp_probe_plan plan = { 0 };
	struct cp_probe_function *f;
	char text[512];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(expected); i++) {
		f = named(expected[i].name);
		if (!f)
			fprintf(stderr, "no %s\n", expected[i].name);
		CHECK(f != NULL);
		if (!f)
			continue;
		CHECK_OK(cp_probe_plan_function(decoder, &memory, &all, f, &plan));
		describe(f, &plan, text, sizeof(text));
		if (strcmp(text, expected[i].plan) != 0)
			fprintf(stderr, "%s: %s (%s)\n", f->linkage_name, text, plan.why_text);
		CHECK_STR(text, expected[i].plan);
		CHECK((plan.why == CP_PROBE_FULL) == !*plan.why_text);
	}
	cp_probe_plan_free(&plan);
	cp_decoder_destroy(decoder);
}

/* Blocks as offset and size, "!" where no breakpoint may stand; branches as
 * offset:taken,passed, "?" where the jump has to be watched. */
static const struct {
	const char *name, *blocks;
} expected_blocks[] = {
	{ "just_ret", "0+1" },
	{ "just_jump", "0+2" },
	{ "just_indirect", "0+2" },
	{ "loops_to_entry", "0+4 4+1 2:?,4" },
	{ "recurses_in_place", "0+2" },
	{ "conditional", "0+8 8+1 2:?,8" },
	{ "data_inside", "0+2 6+1" },
	{ "data_that_decodes", "0+8" },
	{ "falls_through", "0+2" },
	{ "fallen_into", "0+1" },
	{ "into_the_middle", "0+2" },
	{ "fallen", "0+5" },
	{ "never", "0+2" },
	{ "calls_at_the_end", "0+6" },
	{ "overlapping", "0+2 2+2 0:?,2" },
	{ "skips_a_prefix", "0+2 2+4 0:?,2" },
	{ "with_handler", "0+5 5+1 6+5 11+1" },
	{ "computed", "0+2 2+5 7+1" },
	{ "computed_and_data", "0+2" },
	{ "interpreter", "0+4 4+4 8+4 12+4 16+4 20+4 24+4 28+4 32+4" },
	{ "no_instruction", "0+0!" },
	{ "cut_off", "0+0" },
	{ "restores", "0+0!" },
	{ "chosen", "0+8" },
	{ "enclosing", "0+5" },
	{ "enclosed", "0+3" },
};

static size_t describe_way(char *to, size_t size, const struct cp_probe_blocks *found,
			   uint32_t block, uint64_t from)
{
	if (block == CP_NO_BLOCK)
		return (size_t)snprintf(to, size, "?");
	return (size_t)snprintf(to, size, "%d", (int)(found->blocks.items[block].address - from));
}

static void describe_blocks(const struct cp_probe_blocks *found, uint64_t from, char *to,
			    size_t size)
{
	const struct cp_probe_branch *j;
	const struct cp_probe_block *b;
	size_t n = 0;

	cp_vec_for_each(&found->blocks, b) {
		if (n < size)
			n += (size_t)snprintf(to + n, size - n, "%s%d+%d%s", n ? " " : "",
					      (int)(b->address - from), (int)b->size,
					      b->insn_size ? "" : "!");
	}
	cp_vec_for_each(&found->branches, j) {
		if (n + 40 > size)
			break;
		n += (size_t)snprintf(to + n, size - n, " %d:", (int)(j->address - from));
		n += describe_way(to + n, size - n, found, j->taken_block, from);
		n += (size_t)snprintf(to + n, size - n, ",");
		n += describe_way(to + n, size - n, found, j->passed_block, from);
	}
}

static void test_blocks(struct cp_image *image)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	struct cp_reader memory = cp_probe_file_reader(image);
	struct cp_probe_blocks found = { 0 };
	struct cp_code code = { 0 };
	char text[400];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(expected_blocks); i++) {
		struct cp_probe_function *f = named(expected_blocks[i].name);

		CHECK(f);
		if (!f)
			continue;
		CHECK_OK(cp_probe_blocks_find(&code, decoder, &memory, &all, f, &found));
		describe_blocks(&found, f->address, text, sizeof(text));
		if (strcmp(text, expected_blocks[i].blocks) != 0)
			fprintf(stderr, "%s: %s (%s)\n", f->linkage_name, text, found.why_text);
		CHECK_STR(text, expected_blocks[i].blocks);
		CHECK(found.complete == !*found.why_text);
	}
	cp_probe_blocks_free(&found);
	cp_code_free(&code);
	cp_decoder_destroy(decoder);
}

static void test_functions(void)
{
	struct cp_probe_function *f = named("with_cold");
	size_t i;

	CHECK(f && f->range_count == 2 && f->ranges[1].end - f->ranges[1].start == 10);
	CHECK(!named("with_cold.cold") && !all.parts.count);
	f = named("copied.isra.0");
	CHECK(f && (f->flags & CP_PROBE_CLONE));
	CHECK_STR(f ? cp_probe_function_name(f) : NULL, "copied");
	f = named("copied.constprop.0.part.1");
	CHECK_STR(f ? cp_probe_function_name(f) : NULL, "copied");
	f = named("one_name");
	CHECK(f && f->alias_count == 1);
	CHECK_STR(f && f->alias_count ? cp_probe_alias_name(&all.aliases.items[f->first_alias])
				      : NULL,
		  "other_name");
	CHECK(f && !(f->flags & (CP_PROBE_LOCAL | CP_PROBE_CLONE)));
	f = named("chosen");
	CHECK(f && f->kind == CP_PROBE_IFUNC);
	f = named("enclosed");
	CHECK(f && (f->flags & CP_PROBE_LOCAL));
	CHECK(f && cp_probe_functions_find(&all, f->address + 1) == f);
	f = named("enclosing");
	CHECK(f && cp_probe_functions_find(&all, f->address + 1) == f);
	f = named("without_size");
	CHECK(f && f->size == 3);
	CHECK(!named("fallen_late")); /* a label inside of something that has a size */
	for (i = 1; i < all.count; i++)
		CHECK(all.items[i - 1].address < all.items[i].address);
}

int main(int argc, char **argv)
{
	struct cp_image *image = NULL;

	if (argc < 2)
		return 2;
	CHECK_OK(cp_image_open_file(argv[1], NULL, &image));
	CHECK_OK(cp_probe_functions_read(image, &all));
	test_functions();
	test_plans(image);
	test_blocks(image);
	cp_probe_functions_free(&all);
	cp_image_destroy(image);
	TEST_MAIN_END;
}
