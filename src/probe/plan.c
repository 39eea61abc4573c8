/* SPDX-License-Identifier: MIT
 *
 * From followed code to sites. What leaves a function:
 *
 *     ret                     returns
 *     jmp, je to outside      tail call, of another function's entry; an
 *                             unlikely part of its own is no outside
 *     jmp *%rax               decided at the stop, unless it is a switch
 *
 * Where code jumps into the middle of another function, or runs on into the
 * next one (hand-written assembly), what is there belongs to both, and its
 * `ret` can't be told to be this function's: the exit is then seen at the
 * return address. So is that of an interpreter's loop, whose computed jumps
 * would each cost a stop, and that of a stub, whose call lasts until what it
 * leads to returns.
 */
#include "probe/plan.h"

#include <string.h>

#include "probe/code.h"
#include "probe/library_calls.h"
#include "probe/sequences.h"

#define SLOT_DISTANCE (UINT64_C(1) << 20) /* as slots will be: not far away */

static bool add_site(struct cp_probe_plan *plan, const struct cp_code *code, size_t offset,
		     const struct cp_insn *insn, enum cp_probe_site_kind kind)
{
	struct cp_probe_site site = { .address = insn->pc,
				      .kind = (uint8_t)kind,
				      .size = insn->size };

	memcpy(site.code, code->bytes.items + offset,
	       insn->size < sizeof(site.code) ? insn->size : sizeof(site.code));
	return cp_vec_push(&plan->sites, site);
}

/* The way in which an instruction leaves the function; false when it does not. */
static bool leaves(const struct cp_code *code, size_t number, enum cp_probe_site_kind *ret)
{
	const struct cp_insn *insn = &code->insns.items[number];
	size_t offset;

	switch ((enum cp_flow)insn->flow) {
	case CP_FLOW_RETURN:
		*ret = CP_PROBE_SITE_RETURN;
		return true;
	case CP_FLOW_JUMP:
		*ret = CP_PROBE_SITE_TAIL;
		return !cp_code_offset(code, insn->target, &offset);
	case CP_FLOW_BRANCH:
		*ret = CP_PROBE_SITE_TAIL_CONDITIONAL;
		return !cp_code_offset(code, insn->target, &offset);
	case CP_FLOW_JUMP_INDIRECT:
		*ret = CP_PROBE_SITE_INDIRECT;
		return !(code->marks.items[number] & CP_CODE_TABLE);
	case CP_FLOW_ON:
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
	case CP_FLOW_END:
		break;
	}
	return false;
}

/* Can a breakpoint stand on the instruction at `offset`? */
static bool can_stop(const struct cp_code *code, size_t offset, const struct cp_insn *insn)
{
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	return cp_step_prepare(code->decoder, code->bytes.items + offset,
			       code->bytes.count - offset, insn->pc, insn->pc + SLOT_DISTANCE, slot,
			       &step) &&
	       step.how != CP_STEP_REFUSED;
}

/* Adds an exit; *trouble_ret: no breakpoint can stand there. */
static bool add_exit(struct cp_probe_plan *plan, const struct cp_code *code, size_t number,
		     const char **trouble_ret)
{
	const struct cp_insn *insn = &code->insns.items[number];
	enum cp_probe_site_kind kind;
	size_t offset = 0;
	bool in_sequence;

	if (!(code->marks.items[number] & CP_CODE_REACHED) || !leaves(code, number, &kind))
		return true;
	cp_code_offset(code, insn->pc, &offset);
	in_sequence = cp_probe_in_sequence(code->functions, insn->pc, insn->size);
	/* To where a restartable sequence goes that is not to be finished. */
	if (in_sequence && kind == CP_PROBE_SITE_TAIL_CONDITIONAL)
		return true;
	if (in_sequence)
		*trouble_ret = "one of its exits is in a restartable sequence";
	else if (cp_code_shared_byte(code, offset))
		*trouble_ret = "its instructions overlap";
	else if (!can_stop(code, offset, insn))
		*trouble_ret = "no breakpoint can stand at one of its exits";
	return add_site(plan, code, offset, insn, kind);
}

