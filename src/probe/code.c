/* SPDX-License-Identifier: MIT
 *
 * First all ranges are decoded from their beginning on, one instruction after
 * another. Then the code is followed: from the entry along every jump.
 *
 *     decoded   ┌─mov─┬─je──┬─ret─┬─add─┬─(bad)─┬─call──┬─jmp─┐
 *     followed    ►     ►     ►                   ?       ?
 *
 * What nothing leads to is an exception handler, the target of a jump that is
 * computed, or data. It counts as code when it decodes cleanly, flows nowhere
 * strange, and its jumps and calls lead to where instructions and functions
 * begin. A `ret` in data must not get a breakpoint; one in a handler must.
 */
#include "probe/code.h"

#include <string.h>

#define MAX_CODE (UINT64_C(8) << 20) /* bytes of a function */
#define MAX_INSN 16
#define MAX_UNKNOWN_JUMPS 8
#define MAX_TABLE_WORK (UINT64_C(256) << 20) /* bytes of code looked at for tables */
#define WINDOW 1024 /* bytes of a table read at once */
#define MAX_TARGETS 8192 /* of a jump table */

static const char too_large[] = "it is too large to be looked through";
static const char no_instruction[] = "it leads to bytes that are no instruction";
static const char has_data[] = "there is data among its instructions, and a jump that is computed";
static const char in_the_middle[] = "it jumps into the middle of another function";
static const char falls_through[] = "it goes on in the function that follows";
static const char many_jumps[] = "it has many jumps that are computed";
static const char many_parts[] = "it is in too many parts";

static void give_up(struct cp_code *c, const char *why)
{
	if (!c->trouble)
		c->trouble = why;
}

/* Notes a trouble that matters only where every exit is to be seen. */
static void give_up_exits(struct cp_code *c, const char *why)
{
	if (!c->for_blocks)
		give_up(c, why);
}

bool cp_code_offset(const struct cp_code *code, uint64_t address, size_t *ret)
{
	size_t i;

	for (i = 0; i < code->range_count; i++) {
		if (address >= code->ranges[i].start && address < code->ranges[i].end) {
			*ret = code->offsets[i] + (size_t)(address - code->ranges[i].start);
			return true;
		}
	}
	return false;
}

static size_t range_of(const struct cp_code *c, size_t offset)
{
	size_t i = c->range_count;

	while (i-- > 1 && offset < c->offsets[i])
		;
	return i;
}

/* ---- decoding ---- */

/* The instruction at `offset`, at most up to the end of its range. */
static bool decode(struct cp_code *c, size_t offset, size_t range, struct cp_insn *ret)
{
	const struct cp_probe_range *r = &c->ranges[range];
	size_t within = offset - c->offsets[range];

	return cp_decode(c->decoder, c->bytes.items + offset, (size_t)(r->end - r->start) - within,
			 r->start + within, ret) &&
	       ret->size;
}

static bool add_insn(struct cp_code *c, size_t offset, const struct cp_insn *insn)
{
	if (!cp_vec_push(&c->insns, *insn) || !cp_vec_push(&c->marks, 0))
		return false;
	c->starts.items[offset] = (uint32_t)c->insns.count;
	return true;
}

static bool decode_range(struct cp_code *c, size_t range)
{
	size_t at = c->offsets[range], end = c->bytes.count;
	struct cp_insn insn;

	while (at < end) {
		if (!decode(c, at, range, &insn)) {
			at++;
			continue;
		}
		if (!add_insn(c, at, &insn))
			return false;
		at += insn.size;
	}
	return true;
}

/* Reads and decodes another piece of the function. False without memory. */
static bool add_range(struct cp_code *c, struct cp_probe_range range)
{
	size_t before = c->bytes.count, size = (size_t)(range.end - range.start);

	if (c->range_count == CP_PROBE_RANGES) {
		give_up_exits(c, many_parts);
		return true;
	}
	if (range.end <= range.start || range.end - range.start > MAX_CODE - before) {
		give_up(c, too_large);
		return true;
	}
	if (!cp_vec_reserve(&c->bytes, before + size) || !cp_vec_reserve(&c->starts, before + size))
		return false;
	size = c->memory->read(c->memory->ctx, range.start, c->bytes.items + before, size);
	if (size < range.end - range.start)
		give_up(c, no_instruction);
	if (!size)
		return true;
	memset(c->starts.items + before, 0, size * sizeof(*c->starts.items));
	c->bytes.count = c->starts.count = before + size;
	c->ranges[c->range_count] = (struct cp_probe_range){ range.start, range.start + size };
	c->offsets[c->range_count++] = before;
	return decode_range(c, c->range_count - 1);
}

