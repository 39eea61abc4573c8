/* SPDX-License-Identifier: MIT
 *
 * Exits: locals differ from one to the next, and so does what is captured there.
 */
#include "inspect/exits.h"

#include "inspect/locate.h"
#include "inspect/plan.h"

#define DESTRUCTOR_DEPTH 16
#define DESTRUCTOR_TYPES 1000 /* looked at for one variable */

/* At an exit the frame is torn down: registers that a call preserves are the
 * caller's again, and what lies above the stack pointer is, too. Debug
 * information (clang's most) does not always say so. */
static bool is_torn_down(const struct cp_signature *s, const struct cp_place *place)
{
	const struct cp_piece *p;
	unsigned i;

	for (i = 0; i < place->count; i++) {
		p = &place->pieces[i];
		if (p->where == CP_PIECE_MEMORY && p->number == s->arch->sp && p->offset >= 0)
			return true;
		if ((p->where == CP_PIECE_REGISTER || p->where == CP_PIECE_MEMORY ||
		     p->where == CP_PIECE_SUM) &&
		    p->number < s->arch->nregs && p->number != s->arch->sp &&
		    (s->arch->callee_saved >> p->number & 1))
			return true;
	}
	return false;
}

/* Does C++ destroy it: its class, or what it consists of? */
static bool has_destructor(const struct cp_signature *s, const struct cp_type *type, unsigned depth,
			   unsigned *left)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	while (t && t->kind == CP_TYPE_ARRAY)
		t = cp_type_strip(t->target);
	if (!t || t->kind != CP_TYPE_STRUCT || depth > DESTRUCTOR_DEPTH || !*left)
		return false;
	--*left;
	t = cp_type_complete(s->image, t);
	d = cp_type_details(t);
	for (i = 0; d && !(d->flags & CP_DETAILS_DESTRUCTOR) && i < d->member_count; i++)
		if (has_destructor(s, d->members[i].type, depth + 1, left))
			return true;
	return d && d->flags & CP_DETAILS_DESTRUCTOR;
}

/* Objects in the function's own frame are destroyed before it returns; one that is the
 * result is elsewhere. */
static bool is_destroyed(const struct cp_signature *s, const struct cp_parameter *local)
{
	const struct cp_piece *p = &local->place.pieces[0];
	unsigned left = DESTRUCTOR_TYPES;

	return cp_language_is_cplusplus(s->function.language) &&
	       local->place.how == CP_PLACE_DIRECT && local->place.count == 1 &&
	       p->where == CP_PIECE_MEMORY && p->number == s->arch->sp &&
	       has_destructor(s, local->type, 0, &left);
}

static bool place_locals(struct cp_signature *s, struct cp_exit *e)
{
	const struct cp_function_info *f = &s->function;
	struct cp_parameter *p;
	uint32_t i;

	e->locals = cp_arena_array(&s->arena, f->local_count, sizeof(*e->locals));
	for (i = 0; e->locals && i < f->local_count; i++) {
		if (!cp_variable_in_scope(&f->locals[i], e->site))
			continue;
		p = &e->locals[e->local_count++];
		p->name = f->locals[i].name;
		p->type = f->locals[i].type;
		p->source = CPROF_SOURCE_DWARF;
		if (f->locals[i].constant)
			cp_signature_set_constant(p, &f->locals[i]);
		else
			cp_locate(s, &f->locals[i], e->site, s->arch->ret_size, &p->place);
		if (is_destroyed(s, p))
			p->place.how = CP_PLACE_DESTROYED;
		else if (is_torn_down(s, &p->place))
			p->place.how = CP_PLACE_GONE;
		if (p->place.pieces[0].where == CP_PIECE_COMPUTED)
			p->place.pieces[0].number |= CP_COMPUTED_AT_EXIT;
		if (!cp_plan_parameter(s, s->image, p, &e->fetches, &e->flags))
			return false;
	}
	return e->locals != NULL;
}

const struct cp_exit *cp_exit_at(const struct cp_signature *signature, uint64_t site)
{
	/* Made once, by whoever makes the plan of the site. */
	struct cp_signature *s = (struct cp_signature *)(uintptr_t)signature;
	struct cp_exit *e;
	bool ok;
	size_t i;

	if (!(s->want & CP_SIGNATURE_LOCALS) || !s->function.local_count)
		return NULL;
	for (i = 0; i < s->exits.count; i++) {
		if (s->exits.items[i]->site == site)
			return s->exits.items[i];
	}
	e = cp_arena_alloc(&s->arena, sizeof(*e));
	if (!e)
		return NULL;
	e->site = site;
	ok = !(s->want & CP_SIGNATURE_RESULT) || !s->has_result ||
	     cp_plan_parameter(s, s->image, &s->result, &e->fetches, &e->flags);
	if (!ok || !place_locals(s, e) || !cp_plan_finish(&e->fetches) ||
	    !cp_vec_push(&s->exits, e)) {
		cp_vec_free(&e->fetches.list);
		return NULL;
	}
	return e;
}

struct cp_capture_list cp_signature_at_exit(const struct cp_signature *s, struct cp_vaddr site)
{
	const struct cp_exit *e = cp_exit_at(s, site.v);

	if (e)
		return (struct cp_capture_list){ e->flags, e->fetches.list.items,
						 e->fetches.list.count, e->fetches.beyond };
	return (struct cp_capture_list){ s->exit_flags, s->exit.list.items, s->exit.list.count,
					 s->exit.beyond };
}
