/* SPDX-License-Identifier: MIT
 *
 * test_detour_plan SHAPES: windows of functions that are hard to find any for, and
 * places for the code of windows of all kinds.
 */
#include "test.h"

#include <string.h>

#include "detour/plan.h"
#include "detour/space.h"

/* j jump, h hop, c changed displacement, p pun, a host has no sites; offset and bytes; sites and where in
 * the window they are, + for a jump that is taken; s and the pun whose displacement it shares. Or why
 * there are none. */
static const struct {
	const char *name, *plan;
} expected[] = {
	{ "plain", "j0+8 0@0 j18+1 1@0" },
	{ "protected", "j4+5 0@0 j9+7 1@6" },
	{ "tiny", "j0+3 0@0 1@2" },
	{ "just_ret", "j0+1 0@0 1@0" },
	{ "just_jump", "j0+5 0@0 1@0" },
	{ "tails", "j0+7 0@0 c7+6 1@0+ c18+5 2@0" },
	{ "leads_in", "h0+2 0@0 j11+1 1@0" },
	{ "ret_is_target", "j0+7 0@0 j17+1 1@0" },
	{ "ret_is_target_full", "j0+7 0@0 p15+1 1@0" },
	{ "hosted", "j0+6 0@0 j13+15 h72+2 1@1" },
	{ "hosted_by_more", "j0+8 0@0 j8+15 h64+2 1@1" },
	{ "hosted_beside", "j0+7 0@0 p15+1 1@0" },
	{ "any_case", "j0+9 0@0 h23+1 2@0 j32+6 3@5" },
	{ "calls_early", "j0+9 0@0 j18+1 1@0" },
	{ "calls_system", "h0+2 0@0 j5+1 1@0" },
	{ "begins_with_one", "its first instructions can't be moved" },
	{ "computed", "it has a jump that is computed and may lead anywhere in it" },
	{ "addressed", "the instruction of one of its ends is jumped to" },
	{ "around_prefix", "j0+5 0@0 h11+4 1@3" },
	{ "jumps_through", "j0+5 0@0 j5+6 1@0" },
	{ "conditional_inside", "j0+9 0@0 1@2+ j9+1 2@0" },
	{ "lends", "j0+7 0@0 p15+1 1@0" },
	{ "borrows", "j0+8 0@0 s-1 j11+5 1@4" },
	{ "two_rets", "j0+7 0@0 p17+1 1@0 j18+1 2@0 s17" },
};

static void describe(const struct cp_probe_function *f, const struct cp_detour_plan *plan, char *to,
		     size_t size)
{
	const struct cp_detour_window *w;
	size_t n = 0, i;

	if (plan->why != CP_DETOUR_FAST) {
		snprintf(to, size, "%s", cp_detour_why_text(plan->why));
		return;
	}
	*to = '\0';
	cp_vec_for_each(&plan->windows, w) {
		n += (size_t)snprintf(to + n, size - n, "%s%c%d+%d", n ? " " : "", "jhcp"[w->how],
				      (int)(w->address - f->address), w -> size);
		for (i = 0; i < w->site_count; i++)
			n += (size_t)snprintf(to + n, size - n, " %u@%u%s", w->sites[i].number,
					      w->sites[i].before, w->sites[i].taken ? "+" : "");
		if (w->pun)
			n += (size_t)snprintf(to + n, size - n, " s%d", (int)(w->pun - f->address));
	}
}

static const struct cp_probe_function *named(const struct cp_probe_functions *all, const char *name)
{
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (!strcmp(all->items[i].linkage_name, name))
			return &all->items[i];
	}
	return NULL;
}

static void test_shapes(const char *path)
{
	struct cp_decoder *decoder = cp_decoder_create(&cp_arch_x86_64);
	struct cp_probe_functions all = { 0 };
	struct cp_detour_planner planner = { 0 };
	struct cp_detour_plan plan = { 0 };
	struct cp_probe_plan sites = { 0 };
	struct cp_image *image = NULL;
	struct cp_reader reader;
	char text[256];
	size_t i;

	CHECK_OK(cp_image_open_file(path, NULL, &image));
	reader = cp_probe_file_reader(image);
	CHECK_OK(cp_probe_functions_read(image, &all));
	planner.functions = &all;
	CHECK_OK(cp_detour_text_create(&cp_arch_x86_64, decoder, &reader, image, &all,
				       &planner.text));
	for (i = 0; i < CP_ARRAY_SIZE(expected); i++) {
		const struct cp_probe_function *f = named(&all, expected[i].name);

		CHECK(f);
		if (!f)
			continue;
		CHECK_OK(cp_probe_plan_function(decoder, &reader, &all, f, &sites));
		CHECK_OK(cp_detour_plan_function(&planner, f, &sites, &plan));
		describe(f, &plan, text, sizeof(text));
		printf("%s: %s\n", expected[i].name, text);
		CHECK_STR(text, expected[i].plan);
		/* Its bytes are taken now, and free again afterwards. */
		if (plan.why == CP_DETOUR_FAST) {
			struct cp_detour_plan again = { 0 };

			CHECK_OK(cp_detour_plan_function(&planner, f, &sites, &again));
			CHECK_U64(again.why, CP_DETOUR_WHY_TAKEN);
			cp_detour_plan_free(&again);
		}
	}
	cp_detour_planner_deinit(&planner);
	cp_detour_text_destroy(planner.text);
	cp_detour_plan_free(&plan);
	cp_probe_plan_free(&sites);
	cp_probe_functions_free(&all);
	cp_image_destroy(image);
	cp_decoder_destroy(decoder);
}

