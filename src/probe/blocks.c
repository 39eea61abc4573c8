/* SPDX-License-Identifier: MIT
 *
 * From followed code to blocks. An instruction leads a block when it is
 *
 *     the entry                      a target of a jump or of a switch
 *     behind a jump or call          a landing pad of exceptions
 *                                    where code begins that nothing leads to
 *
 * For each instruction the ways that lead to it are counted, up to two: where
 * there is one alone, and that is a conditional jump, the block tells of the
 * jump. What may be entered by who knows whom counts as two ways.
 */
#include "probe/blocks.h"
#include "probe/sequences.h"

#include <string.h>

#define LEADER 0x80u
#define OPEN 0x40u
#define WAYS 0x3fu
#define MANY 2

/* The leaders of one function. */
struct leaders {
	const struct cp_code *code;
	uint8_t *marks; /* for each byte of it: LEADER, OPEN, ways */
	CP_VEC(uint64_t) nexts; /* of each block: where it goes on, 0: nowhere */
};

static const struct cp_insn *insn_at(const struct cp_code *code, size_t offset)
{
	uint32_t number = code->starts.items[offset];

	if (!number || !(code->marks.items[number - 1] & CP_CODE_REACHED))
		return NULL;
	return &code->insns.items[number - 1];
}

static void add_ways(struct leaders *l, uint64_t address, unsigned ways, uint8_t flag)
{
	size_t offset;
	uint8_t *mark;

	if (!cp_code_offset(l->code, address, &offset))
		return;
	mark = &l->marks[offset];
	ways += *mark & WAYS;
	*mark = (uint8_t)((*mark & (LEADER | OPEN)) | flag | (ways < MANY ? ways : MANY));
}

static void mark_insn(struct leaders *l, const struct cp_insn *insn)
{
	uint64_t next = insn->pc + insn->size;

	if (insn->landing_pad)
		add_ways(l, insn->pc, MANY, LEADER | OPEN);
	switch ((enum cp_flow)insn->flow) {
	case CP_FLOW_ON:
		add_ways(l, next, 1, 0);
		break;
	case CP_FLOW_BRANCH:
		add_ways(l, next, 1, LEADER);
		add_ways(l, insn->target, 1, LEADER);
		break;
	case CP_FLOW_JUMP:
		add_ways(l, insn->target, 1, LEADER);
		break;
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
		add_ways(l, next, MANY, LEADER);
		break;
	case CP_FLOW_JUMP_INDIRECT:
	case CP_FLOW_RETURN:
	case CP_FLOW_END:
		break;
	}
}

static void mark_all(struct leaders *l, const struct cp_probe_function *function)
{
	const struct cp_code *code = l->code;
	const struct cp_code_case *one;
	const uint32_t *other;
	size_t i;

	add_ways(l, function->address, MANY, LEADER);
	for (i = 0; i < code->insns.count; i++) {
		if (code->marks.items[i] & CP_CODE_REACHED)
			mark_insn(l, &code->insns.items[i]);
	}
	cp_vec_for_each(&code->cases, one)
		l->marks[one->offset] = (uint8_t)((l->marks[one->offset] & OPEN) | LEADER | MANY);
	cp_vec_for_each(&code->others, other)
		l->marks[*other] = LEADER | OPEN | MANY;
}

/* ---- blocks ---- */

static bool begin_block(struct cp_probe_blocks *to, const struct cp_code *code, size_t offset,
			const struct cp_insn *insn)
{
	struct cp_probe_block block = { .address = insn->pc };

	if (!cp_code_shared_byte(code, offset) &&
	    !cp_probe_in_sequence(code->functions, insn->pc, insn->size)) {
		block.insn_size = insn->size;
		memcpy(block.code, code->bytes.items + offset,
		       insn->size < sizeof(block.code) ? insn->size : sizeof(block.code));
	}
	return cp_vec_push(&to->blocks, block);
}

static bool add_branch(struct cp_probe_blocks *to, const struct cp_code *code, size_t offset,
		       const struct cp_insn *insn)
{
	struct cp_probe_branch branch = {
		.address = insn->pc,
		.size = insn->size,
		.block = (uint32_t)to->blocks.count - 1,
		.target = insn->target,
		.taken_block = CP_NO_BLOCK,
		.passed_block = CP_NO_BLOCK,
	};

	memcpy(branch.code, code->bytes.items + offset,
	       insn->size < sizeof(branch.code) ? insn->size : sizeof(branch.code));
	return cp_vec_push(&to->branches, branch);
}

/* Behind a call that does not return: padding, or what would end the program
 * if it did. Nobody wrote that. */
static bool is_filler(const struct leaders *l, size_t offset, size_t end)
{
	const struct cp_insn *insn = insn_at(l->code, offset);
	bool wide = false;

	if (insn && insn->flow == CP_FLOW_END)
		return true;
	for (; insn && insn->nop; insn = insn_at(l->code, offset)) {
		wide |= insn->size > 1;
		offset += insn->size;
		if (offset >= end)
			return true;
		if (l->marks[offset] & LEADER)
			return wide;
	}
	return wide && !insn;
}

