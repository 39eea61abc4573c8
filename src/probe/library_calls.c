/* SPDX-License-Identifier: MIT
 *
 * Calls of library functions without a stub, as compilers make them of -fno-plt:
 *
 *     call *0x2e76(%rip)       through the slot that is the function's
 *     mov 0x2f5b(%rip),%rbx    or from a register that has what the slot holds on
 *     call *%rbx               every way that leads there
 *
 * Only functions are decoded in which a glance finds the distance to a slot. Data
 * that look like such a call would need that very distance, behind the right
 * bytes, where the instructions before it end.
 *
 * What registers hold is followed along all jumps of a function. It counts only if
 * all of them are known: a jump that is computed may lead anywhere, but for those of
 * a switch. Handlers of exceptions begin with nothing known.
 */
#include "probe/library_calls.h"

#include <string.h>

#include "base/map.h"
#include "probe/code.h"

#define REGISTERS 16
#define LONGEST (UINT64_C(8) << 20) /* bytes of a function */

/* The contents of registers where a block begins: the number + 1 of the function
 * whose slot that is; 0: who knows. */
struct held {
	uint32_t reg[REGISTERS];
};

struct finding {
	struct cp_decoder *decoder;
	const struct cp_arch *arch;
	struct cp_image *image;
	struct cp_reader memory;
	struct cp_probe_functions *functions;
	struct cp_map names; /* hash of a name -> number of its PLT function */
	struct cp_map slots; /* address -> the same */
	uint64_t low, end; /* of the slots */
	CP_VEC(uint8_t) bytes;
	/* The function at hand. */
	struct cp_code code;
	CP_VEC(struct cp_moves) moves; /* of each instruction of `code` */
	CP_VEC(uint32_t) blocks; /* of each: number + 1 of the block it begins; 0: none */
	CP_VEC(struct held) held; /* of each block */
	CP_VEC(bool) seen; /* of each: something leads to it */
	CP_VEC(uint32_t) todo; /* instructions that begin blocks to go on at */
	bool failed; /* no memory */
};

/* ---- slots ---- */

static bool note_names(struct finding *f)
{
	const struct cp_probe_functions *all = f->functions;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const char *name = all->items[i].linkage_name;

		if (all->items[i].kind == CP_PROBE_PLT &&
		    !cp_map_put(&f->names, cp_hash_bytes(name, strlen(name)), i))
			return false;
	}
	return true;
}

/* The number of the function of that name with @plt. */
static const uint64_t *by_name(const struct finding *f, const char *name)
{
	char stub[2048];
	size_t size = strlen(name);
	const uint64_t *number;

	if (size + sizeof("@plt") > sizeof(stub))
		return NULL;
	memcpy(stub, name, size);
	memcpy(stub + size, "@plt", sizeof("@plt"));
	number = cp_map_get(&f->names, cp_hash_bytes(stub, size + 4));
	return number && !strcmp(f->functions->items[*number].linkage_name, stub) ? number : NULL;
}

static const uint64_t *by_resolver(const struct finding *f, uint64_t address)
{
	const struct cp_probe_function *resolver = cp_probe_functions_find(f->functions, address);
	const uint64_t *number;
	size_t i;

	if (!resolver || resolver->address != address || resolver->kind != CP_PROBE_IFUNC)
		return NULL;
	number = by_name(f, resolver->linkage_name);
	for (i = 0; !number && i < resolver->alias_count; i++)
		number = by_name(
			f, f->functions->aliases.items[resolver->first_alias + i].linkage_name);
	return number;
}

/* A cp_got_word_fn. */
static bool note_slot(void *ctx, const struct cp_got_word *word)
{
	struct finding *f = ctx;
	const uint64_t *number = NULL;

	if (word->name && word->elsewhere)
		number = by_name(f, word->name);
	else if (!word->name && word->resolver.v)
		number = by_resolver(f, word->resolver.v);
	if (!number)
		return true;
	if (word->at.v < f->low)
		f->low = word->at.v;
	if (word->at.v >= f->end)
		f->end = word->at.v + 1;
	f->failed |= !cp_map_put(&f->slots, word->at.v, *number);
	return !f->failed;
}

/* The number + 1 of the function whose slot is there; 0: none. */
static uint32_t at_slot(const struct finding *f, uint64_t address)
{
	const uint64_t *number = address ? cp_map_get(&f->slots, address) : NULL;

	return number ? (uint32_t)*number + 1 : 0;
}

