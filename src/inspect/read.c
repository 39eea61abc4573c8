/* SPDX-License-Identifier: MIT
 *
 * What a function takes and gives, and where. Debug information says where
 * variables are once a function has set itself up; at its first instruction it
 * is often wrong (at -O0 it names stack slots that nothing was written to yet;
 * of a torture program's 219 arguments 163 were read wrong that way, none by
 * the calling convention). So the convention comes first, but for
 *
 *   1. constants: only debug information knows them;
 *   2. functions whose convention the compiler changed: clones, local ones
 *      where debug information disagrees about registers;
 *   3. languages with a convention of their own, as far as it says
 *      registers: at -O0 it has memory there, too (Rust: rust.c).
 *
 * A function that is marked as not called by the convention (DW_CC_nocall: its
 * callers are all known) gives nothing that could be known, and takes what debug
 * information says is there before its first instruction.
 *
 * Without debug information there are the registers that arguments are
 * passed in, and nobody knows how many of them mean something.
 */
#include "inspect/read.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/mangled.h"
#include "inspect/locate.h"
#include "inspect/plan.h"
#include "inspect/rust.h"
#include "inspect/sets.h"
#include "inspect/stored.h"
#include "inspect/variadic.h"

#define COMPLETE_MAX 4000

/* Reads details of all that a value of `type` consists of, which is what
 * conventions look at. */
static void complete_deep(struct cp_image *image, const struct cp_type *type, unsigned depth,
			  unsigned *budget)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	while (t && t->kind == CP_TYPE_ARRAY && *budget && (*budget)--)
		t = cp_type_strip(t->target);
	if (!t || depth > CP_VALUE_DEPTH || !*budget)
		return;
	(*budget)--;
	d = cp_type_details(cp_type_complete(image, t));
	for (i = 0; d && i < d->member_count; i++)
		complete_deep(image, d->members[i].type, depth + 1, budget);
	for (i = 0; d && i < d->variant_count; i++)
		complete_deep(image, d->variants[i].member.type, depth + 1, budget);
	if (d && d->discriminant)
		complete_deep(image, d->discriminant->type, depth + 1, budget);
}

/* ---- where things are ---- */

/* Parts of it are passed, of others debug information knows what they are. */
static bool is_split(const struct cp_place *said)
{
	unsigned i;

	for (i = 0; said->how == CP_PLACE_DIRECT && said->count > 1 && i < said->count; i++)
		if (cp_piece_is_number(&said->pieces[i]))
			return true;
	return false;
}

/* True when a parameter is in another register than the convention has it
 * in. Only what fits one is looked at: gcc swaps the halves of an __int128. */
static bool disagrees(const struct cp_place *said, const struct cp_place *by_convention)
{
	const struct cp_piece *a = said->pieces, *b = by_convention->pieces;

	if (said->how == CP_PLACE_GONE || is_split(said))
		return true; /* clang drops what isn't needed, and what follows moves up */
	if (said->how != CP_PLACE_DIRECT || said->count != 1 ||
	    (a->where != CP_PIECE_REGISTER && a->where != CP_PIECE_VECTOR))
		return false;
	if (by_convention->how == CP_PLACE_UNSUPPORTED || by_convention->count > 1)
		return false;
	return by_convention->how != CP_PLACE_EMPTY &&
	       (a->where != b->where || a->number != b->number);
}

static bool is_number(const struct cp_place *said)
{
	return said->how == CP_PLACE_DIRECT && said->count == 1 &&
	       (cp_piece_is_number(&said->pieces[0]) || cp_locate_is_fixed(&said->pieces[0]));
}

static bool is_nocall(const struct cp_signature *s)
{
	return s->function.flags & CP_FUNCTION_NOCALL;
}

/* Whether debug information knows better than the convention where this
 * function's arguments are: see above. */
static bool trusts_debug_info(const struct cp_signature *s, const char *linkage_name, bool local,
			      bool clone, const struct cp_place *said)
{
	size_t i;

	if (clone || is_nocall(s) || !s->convention ||
	    (linkage_name && strstr(linkage_name, "4_FUNE")))
		return true;
	for (i = 0; local && i < s->parameter_count; i++) {
		if (disagrees(&said[i], &s->parameters[i].place) || is_number(&said[i]))
			return true;
	}
	return false;
}

static bool is_passed(const struct cp_variable *v, const struct cp_place *said)
{
	return !v->constant && said->how != CP_PLACE_GONE && !is_number(said);
}

static bool is_c_like(uint16_t language)
{
	return cp_language_is_c(language) || cp_language_is_cplusplus(language);
}