/* The address at which a block goes on that ends with this instruction. */
static uint64_t next_of(const struct cp_insn *insn)
{
	switch ((enum cp_flow)insn->flow) {
	case CP_FLOW_ON:
	case CP_FLOW_BRANCH:
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
		return insn->pc + insn->size;
	case CP_FLOW_JUMP:
		return insn->target;
	case CP_FLOW_JUMP_INDIRECT:
	case CP_FLOW_RETURN:
	case CP_FLOW_END:
		break;
	}
	return 0;
}

/* The blocks of one range. */
static bool add_range(struct cp_probe_blocks *to, struct leaders *l, size_t range)
{
	const struct cp_code *code = l->code;
	size_t at = code->offsets[range];
	size_t end = range + 1 < code->range_count ? code->offsets[range + 1] : code->bytes.count;
	const struct cp_insn *insn, *last = NULL;
	bool open = false;

	for (; at < end; at += insn ? insn->size : 1) {
		insn = insn_at(code, at);
		if (!insn) {
			open = false;
			continue;
		}
		if (!open || (l->marks[at] & LEADER)) {
			if (last && last->pc + last->size == insn->pc &&
			    last->flow == CP_FLOW_CALL && is_filler(l, at, end)) {
				open = false;
				continue;
			}
			if (!begin_block(to, code, at, insn) || !cp_vec_push(&l->nexts, 0))
				return false;
			to->blocks.items[to->blocks.count - 1].open =
				l->code->unknown_jumps || l->marks[at] & OPEN;
			open = true;
		}
		to->blocks.items[to->blocks.count - 1].size += insn->size;
		l->nexts.items[to->blocks.count - 1] = next_of(insn);
		if (insn->flow == CP_FLOW_BRANCH && !add_branch(to, code, at, insn))
			return false;
		open = insn->flow == CP_FLOW_ON;
		last = insn;
	}
	return true;
}

static bool add_all(struct cp_probe_blocks *to, struct leaders *l)
{
	size_t order[CP_PROBE_RANGES], i, k, swap;

	for (i = 0; i < l->code->range_count; i++) {
		order[i] = i;
		for (k = i;
		     k && l->code->ranges[order[k]].start < l->code->ranges[order[k - 1]].start;
		     k--) {
			swap = order[k];
			order[k] = order[k - 1];
			order[k - 1] = swap;
		}
	}
	for (i = 0; i < l->code->range_count; i++) {
		if (!add_range(to, l, order[i]))
			return false;
	}
	return true;
}

/* ---- what blocks tell of branches ---- */