static void add(struct finding *f, uint32_t function, const struct cp_insn *insn,
		const uint8_t *code)
{
	struct cp_probe_library_call call = {
		.address = insn->pc,
		.function = function - 1,
		.size = insn->size,
	};

	memcpy(call.code, code, insn->size < sizeof(call.code) ? insn->size : sizeof(call.code));
	f->failed |= !cp_vec_push(&f->functions->calls, call);
}

/* ---- at once ---- */

static bool goes_far(const struct cp_insn *insn)
{
	return insn->flow == CP_FLOW_CALL_INDIRECT || insn->flow == CP_FLOW_JUMP_INDIRECT;
}

/* Reads a range of code, and answers how its bytes may use slots: CP_USES_*. */
static unsigned read_range(struct finding *f, const struct cp_probe_range *range)
{
	uint64_t size = range->end - range->start;

	f->bytes.count = 0;
	if (range->end <= range->start || size > LONGEST)
		return 0;
	f->failed |= !cp_vec_reserve(&f->bytes, size);
	if (!f->failed)
		f->bytes.count = f->memory.read(f->memory.ctx, range->start, f->bytes.items, size);
	return f->bytes.count ? f->arch->uses_slots(f->bytes.items, f->bytes.count, range->start,
						    f->low, f->end)
			      : 0;
}

static void find_direct(struct finding *f, uint64_t start)
{
	struct cp_moves moves;
	struct cp_insn insn;
	size_t at, size;

	for (at = 0; at < f->bytes.count; at += size) {
		const uint8_t *code = f->bytes.items + at;
		uint32_t function;

		size = 1;
		if (!cp_decode(f->decoder, code, f->bytes.count - at, start + at, &insn))
			continue;
		size = insn.size;
		if (!goes_far(&insn))
			continue;
		cp_decode_moves(f->decoder, code, insn.size, insn.pc, &moves);
		function = at_slot(f, moves.slot);
		if (function)
			add(f, function, &insn, code);
	}
}

/* ---- by way of registers ---- */

/* The number of the instruction at an address; false: none of the function's. */
static bool insn_at(const struct finding *f, uint64_t address, uint32_t *ret)
{
	size_t offset;

	if (!cp_code_offset(&f->code, address, &offset) || !f->code.starts.items[offset])
		return false;
	*ret = f->code.starts.items[offset] - 1;
	return f->code.marks.items[*ret] & CP_CODE_REACHED;
}

static const uint8_t *bytes_of(const struct finding *f, uint32_t number)
{
	size_t offset = 0;

	cp_code_offset(&f->code, f->code.insns.items[number].pc, &offset);
	return f->code.bytes.items + offset;
}

/* The address of the instruction at an offset; 0: none begins there. */
static uint64_t address_of(const struct finding *f, uint32_t offset)
{
	uint32_t number = f->code.starts.items[offset];

	return number ? f->code.insns.items[number - 1].pc : 0;
}

static void begin_block(struct finding *f, uint64_t address)
{
	uint32_t number;

	if (!insn_at(f, address, &number) || f->blocks.items[number])
		return;
	f->failed |=
		!cp_vec_push(&f->held, (struct held){ { 0 } }) || !cp_vec_push(&f->seen, false);
	f->blocks.items[number] = (uint32_t)f->held.count;
}

/* Something leads there of which nothing is known. */
static void enter_unknown(struct finding *f, uint64_t address)
{
	uint32_t number;

	begin_block(f, address);
	if (f->failed || !insn_at(f, address, &number) ||
	    f->seen.items[f->blocks.items[number] - 1])
		return;
	f->seen.items[f->blocks.items[number] - 1] = true;
	f->failed |= !cp_vec_push(&f->todo, number);
}