/* A clone without some of its parameters is still called by the convention,
 * with those that are left. If that agrees with what is said of registers, it
 * is the better answer: what is said of an __int128 is often where it will be
 * later. */
static bool place_rest(struct cp_signature *s, const struct cp_place *said)
{
	const struct cp_function_info *f = &s->function;
	size_t n = 0, i, count = s->parameter_count;
	const struct cp_type **types =
		cp_arena_array(&s->arena, count, sizeof(const struct cp_type *));
	struct cp_place *places = cp_arena_array(&s->arena, count, sizeof(*places));

	if (!types || !places || !s->convention ||
	    (is_nocall(s) && !is_c_like(f->language))) /* each scalar may be gone by itself */
		return false;
	for (i = 0; i < count; i++) {
		if (is_passed(&f->parameters[i], &said[i]))
			types[n++] = s->parameters[i].type;
	}
	s->convention->arguments(types, n, f->result, f->flags, places);
	for (i = n = 0; i < count; i++) {
		if (!is_passed(&f->parameters[i], &said[i]))
			continue;
		if (disagrees(&said[i], &places[n]) || places[n].how == CP_PLACE_UNSUPPORTED)
			return false;
		n++;
	}
	for (i = n = 0; i < count; i++) {
		if (is_passed(&f->parameters[i], &said[i])) {
			s->parameters[i].place = places[n++];
			continue;
		}
		s->parameters[i].place = said[i];
		s->parameters[i].source =
			is_number(&said[i]) ? CPROF_SOURCE_CONST : CPROF_SOURCE_DWARF;
	}
	return true;
}

static bool is_wide(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t && t->size == 16 && (t->kind == CP_TYPE_INT || t->kind == CP_TYPE_UINT);
}

/* Is it in the convention's place only if the caller is of another file? Of what has parts
 * that is not known: their locations get lost where they are passed, too. */
static bool is_spared(const struct cp_function_info *f, const struct cp_variable *v,
		      const struct cp_place *by_convention)
{
	const struct cp_type *t = cp_type_strip(v->type);

	return f->flags & CP_FUNCTION_SPARING && !v->locations.count && t && *v->name &&
	       t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION &&
	       by_convention->how == CP_PLACE_DIRECT && by_convention->count == 1;
}

/* Takes debug information's word where that is better. */
static struct cp_error *correct_parameters(struct cp_signature *s, const char *linkage_name,
					   bool local, bool clone)
{
	const struct cp_function_info *f = &s->function;
	struct cp_place *said = cp_arena_array(&s->arena, s->parameter_count, sizeof(*said));
	struct cp_parameter *p;
	bool trusted;
	size_t i;

	if (!said)
		return cp_error_nomem();
	for (i = 0; i < s->parameter_count; i++) {
		cp_locate(s, &f->parameters[i], f->low, s->arch->ret_size, &said[i]);
		/* A clone does without it, and at its entry nobody has asked the caller; or just
		 * what it leads to is told, and it is not passed. */
		if (said[i].how == CP_PLACE_DIRECT && said[i].count == 1 &&
		    (cp_locate_is_callers(&said[i].pieces[0]) ||
		     said[i].pieces[0].where == CP_PIECE_IMPLIED))
			said[i].how = CP_PLACE_GONE;
	}
	local = local || !(f->flags & CP_FUNCTION_EXTERNAL);
	trusted = trusts_debug_info(s, linkage_name, local, clone, said) && !place_rest(s, said);
	for (i = 0; i < s->parameter_count; i++) {
		p = &s->parameters[i];
		if (f->parameters[i].constant) {
			cp_signature_set_constant(p, &f->parameters[i]);
		} else if (trusted ||
			   (!is_c_like(f->language) && p->place.how != CP_PLACE_EMPTY &&
			    cp_signature_needs_no_frame(s, &f->parameters[i], &said[i]))) {
			p->source = CPROF_SOURCE_DWARF;
			p->place = said[i];
			if (is_nocall(s) &&
			    !cp_signature_needs_no_frame(s, &f->parameters[i], &said[i]))
				p->place.how = CP_PLACE_UNSUPPORTED;
			if (is_wide(p->type) && said[i].count == 2)
				p->place.how = CP_PLACE_UNSUPPORTED; /* see place_rest() */
		} else if (is_spared(f, &f->parameters[i], &p->place)) {
			p->source = CPROF_SOURCE_DWARF;
			p->place.how = CP_PLACE_GONE;
		}
	}
	return cp_signature_is_vague(s) ? cp_signature_place_by_code(s, true) : NULL;
}