/* ---- following ---- */

/* Kinds of addresses outside of the function. */
enum outside { AN_ENTRY, A_MIDDLE, A_PART, UNKNOWN };

static enum outside look_outside(const struct cp_code *c, uint64_t address,
				 struct cp_probe_range *part_ret)
{
	const struct cp_probe_functions *all = c->functions;
	const struct cp_probe_function *f;
	size_t low = 0, high, mid;

	if (!all)
		return UNKNOWN;
	for (high = all->parts.count; low < high;) {
		mid = low + (high - low) / 2;
		if (all->parts.items[mid].range.start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && address < all->parts.items[low - 1].range.end) {
		*part_ret = all->parts.items[low - 1].range;
		return A_PART;
	}
	f = cp_probe_functions_find(all, address);
	if (!f)
		return UNKNOWN;
	if (f->address == address)
		return AN_ENTRY;
	/* Between unnamed pieces compilers jump as they like: exception handlers
	 * into the unlikely part of their function, and back. */
	if (!(f->flags & CP_PROBE_UNNAMED))
		return A_MIDDLE;
	*part_ret = f->ranges[0];
	return A_PART;
}

/* Where calls are seen: the entry, or behind its landing pad, where a detour begins. */
static bool is_entry(const struct cp_code *c, uint64_t target)
{
	const struct cp_insn *first = c->insns.items;

	return target == c->function->address ||
	       (c->insns.count && first->landing_pad && first->pc == c->function->address &&
		target == first->pc + first->size);
}

/* Control goes to `target`. */
static bool go_to(struct cp_code *c, uint64_t target)
{
	struct cp_probe_range part;
	size_t offset = 0;

	c->loops |= is_entry(c, target);
	if (!cp_code_offset(c, target, &offset)) {
		switch (look_outside(c, target, &part)) {
		case A_MIDDLE:
			give_up_exits(c, in_the_middle);
			return true;
		case A_PART:
			if (!add_range(c, part))
				return false;
			if (!cp_code_offset(c, target, &offset))
				return true;
			break;
		case AN_ENTRY:
		case UNKNOWN:
			return true; /* a tail call */
		}
	}
	return cp_vec_push(&c->todo, (uint32_t)offset);
}

/* Tables are read entry by entry: not each with a system call. */
struct window {
	const struct cp_reader *memory;
	uint64_t start;
	size_t size;
	uint8_t bytes[WINDOW];
};

static size_t read_window(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	struct window *w = ctx;

	if (size > sizeof(w->bytes))
		return w->memory->read(w->memory->ctx, addr, buffer, size);
	if (addr < w->start || addr - w->start > w->size || size > w->size - (addr - w->start)) {
		w->start = addr;
		w->size = w->memory->read(w->memory->ctx, addr, w->bytes, sizeof(w->bytes));
	}
	if (size > w->size - (addr - w->start))
		size = w->size - (addr - w->start);
	memcpy(buffer, w->bytes + (addr - w->start), size);
	return size;
}

/* An indirect jump: to the cases of a switch, or to who knows where. */
static bool go_indirect(struct cp_code *c, size_t range, size_t number)
{
	const struct cp_probe_range r = c->ranges[range];
	struct window window = { .memory = c->memory };
	struct cp_reader memory = { read_window, &window };
	uint64_t pc = c->insns.items[number].pc;
	size_t count = 0, i, offset;
	bool inside = true;

	c->table_work += r.end - r.start;
	if (c->table_work > MAX_TABLE_WORK)
		give_up(c, too_large);
	if (c->function->kind == CP_PROBE_PLT || c->trouble ||
	    c->unknown_jumps > MAX_UNKNOWN_JUMPS) {
		c->unknown_jumps++;
		return true;
	}
	if (!cp_vec_reserve(&c->targets, MAX_TARGETS))
		return false;
	if (!cp_jump_table(c->decoder, c->bytes.items + c->offsets[range],
			   (size_t)(r.end - r.start), r.start, pc, &memory, c->targets.items,
			   MAX_TARGETS, &count)) {
		/* So many computed jumps are an interpreter's: each would cost a
		 * stop, and looking for its table takes long. */
		if (++c->unknown_jumps > MAX_UNKNOWN_JUMPS)
			give_up_exits(c, many_jumps);
		return true;
	}
	for (i = 0; i < count; i++) {
		if (!go_to(c, c->targets.items[i]))
			return false;
	}
	for (i = 0; i < count; i++) {
		inside &= cp_code_offset(c, c->targets.items[i], &offset);
		if (inside && !cp_vec_push(&c->cases, (struct cp_code_case){ (uint32_t)number,
									     (uint32_t)offset }))
			return false;
	}
	if (inside && count)
		c->marks.items[number] |= CP_CODE_TABLE;
	return true;
}

/* Goes on behind the instruction that ends at `offset`. */
static bool go_on(struct cp_code *c, size_t range, size_t offset, const struct cp_insn *insn)
{
	const struct cp_probe_range *r = &c->ranges[range];
	uint64_t next = insn->pc + insn->size;

	if (next < r->end)
		return cp_vec_push(&c->todo, (uint32_t)offset);
	/* The function that is called does not return. */
	if (insn->flow == CP_FLOW_CALL || insn->flow == CP_FLOW_CALL_INDIRECT ||
	    insn->flow == CP_FLOW_SYSCALL)
		return true;
	if (cp_code_offset(c, next, &offset))
		return cp_vec_push(&c->todo, (uint32_t)offset);
	give_up_exits(c, falls_through);
	return true;
}

static bool visit(struct cp_code *c, size_t offset)
{
	size_t range = range_of(c, offset), number;
	struct cp_insn insn;

	if (!c->starts.items[offset]) {
		/* The code leads to the middle of another instruction, or among bad
		 * bytes. */
		if (!decode(c, offset, range, &insn)) {
			give_up(c, no_instruction);
			return true;
		}
		c->overlaps = true;
		if (!add_insn(c, offset, &insn))
			return false;
	}
	number = c->starts.items[offset] - 1;
	if (c->marks.items[number] & CP_CODE_REACHED)
		return true;
	c->marks.items[number] |= CP_CODE_REACHED;
	insn = c->insns.items[number];
	switch ((enum cp_flow)insn.flow) {
	case CP_FLOW_RETURN:
	case CP_FLOW_END:
		return true;
	case CP_FLOW_JUMP:
		return go_to(c, insn.target);
	case CP_FLOW_JUMP_INDIRECT:
		return go_indirect(c, range, number);
	case CP_FLOW_BRANCH:
		if (!go_to(c, insn.target))
			return false;
		break;
	case CP_FLOW_ON:
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
		break;
	}
	return go_on(c, range, offset + insn.size, &insn);
}

static bool follow(struct cp_code *c)
{
	while (c->todo.count && !c->trouble) {
		if (!visit(c, c->todo.items[--c->todo.count]))
			return false;
	}
	return true;
}

/* ---- what only the unwinder leads to ---- */

static size_t first_pad(const struct cp_probe_functions *all, uint64_t address)
{
	size_t low = 0, high = all->pad_count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (all->pads[mid] < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Landing pads. A table may be wrong: only those where an instruction begins. */
static bool follow_pads(struct cp_code *c)
{
	const struct cp_probe_functions *all = c->functions;
	size_t range, i;

	for (range = 0; range < c->range_count; range++) {
		const struct cp_probe_range r = c->ranges[range];

		for (i = first_pad(all, r.start); i < all->pad_count && all->pads[i] < r.end; i++) {
			size_t offset = c->offsets[range] + (size_t)(all->pads[i] - r.start);

			if (c->starts.items[offset] &&
			    (!cp_vec_push(&c->others, (uint32_t)offset) ||
			     !cp_vec_push(&c->todo, (uint32_t)offset)))
				return false;
		}
		if (!follow(c))
			return false;
	}
	return true;
}

/* ---- what nothing leads to ---- */

bool cp_code_shared_byte(const struct cp_code *c, size_t offset)
{
	size_t least, at = offset, number;

	if (!c->overlaps)
		return false;
	least = c->offsets[range_of(c, offset)];
	while (at > least && offset - at < MAX_INSN) {
		number = c->starts.items[--at];
		if (number && (c->marks.items[number - 1] & CP_CODE_REACHED) &&
		    at + c->insns.items[number - 1].size > offset)
			return true;
	}
	return false;
}

/* A jump or call leads to where an instruction or a function begins. */
static bool leads_somewhere(const struct cp_code *c, const struct cp_insn *insn)
{
	struct cp_probe_range part;
	size_t offset;

	if (insn->flow != CP_FLOW_JUMP && insn->flow != CP_FLOW_BRANCH &&
	    insn->flow != CP_FLOW_CALL)
		return true;
	if (cp_code_offset(c, insn->target, &offset))
		return c->starts.items[offset] != 0;
	if (!c->functions)
		return true;
	switch (look_outside(c, insn->target, &part)) {
	case AN_ENTRY:
	case A_PART:
		return true;
	case A_MIDDLE:
		/* Back to the function whose part this is, which nothing tells. */
		return c->function->flags & CP_PROBE_UNNAMED;
	case UNKNOWN:
		/* A function that no name and no frame tells of. */
		return insn->flow == CP_FLOW_CALL;
	}
	return false;
}

/* Zeros decode, as `add %al,(%rax)`, and nobody writes that. */
static bool is_zeros(const struct cp_code *c, size_t offset, const struct cp_insn *insn)
{
	size_t i;

	for (i = 0; i < insn->size && !c->bytes.items[offset + i]; i++)
		;
	return i == insn->size;
}

/* A run of instructions that nothing leads to. */
struct run {
	size_t start, end; /* offsets */
	bool padding; /* nothing but that */
	bool code;
};

static bool flows_on(const struct cp_insn *insn)
{
	return insn->flow == CP_FLOW_ON || insn->flow == CP_FLOW_BRANCH;
}

/* A byte of the range that is in no instruction. */
static bool is_bad(const struct cp_code *c, size_t offset, size_t end)
{
	size_t least, at, number;

	if (offset >= end)
		return false;
	least = c->offsets[range_of(c, offset)];
	for (at = offset + 1; at-- > least && offset - at < MAX_INSN;) {
		number = c->starts.items[at];
		if (number && at + c->insns.items[number - 1].size > offset)
			return false;
	}
	return true;
}

static void look_at_run(const struct cp_code *c, size_t start, size_t end, struct run *ret)
{
	const struct cp_insn *insn = NULL;
	size_t at = start, number;

	*ret = (struct run){ .start = start, .padding = true, .code = true };
	for (; at < end && (number = c->starts.items[at]); at += insn->size) {
		if (c->marks.items[number - 1] & CP_CODE_REACHED)
			break;
		insn = &c->insns.items[number - 1];
		ret->padding &= insn->nop || insn->flow == CP_FLOW_END;
		ret->code &= leads_somewhere(c, insn) && !is_zeros(c, at, insn) &&
			     !cp_code_shared_byte(c, at);
	}
	ret->end = at;
	if (insn && flows_on(insn) && at >= end)
		ret->code = false;
	if ((start && start - 1 >= c->offsets[range_of(c, start)] && is_bad(c, start - 1, end)) ||
	    is_bad(c, at, end))
		ret->code = false;
}

/* Takes all of a run for code. Handlers begin at its start and behind padding. */
static bool take_run(struct cp_code *c, const struct run *run)
{
	const struct cp_insn *insn = NULL;
	size_t at = run->start;

	for (; at < run->end; at += insn->size) {
		if ((!insn || insn->nop) && !cp_vec_push(&c->others, (uint32_t)at))
			return false;
		if (!cp_vec_push(&c->todo, (uint32_t)at))
			return false;
		insn = &c->insns.items[c->starts.items[at] - 1];
	}
	return true;
}

/* Looks through one range for what was not reached. *progress_ret: something
 * was taken for code, and is to be followed. */
static bool take_rest(struct cp_code *c, size_t range, bool *progress_ret, bool *data_ret)
{
	size_t at = c->offsets[range], number;
	size_t end = range + 1 < c->range_count ? c->offsets[range + 1] : c->bytes.count;
	struct run run;

	while (at < end) {
		number = c->starts.items[at];
		if (number && (c->marks.items[number - 1] & CP_CODE_REACHED)) {
			at += c->insns.items[number - 1].size;
			continue;
		}
		if (!number) {
			*data_ret |= !cp_code_shared_byte(c, at);
			at++;
			continue;
		}
		look_at_run(c, at, end, &run);
		at = run.end > at ? run.end : at + 1;
		if (run.padding)
			continue;
		*data_ret |= !run.code;
		if (!run.code || (*data_ret && c->for_blocks))
			continue;
		*progress_ret = true;
		if (!take_run(c, &run))
			return false;
	}
	return true;
}

static bool follow_rest(struct cp_code *c)
{
	bool progress = true, data = false;
	size_t i, rounds;

	for (rounds = 0; progress && rounds < 64 && !c->trouble; rounds++) {
		progress = data = false;
		for (i = 0; i < c->range_count; i++) {
			if (!take_rest(c, i, &progress, &data))
				return false;
		}
		if (!follow(c))
			return false;
	}
	if (data && c->unknown_jumps)
		give_up_exits(c, has_data);
	return true;
}

/* ---- what is left alone ---- */

static bool has_name(const struct cp_probe_function *function, const char *prefix)
{
	return !strncmp(function->linkage_name, prefix, strlen(prefix));
}

const char *cp_code_withheld(const struct cp_code *code, const struct cp_probe_function *function)
{
	const uint8_t *bytes = code->bytes.items;
	size_t size = code->bytes.count, skip;

	/* Call frame information begins one byte early, for the unwinder. */
	for (skip = 0; skip < 2 && skip < size; skip++) {
		if (cp_arch_x86_64.is_sigreturn(bytes + skip, size - skip) ||
		    cp_arch_aarch64.is_sigreturn(bytes + skip, size - skip))
			return "the kernel and unwinders know it by its bytes";
	}
	if (has_name(function, "_dl_runtime_resolve") || has_name(function, "_dl_runtime_profile"))
		return "its caller leaves more on the stack than a return address";
	return NULL;
}

/* ---- the door ---- */

static void clear(struct cp_code *c)
{
	c->bytes.count = c->starts.count = c->insns.count = c->marks.count = c->todo.count = 0;
	c->others.count = c->cases.count = 0;
	c->range_count = c->unknown_jumps = 0;
	c->trouble = NULL;
	c->loops = c->overlaps = false;
	c->table_work = 0;
}

CP_ERROR cp_code_follow(struct cp_code *code, struct cp_decoder *decoder,
			const struct cp_reader *memory, const struct cp_probe_functions *functions,
			const struct cp_probe_function *function)
{
	size_t i, offset;
	bool ok = true;

	clear(code);
	code->decoder = decoder;
	code->memory = memory;
	code->functions = functions;
	code->function = function;
	for (i = 0; ok && i < function->range_count && i < CP_PROBE_RANGES; i++)
		ok = add_range(code, function->ranges[i]);
	if (ok && cp_code_offset(code, function->address, &offset))
		ok = cp_vec_push(&code->todo, (uint32_t)offset) && follow(code) &&
		     (!code->for_blocks || !functions || follow_pads(code)) &&
		     /* The rest of a stub is for the dynamic linker. */
		     (function->kind == CP_PROBE_PLT || follow_rest(code));
	return ok ? NULL : cp_error_nomem();
}

void cp_code_free(struct cp_code *code)
{
	cp_vec_free(&code->bytes);
	cp_vec_free(&code->starts);
	cp_vec_free(&code->insns);
	cp_vec_free(&code->marks);
	cp_vec_free(&code->todo);
	cp_vec_free(&code->targets);
	cp_vec_free(&code->others);
	cp_vec_free(&code->cases);
}