/* ---- places ---- */

#define WINDOWS 3000
static struct cp_detour_placed placed[WINDOWS];

static uint32_t random32(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

static uint64_t target(const uint8_t *jump, uint64_t at)
{
	size_t prefixes = 0;
	int32_t distance;
	uint64_t to;

	if (jump[0] == 0xeb)
		return at + 2 + (uint64_t)(int64_t)(int8_t)jump[1];
	while (jump[prefixes] == 0x2e)
		prefixes++;
	if (jump[prefixes] == 0xff) {
		memcpy(&to, jump + 6, 8);
		return to;
	}
	memcpy(&distance, jump + prefixes + 1, 4);
	return jump[prefixes] == 0xe9 ? at + prefixes + 5 + (uint64_t)(int64_t)distance : 0;
}

static void check_placed(const struct cp_detour_window *w, const struct cp_detour_placed *p)
{
	uint64_t to = target(p->window.code, p->window.at);
	unsigned i;

	CHECK_U64(p->window.at, w->address);
	CHECK(p->window.size <= w->room);
	for (i = 1; i < p->window.size; i++) {
		uint8_t byte = p->window.code[i];

		CHECK(!(w->begins >> i & 1) || byte == 0xcc || byte == 0xf1 || byte == 0x60 ||
		      byte == 0x37);
	}
	if (p->stub.size) {
		CHECK_U64(to, p->stub.at);
		to = target(p->stub.code, p->stub.at);
	}
	CHECK_U64(to, p->at);
}

/* No processor takes one for a jump of the other by the low bits of its address. */
static bool told_apart(uint64_t at, uint64_t window)
{
	return ((at - window + 64) & 0xffffff) >= 128;
}

static void check_apart(const struct cp_detour_window *w, const struct cp_detour_placed *p)
{
	CHECK(told_apart(p->at, w->address));
	/* The third byte may be given by an instruction that begins there. */
	CHECK(!p->stub.size || w->begins & 0x38 || told_apart(p->stub.at, w->address));
}

static int by_start(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return x[0] < y[0] ? -1 : x[0] > y[0];
}

static void check_disjoint(const struct cp_detour_space *space, size_t count)
{
	static uint64_t ranges[2 * WINDOWS][2];
	const uint64_t *chunks;
	size_t n = 0, i, k, chunk_count = cp_detour_space_chunks(space, &chunks);

	for (i = 0; i < count; i++) {
		ranges[n][0] = placed[i].at;
		ranges[n++][1] = placed[i].at + placed[i].size;
		if (placed[i].stub.size) {
			ranges[n][0] = placed[i].stub.at;
			ranges[n++][1] = placed[i].stub.at + placed[i].stub.size;
		}
	}
	qsort(ranges, n, sizeof(ranges[0]), by_start);
	for (i = 0; i < n; i++) {
		CHECK(!i || ranges[i - 1][1] <= ranges[i][0]);
		for (k = 0; k < chunk_count; k++) {
			if (ranges[i][0] - chunks[k] < CP_DETOUR_CHUNK)
				break;
		}
		CHECK(k < chunk_count);
	}
}

/* Windows side by side, of nops, with later instructions anywhere. */
static void test_places(uint64_t text, const uint64_t gaps[2][2], size_t most_refused)
{
	struct cp_detour_space *space = cp_detour_space_create();
	struct cp_detour_rings rings = { .zero = 0x10000000, .log = 20 };
	size_t i, count = 0;

	CHECK(cp_detour_space_add(space, gaps[0][0], gaps[0][1]));
	CHECK(cp_detour_space_add(space, gaps[1][0], gaps[1][1]));
	rings.slow = cp_detour_space_take(space, text, CP_DETOUR_SLOW_MAX);
	CHECK(rings.slow != 0);
	for (i = 0; i < WINDOWS; i++) {
		struct cp_detour_window w = { .address = text + 8 * i,
					      .size = 5,
					      .room = (uint8_t)(5 + random32() % 4),
					      .begins = random32() & 0x1e };
		struct cp_detour d;

		memset(w.code, 0x90, sizeof(w.code));
		cp_detour_of_window(&w, &d);
		d.record_count = 1;
		if (!cp_detour_place(space, &cp_arch_x86_64, &d, &w, 0, &rings, &placed[count]))
			continue;
		check_placed(&w, &placed[count]);
		check_apart(&w, &placed[count++]);
	}
	CHECK(WINDOWS - count <= most_refused);
	check_disjoint(space, count);
	for (i = 0; i < count; i++)
		cp_detour_unplace(space, &placed[i]);
	printf("%zu of %d placed\n", count, WINDOWS);
	cp_detour_space_destroy(space);
}

/* Where stubs lead from `at` in the end; 0: nowhere. */
static uint64_t through_stubs(uint64_t at)
{
	const struct cp_detour_write *stub, *of[CP_DETOUR_LENT + 1];
	size_t i, k;
	int jumps;

	for (jumps = 0; jumps < 5; jumps++) {
		for (stub = NULL, i = 0; !stub && i < 2; i++) {
			of[CP_DETOUR_LENT] = &placed[i].stub;
			for (k = 0; k < CP_DETOUR_LENT; k++)
				of[k] = &placed[i].lent[k];
			for (k = 0; !stub && k < CP_ARRAY_SIZE(of); k++)
				if (of[k]->size && of[k]->at == at)
					stub = of[k];
		}
		if (!stub)
			return jumps ? at : 0;
		at = target(stub->code, stub->at);
	}
	return 0;
}

/* A pun leads to its code whatever of the jump stands in its displacement. */
static void check_lent(uint64_t pun, const uint8_t text[8], unsigned offset)
{
	const struct cp_detour_write *jump = &placed[1].window;
	uint8_t bytes[CP_DETOUR_FILLED + 8];
	unsigned step;

	for (step = 0; step < 4; step++) {
		memcpy(bytes, text, 8);
		bytes[0] = 0xe9;
		if (step >= 2)
			memcpy(bytes + 1 + offset, jump->code, jump->size);
		if (step == 1 || step == 2)
			bytes[1 + offset] = 0xcc;
		CHECK_U64(through_stubs(target(bytes, pun)), placed[0].at);
	}
}

static void test_lent(uint64_t text, const uint64_t gaps[2][2], size_t most_refused)
{
	struct cp_detour_space *space = cp_detour_space_create();
	struct cp_detour_rings rings = { .zero = 0x10000000, .log = 20 };
	const uint8_t code[8] = { 0xc3, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec };
	const uint64_t *chunks;
	size_t i, k, refused = 0, puns = 0, count;

	CHECK(cp_detour_space_add(space, gaps[0][0], gaps[0][1]));
	CHECK(cp_detour_space_add(space, gaps[1][0], gaps[1][1]));
	for (i = 0; i < 1000; i++) {
		struct cp_detour_window pun = { .address = text + 32 * i, .how = CP_DETOUR_BY_PUN };

		memcpy(pun.behind, code + 1, sizeof(pun.behind));
		cp_detour_space_keep(space, &pun, 0);
	}
	rings.slow = cp_detour_space_take(space, text, CP_DETOUR_SLOW_MAX);
	for (i = 0; i < 1000; i++) {
		/* In the middle of a pun's displacement it is later, and more of that given. */
		unsigned offset = i % 8 ? 0 : i / 8 % 3;
		struct cp_detour_window w[2] = {
			{ .address = text + 32 * i, .how = CP_DETOUR_BY_PUN, .size = 1, .room = 1 },
			{ .address = text + 32 * i + 1 + offset,
			  .pun = text + 32 * i,
			  .size = 8,
			  .room = (uint8_t)(5 + random32() % 4),
			  .begins = random32() & 0x1e }
		};
		struct cp_detour d;

		for (k = 0; k < 2; k++) {
			memcpy(w[k].behind, code + 1, sizeof(w[k].behind));
			memset(w[k].code, 0x90, sizeof(w[k].code));
			cp_detour_of_window(&w[k], &d);
			d.record_count = 1;
			if (!cp_detour_place(space, &cp_arch_x86_64, &d, &w[k], 0, &rings,
					     &placed[k]))
				break;
		}
		if (k == 2)
			check_lent(w[0].address, code, offset);
		refused += k < 2;
		puns += !k;
	}
	count = cp_detour_space_chunks(space, &chunks);
	printf("%zu of 1000 puns with windows refused (%zu puns), %zu chunks\n", refused, puns,
	       count);
	CHECK(puns <= 20);
	CHECK(count < 500);
	CHECK(refused <= most_refused);
	cp_detour_space_destroy(space);
}

/* Code fills chunk after chunk, and what is given back is used again. */
static void test_filled(void)
{
	const uint64_t text = 0x555555554000, *chunks;
	struct cp_detour_space *space = cp_detour_space_create();
	struct cp_detour_rings rings = { .zero = 0x10000000, .log = 20 };
	size_t i, round, bytes, before = 0;

	CHECK(cp_detour_space_add(space, 0x555500000000, 0x555555500000));
	rings.slow = cp_detour_space_take(space, text, CP_DETOUR_SLOW_MAX);
	for (round = 0; round < 3; round++) {
		for (i = bytes = 0; i < WINDOWS; i++) {
			const uint8_t size = (uint8_t)(5 + random32() % 8);
			struct cp_detour_window w = { .address = text + 16 * i,
						      .size = size,
						      .room = size };
			struct cp_detour d;

			if (round && i % 3)
				continue;
			if (round)
				cp_detour_unplace(space, &placed[i]);
			memset(w.code, 0x90, sizeof(w.code));
			cp_detour_of_window(&w, &d);
			d.record_count = 1;
			CHECK(cp_detour_place(space, &cp_arch_x86_64, &d, &w, 0, &rings,
					      &placed[i]));
		}
		check_disjoint(space, WINDOWS);
		for (i = 0; i < WINDOWS; i++)
			bytes += (placed[i].size + 15u) / 16 * 16;
		i = cp_detour_space_chunks(space, &chunks);
		printf("%zu chunks for %zu bytes\n", i, bytes);
		CHECK(bytes > (i - 3) * CP_DETOUR_CHUNK / 10 * 9);
		CHECK(!round || i <= before + 1);
		before = i;
	}
	cp_detour_space_destroy(space);
}

/* Windows with nothing near them: what they lead to would be as far from each. */
static void test_apart(uint64_t text, const uint64_t gaps[2][2])
{
	struct cp_detour_space *space = cp_detour_space_create();
	struct cp_detour_rings rings = { .zero = 0x10000000, .log = 20 };
	size_t i;

	CHECK(cp_detour_space_add(space, gaps[0][0], gaps[0][1]));
	CHECK(cp_detour_space_add(space, gaps[1][0], gaps[1][1]));
	rings.slow = cp_detour_space_take(space, text, CP_DETOUR_SLOW_MAX);
	for (i = 0; i < 64; i++) {
		struct cp_detour_window w = { .address = text + 0x21740 * (i + 1),
					      .size = 5,
					      .room = 5,
					      .begins = i & 1 ? 2 : 0 };
		struct cp_detour d;

		memset(w.code, 0x90, sizeof(w.code));
		cp_detour_of_window(&w, &d);
		d.record_count = 1;
		CHECK(cp_detour_place(space, &cp_arch_x86_64, &d, &w, 0, &rings, &placed[0]));
		check_placed(&w, &placed[0]);
		check_apart(&w, &placed[0]);
	}
	cp_detour_space_destroy(space);
}

int main(int argc, char **argv)
{
	static const uint64_t around[2][2] = { { 0x555500000000, 0x555555500000 },
					       { 0x555580000000, 0x5555f0000000 } };
	/* Code is where puns lead to. */
	static const uint64_t crowded[2][2] = { { 0x55553add4000, 0x55553b1d4000 },
						{ 0x555580000000, 0x5555f0000000 } };
	static const uint64_t above[2][2] = { { 0x8000000, 0x10000000 },
					      { 0x20000000, 0x7fff0000 } };
	static const uint64_t nothing_low[2][2] = { { 0x8000000, 0x10000000 }, { 0, 0 } };

	if (argc < 2)
		return 1;
	test_shapes(argv[1]);
	test_filled();
	/* Where all four bytes are given there is one place, which others may have. */
	test_places(0x555555554000, around, 15);
	test_places(0x400000, above, 15);
	test_lent(0x555555554000, around, 60);
	test_lent(0x555555554000, crowded, 1000);
	test_apart(0x555555554000, around);
	test_apart(0x400000, above);
	/* Only windows with nothing at offset 4 have a place then. */
	test_places(0x400000, nothing_low, WINDOWS);
	TEST_MAIN_END;
}
