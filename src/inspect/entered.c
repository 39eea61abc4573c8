/* SPDX-License-Identifier: MIT
 *
 * Registers of a function's entry, long after: the caller's debug information says what
 * was passed, in terms of what the caller still has; that may be what the caller was
 * entered with itself, and so on. It tells also what was not passed, because the function
 * is a clone that does without it.
 *
 * Debug information is about the call that the caller makes there. The function on the
 * stack need not be the one that was called, which may have ended by jumping to it. So
 * the caller must have called this very function, which must be known never to come
 * back to itself by such jumps; or one that leads here by one jump and no other way, which
 * passes on what it was entered with itself, or constants.
 */
#include "inspect/entered.h"

#include <string.h>

#include "image/location.h"

#define CALLERS_MAX 8 /* looked at for one value */
#define CALL_MAX 16 /* bytes of a call's instruction, or more */

/* Evaluates `what` for the caller, whose call is under way. */
static bool compute(const struct cp_location_env *env, const struct cp_location *what,
		    uint64_t *ret)
{
	struct cp_located parts[CP_LOCATED_MAX];
	size_t count;

	if (!what->size ||
	    cp_location_evaluate(env, what->expr, what->size, parts, &count) != CP_LOCATION_OK ||
	    count != 1 || (parts->kind != CP_LOCATED_MEMORY && parts->kind != CP_LOCATED_VALUE))
		return false;
	*ret = parts->value;
	return true;
}

/* What the instruction before `from` calls, in its object. That counts whatever names the
 * function has. */
static bool called_directly(const struct cp_entered_place *from, uint64_t *target_ret)
{
	uint8_t code[CALL_MAX];
	struct cp_vaddr at = { from->address - sizeof(code) };

	*target_ret = 0;
	return cp_image_read_constant(from->image, at, code, sizeof(code)) == sizeof(code) &&
	       cp_arch_host()->call_before(code, sizeof(code), from->address, target_ret);
}

/* Is what `site` calls, from `from`, the function that `f` is in? */
static bool calls(const struct cp_call_site *site, const struct cp_location_env *env,
		  const struct cp_entered_place *from, const struct cp_entered_place *f,
		  uint64_t entry, const char *linkage_name)
{
	const struct cp_extent *e;
	uint64_t target;

	if (called_directly(from, &target) && from->object == f->object && target == entry)
		return true;
	for (e = site->callee; e; e = e->next)
		if (from->object == f->object && e->low == entry)
			return true;
	if (site->callee || site->callee_name)
		return !site->callee && linkage_name && !strcmp(site->callee_name, linkage_name);
	return compute(env, &site->target, &target) && target == entry + f->bias;
}

/* What frames[0] is in, which its caller's call may have entered: where it stands, the entry
 * of that function, and its linkage name or NULL. */
static bool function_of(const struct cp_callers *c, struct cp_entered_place *here_ret,
			uint64_t *entry_ret, const char **name_ret)
{
	const struct cp_frame *f = &c->frames[0];

	*name_ret = NULL;
	return !(c->frames[1].flags & CP_FRAME_EXACT_PC) && !(f->flags & CP_FRAME_GUESSED) &&
	       c->ops->place(c->ctx, f->pc.v - !(f->flags & CP_FRAME_EXACT_PC), here_ret) &&
	       c->ops->function(c->ctx, here_ret, entry_ret, name_ret);
}

/* The jump by which what was called from `caller` ended in the function at `entry`; NULL:
 * it is not known to be the only way. */
static const struct cp_call_site *jump_between(const struct cp_callers *c,
					       const struct cp_entered_place *caller,
					       const struct cp_entered_place *here, uint64_t entry)
{
	uint64_t called;

	if (caller->object != here->object || !called_directly(caller, &called) ||
	    called == entry || !c->ops->never_comes_back(c->ctx, here, entry))
		return NULL;
	return c->ops->tail_call(c->ctx, here, called, entry);
}

/* The call of the frame, which a return address is behind. */
static const struct cp_call_site *site_of(const struct cp_callers *c, const struct cp_frame *f,
					  struct cp_entered_place *ret)
{
	if (!c->ops->place(c->ctx, f->pc.v - !(f->flags & CP_FRAME_EXACT_PC), ret))
		return NULL;
	ret->address = f->pc.v - ret->bias;
	return c->ops->call_site(c->ctx, ret);
}

static void put(const struct cp_call_parameter *p, uint64_t value, struct cp_entered *ret)
{
	struct cp_passed *passed = &ret->passed;

	if (p->number < CP_REG_MAX) {
		ret->regs.r[p->number] = value;
		ret->regs.known |= UINT64_C(1) << p->number;
	} else if (p->number == CP_CALL_BY_DIE && passed->count < CP_PASSED_MAX) {
		passed->items[passed->count].die = p->die;
		passed->items[passed->count++].value = value;
	}
}

/* What `site` passes; `own`: to a function of the same object. */
static void put_all(const struct cp_call_site *site, const struct cp_location_env *env, bool own,
		    struct cp_entered *ret)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < site->count; i++)
		if ((site->parameters[i].number != CP_CALL_BY_DIE || own) &&
		    compute(env, &site->parameters[i].value, &value))
			put(&site->parameters[i], value, ret);
}

/* What frames[0] was entered with, by its caller, which was entered with `before`. */
static void passed(const struct cp_callers *c, const struct cp_entered *before,
		   struct cp_entered *ret)
{
	const struct cp_frame *f = &c->frames[1];
	struct cp_location_env env = {
		.arch = cp_arch_host(),
		.regs = &f->regs,
		.entry = &before->regs,
		.passed = &before->passed,
		.memory = c->stack,
		.cfa = f->cfa.v,
	};
	static const struct cp_regs none;
	const struct cp_call_site *site, *jump;
	const struct cp_location *base;
	struct cp_entered_place caller, here;
	struct cp_entered between;
	const char *name;
	uint64_t entry;
	bool direct;

	*ret = (struct cp_entered){ 0 };
	site = site_of(c, f, &caller);
	if (!site)
		return;
	env.bias = caller.bias;
	base = cp_location_at(&site->frame_base, caller.address - 1);
	if (base) {
		env.frame_base = base->expr;
		env.frame_base_size = base->size;
	}
	if (!function_of(c, &here, &entry, &name))
		return;
	direct = calls(site, &env, &caller, &here, entry, name);
	if (direct && !c->ops->never_comes_back(c->ctx, &here, entry))
		return;
	jump = direct ? NULL : jump_between(c, &caller, &here, entry);
	if (!direct && !jump)
		return;
	put_all(site, &env, here.object == caller.object, ret);
	if (!jump)
		return;
	between = *ret;
	*ret = (struct cp_entered){ 0 };
	env = (struct cp_location_env){ .arch = cp_arch_host(),
					.regs = &none,
					.entry = &between.regs,
					.passed = &between.passed,
					.bias = here.bias };
	put_all(jump, &env, true, ret);
}

/* Goes inwards from the outermost caller that is looked at. */
void cp_entered_find(const struct cp_callers *callers, struct cp_entered *ret)
{
	struct cp_callers c = *callers;
	struct cp_entered before = { 0 };
	size_t n = c.count < CALLERS_MAX ? c.count : CALLERS_MAX;

	*ret = before;
	while (n-- > 1) {
		c.frames = callers->frames + n - 1;
		c.count = callers->count - n + 1;
		passed(&c, &before, ret);
		before = *ret;
	}
}