static uint32_t block_at(const struct cp_probe_blocks *blocks, uint64_t address)
{
	size_t low = 0, high = blocks->blocks.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (blocks->blocks.items[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < blocks->blocks.count && blocks->blocks.items[low].address == address)
		return (uint32_t)low;
	return CP_NO_BLOCK;
}

/* The block that is reached in one way alone. */
static uint32_t only_way(const struct cp_probe_blocks *blocks, const struct leaders *l,
			 uint64_t address)
{
	uint32_t found;
	size_t offset;

	if (!cp_code_offset(l->code, address, &offset) || (l->marks[offset] & WAYS) != 1)
		return CP_NO_BLOCK;
	found = block_at(blocks, address);
	return found != CP_NO_BLOCK && blocks->blocks.items[found].insn_size ? found : CP_NO_BLOCK;
}

/* Turns the addresses that blocks lead to into numbers of blocks. */
static void tell_ways(struct cp_probe_blocks *blocks, const struct leaders *l)
{
	struct cp_probe_branch *b;
	size_t i;

	/* CP_NO_BLOCK + 1 is 0. */
	for (i = 0; i < blocks->blocks.count; i++) {
		bool follows = i + 1 < blocks->blocks.count &&
			       blocks->blocks.items[i + 1].address == l->nexts.items[i];

		blocks->blocks.items[i].next =
			(follows ? (uint32_t)i + 1 : block_at(blocks, l->nexts.items[i])) + 1;
	}
	cp_vec_for_each(&blocks->branches, b)
		b->target_block = block_at(blocks, b->target) + 1;
}

/* The block that has the instruction at `address`; CP_NO_BLOCK. */
static uint32_t block_with(const struct cp_probe_blocks *blocks, uint64_t address)
{
	size_t n = cp_vec_partition(&blocks->blocks, b, b->address <= address);

	return n && address - blocks->blocks.items[n - 1].address < blocks->blocks.items[n - 1].size
		       ? (uint32_t)n - 1
		       : CP_NO_BLOCK;
}

/* The address of the byte at `offset`. */
static uint64_t address_of(const struct cp_code *code, size_t offset)
{
	size_t i = code->range_count;

	while (i > 1 && code->offsets[i - 1] > offset)
		i--;
	return code->ranges[i - 1].start + (offset - code->offsets[i - 1]);
}

static bool tell_cases(struct cp_probe_blocks *blocks, const struct cp_code *code)
{
	const struct cp_code_case *one;

	cp_vec_for_each(&code->cases, one) {
		struct cp_probe_case way = {
			block_with(blocks, code->insns.items[one->jump].pc),
			block_at(blocks, address_of(code, one->offset)),
		};

		if (way.to == CP_NO_BLOCK)
			continue;
		if (way.from == CP_NO_BLOCK)
			blocks->blocks.items[way.to].open = true;
		else if (!cp_vec_push(&blocks->cases, way))
			return false;
	}
	return true;
}

/* Where direct jumps and calls lead out of the function. */
static bool tell_outside(struct cp_probe_blocks *blocks, const struct cp_code *code)
{
	size_t i, offset;

	for (i = 0; i < code->insns.count; i++) {
		const struct cp_insn *insn = &code->insns.items[i];
		bool leads = insn->flow == CP_FLOW_BRANCH || insn->flow == CP_FLOW_JUMP ||
			     insn->flow == CP_FLOW_CALL;

		if (leads && code->marks.items[i] & CP_CODE_REACHED &&
		    !cp_code_offset(code, insn->target, &offset) &&
		    !cp_vec_push(&blocks->outside, insn->target))
			return false;
	}
	return true;
}

static void tell_branches(struct cp_probe_blocks *blocks, const struct leaders *l)
{
	struct cp_probe_branch *b;

	cp_vec_for_each(&blocks->branches, b) {
		/* A jump that is computed may lead anywhere. */
		if (l->code->unknown_jumps)
			return;
		b->taken_block = only_way(blocks, l, b->target);
		b->passed_block = only_way(blocks, l, b->address + b->size);
	}
}

/* No breakpoint may stand at a branch of a restartable sequence. */
static void keep_sequences(struct cp_probe_blocks *blocks, const struct cp_code *code)
{
	struct cp_probe_branch *b;

	cp_vec_for_each(&blocks->branches, b)
		if (cp_probe_in_sequence(code->functions, b->address, b->size))
			b->size = 0;
}

/* ---- the door ---- */

/* The entry's block alone: nothing more is known. */
static CP_ERROR entry_alone(struct cp_probe_blocks *to, const struct cp_code *code,
			    const struct cp_probe_function *function, bool may_stand,
			    const char *why)
{
	const struct cp_insn *insn = NULL;
	size_t offset = 0;
	bool ok;

	to->blocks.count = to->branches.count = to->cases.count = to->outside.count = 0;
	to->entry = 0;
	to->complete = false;
	to->why_text = why;
	if (may_stand && cp_code_offset(code, function->address, &offset))
		insn = insn_at(code, offset);
	if (insn)
		ok = begin_block(to, code, offset, insn);
	else
		ok = cp_vec_push(&to->blocks, (struct cp_probe_block){ function->address });
	return ok ? NULL : cp_error_nomem();
}

static CP_ERROR find(struct cp_probe_blocks *to, struct cp_code *code,
		     const struct cp_probe_function *function)
{
	struct leaders l = { .code = code };
	const char *why;
	size_t offset;
	bool ok;

	if (!cp_code_offset(code, function->address, &offset))
		return entry_alone(to, code, function, false,
				   "there are no bytes of it in the file");
	why = cp_code_withheld(code, function);
	if (why)
		return entry_alone(to, code, function, false, why);
	if (code->trouble)
		return entry_alone(to, code, function, true, code->trouble);
	l.marks = calloc(code->bytes.count, 1);
	if (!l.marks)
		return cp_error_nomem();
	mark_all(&l, function);
	ok = add_all(to, &l) && tell_cases(to, code) && tell_outside(to, code);
	if (ok) {
		tell_ways(to, &l);
		tell_branches(to, &l);
		keep_sequences(to, code);
	}
	free(l.marks);
	cp_vec_free(&l.nexts);
	if (!ok)
		return cp_error_nomem();
	to->entry = block_at(to, function->address);
	if (to->entry == CP_NO_BLOCK)
		return entry_alone(to, code, function, false, "its first bytes are no instruction");
	return NULL;
}

CP_ERROR cp_probe_blocks_find(struct cp_code *code, struct cp_decoder *decoder,
			      const struct cp_reader *memory,
			      const struct cp_probe_functions *functions,
			      const struct cp_probe_function *function, struct cp_probe_blocks *ret)
{
	ret->blocks.count = ret->branches.count = ret->cases.count = ret->outside.count = 0;
	ret->complete = true;
	ret->why_text = "";
	code->for_blocks = true;
	CP_TRY(cp_code_follow(code, decoder, memory, functions, function));
	return find(ret, code, function);
}

void cp_probe_blocks_free(struct cp_probe_blocks *blocks)
{
	cp_vec_free(&blocks->blocks);
	cp_vec_free(&blocks->branches);
	cp_vec_free(&blocks->cases);
	cp_vec_free(&blocks->outside);
}