static struct cp_error *place_parameters(struct cp_signature *s, struct cp_image *image)
{
	const struct cp_function_info *f = &s->function;
	size_t n = f->parameter_count, i;
	const struct cp_type **types = cp_arena_array(&s->arena, n, sizeof(const struct cp_type *));
	struct cp_place *places = cp_arena_array(&s->arena, n, sizeof(*places));
	unsigned budget = COMPLETE_MAX;

	s->parameters = cp_arena_array(&s->arena, n, sizeof(*s->parameters));
	if (!types || !places || !s->parameters)
		return cp_error_nomem();
	complete_deep(image, f->result, 0, &budget);
	for (i = 0; i < n; i++) {
		budget = COMPLETE_MAX;
		types[i] = f->parameters[i].type;
		complete_deep(image, types[i], 0, &budget);
		places[i].how = CP_PLACE_UNSUPPORTED;
	}
	if (s->convention)
		s->convention->arguments(types, n, f->result, f->flags, places);
	for (i = 0; i < n; i++) {
		s->parameters[i] = (struct cp_parameter){ .name = f->parameters[i].name,
							  .type = types[i],
							  .source = CPROF_SOURCE_ABI,
							  .place = places[i] };
	}
	s->parameter_count = n;
	return NULL;
}

static void place_result(struct cp_signature *s, const char *linkage_name)
{
	const struct cp_type *t = cp_type_strip(s->function.result);

	s->has_result = t && t->kind != CP_TYPE_VOID;
	if (!s->has_result)
		return;
	s->result = (struct cp_parameter){ .name = "", .type = s->function.result };
	s->result.place.how = CP_PLACE_UNSUPPORTED;
	if (s->convention && !is_nocall(s))
		s->result.place = s->convention->result(s->function.result);
	/* All of the code is read, which takes its time, only where it matters. */
	if ((s->want & CP_SIGNATURE_RESULT) && cp_signature_lost_result(s, linkage_name))
		s->result.place.how = CP_PLACE_UNSUPPORTED;
}

/* The place of a result that is a number or a pointer. */
static void raw_result(struct cp_signature *s)
{
	s->has_result = true;
	s->result = (struct cp_parameter){ .name = "", .guessed = true };
	s->result.place = (struct cp_place){ .how = CP_PLACE_DIRECT, .count = 1 };
	s->result.place.pieces[0] = (struct cp_piece){ .where = CP_PIECE_REGISTER, .size = 8 };
}

/* Arguments without debug information: the registers that they are passed in. */
static struct cp_error *raw_parameters(struct cp_signature *s)
{
	size_t n = s->convention ? s->convention->argument_register_count : 0, i;
	struct cp_parameter *p = cp_arena_array(&s->arena, n, sizeof(*p));

	if (!p)
		return cp_error_nomem();
	for (i = 0; i < n; i++) {
		p[i].name = s->arch->reg_names[s->convention->argument_registers[i]];
		p[i].guessed = true;
		p[i].place = (struct cp_place){ .how = CP_PLACE_DIRECT, .count = 1 };
		p[i].place.pieces[0] =
			(struct cp_piece){ .where = CP_PIECE_REGISTER,
					   .number = s->convention->argument_registers[i],
					   .size = 8 };
	}
	s->parameters = p;
	s->parameter_count = n;
	if (n)
		raw_result(s);
	return NULL;
}

/* ---- the plan of a stop ---- */

static bool plan_each(struct cp_signature *s, const struct cp_parameter *all, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!cp_plan_parameter(s, s->image, &all[i], &s->entry, &s->entry_flags))
			return false;
	return true;
}

static bool plan_arguments(struct cp_signature *s)
{
	if (!(s->want & CP_SIGNATURE_ARGUMENTS))
		return true;
	if (!plan_each(s, s->shown, s->shown_count))
		return false;
	if (s->chosen && !s->arguments_too)
		return true;
	return plan_each(s, s->parameters, s->parameter_count) &&
	       (!cp_variadic_is_told(s) || cp_variadic_plan(s));
}

static void keep_result(struct cp_signature *s)
{
	if (cp_signature_result_is_kept(s))
		s->entry_flags |= CP_SITE_REGS;
}

bool cp_signature_plan_entry(struct cp_signature *s)
{
	cp_vec_free(&s->entry.list);
	s->entry = (struct cp_fetches){ 0 };
	s->entry_flags = 0;
	keep_result(s);
	return plan_arguments(s) && cp_plan_finish(&s->entry);
}

static bool plan_all(struct cp_signature *s, struct cp_image *image)
{
	if (!plan_arguments(s))
		return false;
	if ((s->want & CP_SIGNATURE_RESULT) && s->has_result &&
	    !cp_plan_parameter(s, image, &s->result, &s->exit, &s->exit_flags))
		return false;
	keep_result(s);
	return cp_plan_finish(&s->entry) && cp_plan_finish(&s->exit);
}

