/* SPDX-License-Identifier: MIT
 *
 * Jump tables of this program's own switches. The compiler tells, by labels
 * in the code, where each case is: every one must be among what
 * cp_jump_table() found, or lie right behind it. One that a compiler took out
 * of the table is where a conditional branch goes.
 */
#include "test.h"

#include "arch/insn.h"

#include <sys/uio.h>
#include <unistd.h>

#define TARGETS_MAX 1024

volatile long table_sink;

struct message;

#define SET(name) \
	extern const uint8_t __start_##name##_code[], __stop_##name##_code[]; \
	extern const uint64_t __start_##name##_cases[], __stop_##name##_cases[]; \
	void name##_int(int); \
	void name##_offset(long); \
	void name##_byte(const unsigned char *); \
	void name##_mask(unsigned); \
	void name##_memory(struct message *); \
	void name##_loop(const char *); \
	void name##_two(int, unsigned char);
SET(plain)
SET(optimized)
SET(small)
SET(protected)

#define ADDRESS(x) ((uint64_t)(uintptr_t)(x))
#define FUNCTIONS 7

struct set {
	const char *name;
	const uint8_t *code_end;
	const uint64_t *cases, *cases_end;
	uint64_t functions[FUNCTIONS + 1]; /* sorted, then where the last one ends */
};

static struct cp_decoder *decoder;
static uint64_t targets[TARGETS_MAX];
static size_t target_count, jumps, found, covered;

static size_t read_own(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	struct iovec to = { buffer, size }, from = { (void *)(uintptr_t)addr, size };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	(void)ctx;
	return n > 0 ? (size_t)n : 0;
}

/* Does the code at `from` come to `to`, without a choice? */
static bool leads_to(uint64_t from, uint64_t to)
{
	struct cp_insn insn;
	unsigned n;

	for (n = 0; n < 16 && from != to; n++) {
		if (!cp_decode(decoder, (const uint8_t *)(uintptr_t)from, 16, from, &insn))
			return false;
		if (insn.flow == CP_FLOW_JUMP)
			from = insn.target;
		else if (insn.flow == CP_FLOW_ON)
			from += insn.size;
		else
			return false;
	}
	return from == to;
}

static bool is_covered(uint64_t label)
{
	size_t i;

	for (i = 0; i < target_count; i++) {
		if (leads_to(targets[i], label))
			return true;
	}
	return false;
}

/* All targets of all tables and branches of the function. */
static void find_tables(uint64_t start, uint64_t end)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)start;
	struct cp_reader memory = { .read = read_own };
	size_t size = (size_t)(end - start), at, count;
	struct cp_insn insn;

	target_count = 0;
	for (at = 0; at < size; at += insn.size) {
		if (!cp_decode(decoder, code + at, size - at, start + at, &insn))
			return;
		if (insn.flow == CP_FLOW_BRANCH && target_count < TARGETS_MAX)
			targets[target_count++] = insn.target;
		if (insn.flow != CP_FLOW_JUMP_INDIRECT)
			continue;
		jumps++;
		if (cp_jump_table(decoder, code, size, start, insn.pc, &memory,
				  targets + target_count, TARGETS_MAX - target_count, &count)) {
			found++;
			target_count += count;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void judge(struct set *set)
{
	const uint64_t *label;
	size_t i;

	qsort(set->functions, FUNCTIONS, sizeof(set->functions[0]), by_value);
	set->functions[FUNCTIONS] = ADDRESS(set->code_end);
	for (i = 0; i < FUNCTIONS; i++) {
		uint64_t start = set->functions[i], end = set->functions[i + 1];

		find_tables(start, end);
		for (label = set->cases; label < set->cases_end; label++) {
			if (*label < start || *label >= end)
				continue;
			covered++;
			if (!is_covered(*label))
				fprintf(stderr, "%s: function at %" PRIx64 "\n", set->name, start);
			CHECK(is_covered(*label));
		}
	}
}

#define FILL(set) \
	{ \
#set, __stop_##set##_code, __start_##set##_cases, __stop_##set##_cases, \
		{ \
			ADDRESS(set##_int), ADDRESS(set##_offset), ADDRESS(set##_byte), \
				ADDRESS(set##_mask), ADDRESS(set##_memory), ADDRESS(set##_loop), \
				ADDRESS(set##_two) \
		} \
	}

int main(void)
{
	struct set sets[] = { FILL(plain), FILL(optimized), FILL(small), FILL(protected) };
	size_t i;

	decoder = cp_decoder_create(&cp_arch_x86_64);
	if (!decoder)
		return 1;
	for (i = 0; i < CP_ARRAY_SIZE(sets); i++)
		judge(&sets[i]);
	printf("%zu of %zu indirect jumps are tables, with %zu cases\n", found, jumps, covered);
	CHECK(found == jumps && found >= FUNCTIONS * CP_ARRAY_SIZE(sets));
	CHECK(covered == (10 + 9 + 9 + 8 + 9 + 16 + 24) * CP_ARRAY_SIZE(sets));
	cp_decoder_destroy(decoder);
	TEST_MAIN_END;
}