/* Finds where blocks begin, and what each instruction does. */
static bool make_blocks(struct finding *f, const struct cp_probe_function *function)
{
	const struct cp_code *code = &f->code;
	size_t i, count = code->insns.count, k;
	const struct cp_code_case *one;

	f->moves.count = f->blocks.count = f->held.count = f->seen.count = f->todo.count = 0;
	if (!count || !cp_vec_reserve(&f->moves, count) || !cp_vec_reserve(&f->blocks, count))
		return false;
	memset(f->blocks.items, 0, count * sizeof(*f->blocks.items));
	for (i = 0; i < count; i++) {
		const struct cp_insn *insn = &code->insns.items[i];

		if (!(code->marks.items[i] & CP_CODE_REACHED))
			continue;
		cp_decode_moves(f->decoder, bytes_of(f, (uint32_t)i), insn->size, insn->pc,
				&f->moves.items[i]);
		if (insn->flow == CP_FLOW_JUMP || insn->flow == CP_FLOW_BRANCH)
			begin_block(f, insn->target);
		if (insn->landing_pad)
			enter_unknown(f, insn->pc);
	}
	enter_unknown(f, function->address);
	cp_vec_for_each(&code->cases, one)
		begin_block(f, address_of(f, one->offset));
	for (k = 0; k < code->others.count; k++)
		enter_unknown(f, address_of(f, code->others.items[k]));
	return !f->failed;
}

/* Something leads to a block with that in registers. */
static void arrive(struct finding *f, uint64_t address, const struct held *held)
{
	struct held *there;
	uint32_t number, block;
	bool changed;
	size_t i;

	if (!insn_at(f, address, &number) || !f->blocks.items[number])
		return;
	block = f->blocks.items[number] - 1;
	there = &f->held.items[block];
	changed = !f->seen.items[block];
	if (changed)
		*there = *held;
	f->seen.items[block] = true;
	for (i = 0; i < REGISTERS; i++) {
		if (there->reg[i] && there->reg[i] != held->reg[i]) {
			there->reg[i] = 0;
			changed = true;
		}
	}
	if (changed)
		f->failed |= !cp_vec_push(&f->todo, number);
}

static void arrive_at_cases(struct finding *f, uint32_t jump, const struct held *held)
{
	const struct cp_code_case *one;

	cp_vec_for_each(&f->code.cases, one)
		if (one->jump == jump)
			arrive(f, address_of(f, one->offset), held);
}

static void execute(const struct finding *f, const struct cp_moves *moves, struct held *held)
{
	uint32_t moved = moves->from < REGISTERS ? held->reg[moves->from] : at_slot(f, moves->slot);
	size_t i;

	for (i = 0; i < REGISTERS; i++)
		if (moves->written >> i & 1)
			held->reg[i] = 0;
	if (moves->to < REGISTERS)
		held->reg[moves->to] = moved;
}

/* The target of a call or a jump by what registers hold: the number + 1 of the
 * function. */
static uint32_t target_of(const struct finding *f, const struct cp_moves *moves,
			  const struct held *held)
{
	return moves->from < REGISTERS ? held->reg[moves->from] : at_slot(f, moves->slot);
}

/* Executes one block. With `find`, when all is known: false, it leaves for who knows
 * where; calls by way of a register are added. */
static bool run_block(struct finding *f, uint32_t number, bool find)
{
	struct held held = f->held.items[f->blocks.items[number] - 1];
	const struct cp_code *code = &f->code;
	bool first = true;

	for (;; first = false) {
		const struct cp_insn *insn = &code->insns.items[number];
		const struct cp_moves *moves = &f->moves.items[number];
		uint32_t target = find && goes_far(insn) ? target_of(f, moves, &held) : 0;

		if (!first && f->blocks.items[number]) {
			if (!find)
				arrive(f, insn->pc, &held);
			return true;
		}
		if (target && moves->from < REGISTERS)
			add(f, target, insn, bytes_of(f, number));
		if (find && !target && insn->flow == CP_FLOW_JUMP_INDIRECT &&
		    !(code->marks.items[number] & CP_CODE_TABLE))
			return false;
		execute(f, moves, &held);
		if (!find && (insn->flow == CP_FLOW_BRANCH || insn->flow == CP_FLOW_JUMP))
			arrive(f, insn->target, &held);
		if (!find && code->marks.items[number] & CP_CODE_TABLE)
			arrive_at_cases(f, number, &held);
		if (insn->flow == CP_FLOW_JUMP || insn->flow == CP_FLOW_JUMP_INDIRECT ||
		    insn->flow == CP_FLOW_RETURN || insn->flow == CP_FLOW_END ||
		    !insn_at(f, insn->pc + insn->size, &number))
			return true;
	}
}

/* A computed jump is assumed to leave the function, and held against what it goes
 * through then: the first one to do otherwise would show. */