static int by_address(const void *a, const void *b)
{
	const struct cp_probe_site *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void decide(struct cp_probe_plan *plan, enum cp_probe_why why, const char *text)
{
	plan->why = why;
	plan->why_text = text;
	if (why != CP_PROBE_FULL && plan->sites.count > plan->entry_count)
		plan->sites.count = plan->entry_count;
}

/* Adds the calls without a stub: each is an entry. */
static CP_ERROR add_library_calls(struct cp_probe_plan *plan,
				  const struct cp_probe_functions *functions,
				  const struct cp_probe_function *function)
{
	size_t number = functions ? (size_t)(function - functions->items) : 0;
	size_t i = functions ? cp_probe_first_library_call(functions, number) : 0;

	for (; functions && i < functions->calls.count; i++) {
		const struct cp_probe_library_call *call = &functions->calls.items[i];
		struct cp_probe_site site = { .address = call->address,
					      .kind = CP_PROBE_SITE_ENTRY,
					      .size = call->size };

		if (call->function != number)
			break;
		memcpy(site.code, call->code, sizeof(site.code));
		if (!cp_vec_push(&plan->sites, site))
			return cp_error_nomem();
	}
	plan->entry_count = plan->sites.count;
	if (plan->entry_count)
		decide(plan, CP_PROBE_BY_RETURN, "what it leads to returns to its caller");
	else
		decide(plan, CP_PROBE_NO_CODE, "no call of it was found");
	return NULL;
}

static CP_ERROR add_exits(struct cp_probe_plan *plan, const struct cp_code *code)
{
	const char *trouble = code->trouble;
	size_t i;

	for (i = 0; !trouble && i < code->insns.count; i++) {
		if (!add_exit(plan, code, i, &trouble))
			return cp_error_nomem();
	}
	if (trouble) {
		decide(plan, CP_PROBE_BY_RETURN, trouble);
		return NULL;
	}
	if (plan->sites.count == 1) {
		decide(plan, CP_PROBE_NO_EXIT, "it never returns");
		return NULL;
	}
	qsort(plan->sites.items + 1, plan->sites.count - 1, sizeof(*plan->sites.items), by_address);
	return NULL;
}

static CP_ERROR make_plan(struct cp_probe_plan *plan, const struct cp_code *code,
			  const struct cp_probe_function *function)
{
	const struct cp_insn *first;
	const char *why;
	size_t offset;

	if (!cp_code_offset(code, function->address, &offset)) {
		decide(plan, CP_PROBE_NO_CODE, "there are no bytes of it in the file");
		return NULL;
	}
	why = cp_code_withheld(code, function);
	if (why) {
		decide(plan, CP_PROBE_WITHHELD, why);
		return NULL;
	}
	if (!code->starts.items[offset]) {
		decide(plan, CP_PROBE_REFUSED, "its first bytes are no instruction");
		return NULL;
	}
	first = &code->insns.items[code->starts.items[offset] - 1];
	if (cp_code_shared_byte(code, offset)) {
		decide(plan, CP_PROBE_REFUSED, "its first byte is in the middle of an instruction");
		return NULL;
	}
	if (cp_probe_in_sequence(code->functions, first->pc, first->size)) {
		decide(plan, CP_PROBE_REFUSED,
		       "its first instruction is in a restartable sequence");
		return NULL;
	}
	if (!can_stop(code, offset, first)) {
		decide(plan, CP_PROBE_REFUSED, "no breakpoint can stand on its first instruction");
		return NULL;
	}
	plan->loops = code->loops;
	if (!add_site(plan, code, offset, first, CP_PROBE_SITE_ENTRY))
		return cp_error_nomem();
	plan->entry_count = 1;
	return function->kind == CP_PROBE_PLT ? NULL : add_exits(plan, code);
}

CP_ERROR cp_probe_plan_function(struct cp_decoder *decoder, const struct cp_reader *memory,
				const struct cp_probe_functions *functions,
				const struct cp_probe_function *function,
				struct cp_probe_plan *plan)
{
	struct cp_code code = { 0 };
	struct cp_error *err;

	plan->why = CP_PROBE_FULL;
	plan->why_text = "";
	plan->loops = false;
	plan->sites.count = plan->entry_count = 0;
	memset(plan->ranges, 0, sizeof(plan->ranges));
	plan->range_count = 0;
	if (function->flags & CP_PROBE_SLOT)
		return add_library_calls(plan, functions, function);
	err = cp_code_follow(&code, decoder, memory, functions, function);
	if (!err)
		err = make_plan(plan, &code, function);
	if (!err && function->kind == CP_PROBE_PLT && plan->entry_count)
		err = add_library_calls(plan, functions, function);
	memcpy(plan->ranges, code.ranges, code.range_count * sizeof(*plan->ranges));
	plan->range_count = (uint32_t)code.range_count;
	cp_code_free(&code);
	return err;
}

void cp_probe_plan_free(struct cp_probe_plan *plan)
{
	cp_vec_free(&plan->sites);
}