/* ---- making one ---- */

static struct cp_signature *begin(struct cp_image *image, unsigned want,
				  const struct cp_value_limits *limits)
{
	struct cp_signature *s = cp_signature_new(image, limits);

	if (!s)
		return NULL;
	s->want = want;
	if (cp_image_machine(image) == EM_X86_64)
		s->convention = &cp_convention_sysv;
	else if (cp_image_machine(image) == EM_AARCH64)
		s->convention = &cp_convention_aapcs64;
	return s;
}

static struct cp_error *end(struct cp_signature *s, struct cp_error *err, struct cp_signature **ret)
{
	if (!err && !plan_all(s, s->image))
		err = cp_error_nomem();
	if (err)
		cp_signature_destroy(s);
	else
		*ret = s;
	return err;
}

CP_ERROR cp_signature_read(struct cp_image *image, struct cp_vaddr address,
			   const char *linkage_name, bool local, bool clone, unsigned want,
			   const struct cp_value_limits *limits, struct cp_signature **ret)
{
	struct cp_signature *s = begin(image, want, limits);
	struct cp_error *err;

	if (!s)
		return cp_error_nomem();
	/* Debug information of assembly has no parameters, which is not to say that
	 * there are none. */
	s->described = cp_image_function(image, address, &s->arena, &s->function) &&
		       s->function.language != CP_LANGUAGE_ASSEMBLER;
	if (s->described && s->function.language == CP_LANGUAGE_RUST && s->convention)
		s->convention = s->arch == &cp_arch_x86_64 ? &cp_convention_rust : NULL;
	err = s->described ? place_parameters(s, image) : raw_parameters(s);
	if (!err && s->described) {
		place_result(s, linkage_name);
		err = s->convention == &cp_convention_rust
			      ? cp_rust_place(s)
			      : correct_parameters(s, linkage_name, local, clone);
	}
	return end(s, err, ret);
}

static CP_ERROR place_mangled(struct cp_signature *s, struct cp_image *image,
			      const struct cp_mangled *m)
{
	struct cp_function_info *f = &s->function;
	size_t i, n = 0;

	f->language = CP_LANGUAGE_CPLUSPLUS;
	f->flags = CP_FUNCTION_PROTOTYPED | CP_FUNCTION_EXTERNAL |
		   (m->variadic ? CP_FUNCTION_VARIADIC : 0);
	f->result = m->result;
	f->parameters = cp_arena_array(&s->arena, m->count + 1, sizeof(*f->parameters));
	if (!f->parameters)
		return cp_error_nomem();
	if (m->has_this)
		f->parameters[n++] = (struct cp_variable){ .name = "this",
							   .type = cp_mangled_pointer(),
							   .artificial = true };
	for (i = 0; i < m->count; i++)
		f->parameters[n++] = (struct cp_variable){ .name = "", .type = m->parameters[i] };
	f->parameter_count = (uint32_t)n;
	CP_TRY(place_parameters(s, image));
	if (m->result_known)
		place_result(s, NULL);
	else
		raw_result(s);
	return NULL;
}

CP_ERROR cp_signature_read_mangled(struct cp_image *image, const char *linkage_name, unsigned want,
				   const struct cp_value_limits *limits, struct cp_signature **ret)
{
	struct cp_mangled mangled;
	struct cp_signature *s;

	*ret = NULL;
	if (!cp_mangled_function(linkage_name, &mangled))
		return NULL;
	s = begin(image, want, limits);
	if (!s)
		return cp_error_nomem();
	s->described = true;
	return end(s, place_mangled(s, image, &mangled), ret);
}

/* Takes off the underscores that headers put before the names of parameters, lest
 * they be macros. */
static void shorten_names(struct cp_signature *s)
{
	size_t i, n;

	for (i = 0; i < s->parameter_count; i++) {
		n = strspn(s->parameters[i].name, "_");
		s->parameters[i].name += s->parameters[i].name[n] ? n : 0;
	}
}

CP_ERROR cp_signature_read_declared(struct cp_image *image, struct cp_vaddr address, unsigned want,
				    const struct cp_value_limits *limits, struct cp_signature **ret)
{
	struct cp_signature *s = begin(image, want, limits);
	struct cp_error *err;

	if (!s)
		return cp_error_nomem();
	s->described = cp_image_function(image, address, &s->arena, &s->function);
	err = s->described ? place_parameters(s, image) : raw_parameters(s);
	if (!err && s->described) {
		place_result(s, NULL);
		shorten_names(s);
	}
	return end(s, err, ret);
}