static void find_in_registers(struct finding *f, const struct cp_probe_function *function)
{
	size_t before = f->functions->calls.count, i;
	struct cp_error *err;

	f->code.for_blocks = true;
	err = cp_code_follow(&f->code, f->decoder, &f->memory, f->functions, function);
	f->failed |= err != NULL;
	cp_error_free(err);
	if (f->failed || f->code.trouble || f->code.overlaps || !make_blocks(f, function))
		return;
	while (f->todo.count && !f->failed)
		run_block(f, f->todo.items[--f->todo.count], false);
	for (i = 0; i < f->code.insns.count && !f->failed; i++) {
		uint32_t block = f->code.marks.items[i] & CP_CODE_REACHED ? f->blocks.items[i] : 0;

		if (block && f->seen.items[block - 1] && !run_block(f, (uint32_t)i, true)) {
			f->functions->calls.count = before;
			return;
		}
	}
}

/* ---- all of it ---- */

static void look_at(struct finding *f, const struct cp_probe_function *function)
{
	unsigned uses = 0;
	size_t i;

	for (i = 0; i < function->range_count && i < CP_PROBE_RANGES; i++) {
		unsigned here = read_range(f, &function->ranges[i]);

		uses |= here;
		if (here & CP_USES_GOES)
			find_direct(f, function->ranges[i].start);
	}
	if (uses & CP_USES_LOADS && !f->failed)
		find_in_registers(f, function);
}

static void look_at_all(struct finding *f)
{
	const struct cp_probe_functions *all = f->functions;
	const struct cp_probe_part *part;
	size_t i;

	for (i = 0; i < all->count && !f->failed; i++) {
		const struct cp_probe_function *function = &all->items[i];

		/* _start is left out: everything happens inside its call. */
		if (function->kind != CP_PROBE_PLT &&
		    function->address != cp_image_entry(f->image).v)
			look_at(f, function);
	}
	cp_vec_for_each(&all->parts, part) {
		if (!f->failed && read_range(f, &part->range) & CP_USES_GOES)
			find_direct(f, part->range.start);
	}
}

static int by_function(const void *a, const void *b)
{
	const struct cp_probe_library_call *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Code that is in several functions was looked at several times. */
static void tidy(struct cp_probe_functions *all)
{
	size_t i, kept = 0;

	cp_vec_sort(&all->calls, by_function);
	for (i = 0; i < all->calls.count; i++)
		if (!kept || by_function(&all->calls.items[kept - 1], &all->calls.items[i]) != 0)
			all->calls.items[kept++] = all->calls.items[i];
	all->calls.count = kept;
}

static const struct cp_arch *arch_of(const struct cp_image *image)
{
	return cp_image_machine(image) == cp_arch_x86_64.e_machine ? &cp_arch_x86_64 : NULL;
}

CP_ERROR cp_probe_find_library_calls(struct cp_decoder *decoder, struct cp_image *image,
				     struct cp_probe_functions *functions)
{
	struct finding f = {
		.decoder = decoder,
		.arch = arch_of(image),
		.image = image,
		.memory = cp_probe_file_reader(image),
		.functions = functions,
		.low = UINT64_MAX,
	};

	if (functions->calls_found)
		return NULL;
	functions->calls_found = true;
	if (f.arch && f.arch->uses_slots) {
		f.failed = !note_names(&f);
		if (f.names.count && !f.failed)
			cp_image_got(image, note_slot, &f);
		if (f.slots.count && !f.failed)
			look_at_all(&f);
	}
	tidy(functions);
	cp_map_free(&f.names);
	cp_map_free(&f.slots);
	cp_vec_free(&f.bytes);
	cp_vec_free(&f.moves);
	cp_vec_free(&f.blocks);
	cp_vec_free(&f.held);
	cp_vec_free(&f.seen);
	cp_vec_free(&f.todo);
	cp_code_free(&f.code);
	return f.failed ? cp_error_nomem() : NULL;
}

size_t cp_probe_first_library_call(const struct cp_probe_functions *functions, size_t number)
{
	return cp_vec_partition(&functions->calls, call, call->function < number);
}

bool cp_probe_is_entered(const struct cp_probe_functions *functions, size_t number)
{
	size_t first;

	if (!(functions->items[number].flags & CP_PROBE_SLOT))
		return true;
	first = cp_probe_first_library_call(functions, number);
	return first < functions->calls.count && functions->calls.items[first].function == number;
}
