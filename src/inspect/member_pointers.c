/* SPDX-License-Identifier: MIT
 *
 * Pointers to members by the member's name (Itanium C++ ABI, 2.3).
 *
 *     int S::*          offset in an S; -1: NULL
 *     int (S::*)()      address, or 1 + 8 * slot of a virtual one; 0: NULL
 *                       what is added to `this` first
 *
 * On AArch64, where addresses of functions may be odd, the lowest bit of the second word
 * says whether it is virtual, and both are twice as much.
 */
#include "inspect/member_pointers.h"

#include <elf.h>

#include "base/cleanup.h"
#include "image/find.h"
#include "inspect/notes.h"

#define DEPTH 16
#define WORD 8u

struct search {
	struct cp_build *b;
	const struct cp_type *target; /* of the pointer */
	struct cp_buf text;
};

static const struct cp_type *completed(const struct cp_build *b, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t && b->live ? cp_type_complete(cp_type_image(t), t) : t;
}

static const char *name_of(const struct cp_build *b, const struct cp_type *t)
{
	const char *name = b->live ? cp_type_full_name(t) : t->name;

	return name ? name : "";
}

static bool is_same(const struct cp_type *a, const struct cp_type *b)
{
	a = cp_type_strip(a);
	b = cp_type_strip(b);
	return a == b || (a && b && a->kind == b->kind && a->size == b->size && a->text &&
			  b->text && !strcmp(a->text, b->text));
}

/* Is `at` within what the member takes? */
static bool has(const struct cp_type *of, const struct cp_type_member *m, uint64_t at)
{
	return of && !(m->flags & (CP_MEMBER_VIRTUAL | CP_MEMBER_BITS)) && at >= m->offset &&
	       at - m->offset < of->size;
}

/* Writes the member at an offset, of the class itself before those of its bases; `in`:
 * which it is named by. */
static bool find_member(struct search *s, const struct cp_type *type, const struct cp_type *in,
			uint64_t at, unsigned depth)
{
	const struct cp_type *t = completed(s->b, type), *of;
	const struct cp_type_details *d = t && depth < DEPTH ? cp_type_details(t) : NULL;
	const struct cp_type_member *m;
	uint32_t i;

	in = in ? in : t;
	for (i = 0; d && i < d->member_count; i++) {
		m = &d->members[i];
		if (m->offset != at || !*m->name || m->flags & (CP_MEMBER_BASE | CP_MEMBER_BITS) ||
		    !is_same(m->type, s->target))
			continue;
		cp_buf_printf(&s->text, "&%s::%s", name_of(s->b, in), m->name);
		return true;
	}
	for (i = 0; d && i < d->member_count; i++) {
		m = &d->members[i];
		of = completed(s->b, m->type);
		/* Members of what has no name are named by what that is in. */
		if ((m->flags & CP_MEMBER_BASE || !*m->name) && has(of, m, at) &&
		    find_member(s, of, m->flags & CP_MEMBER_BASE ? NULL : in, at - m->offset,
				depth + 1))
			return true;
	}
	return false;
}

/* Writes the virtual function in a slot of the vtable of what is `adjustment` bytes in. */
static bool find_virtual(struct search *s, const struct cp_type *type, uint64_t slot,
			 uint64_t adjustment, unsigned depth)
{
	const struct cp_type *t = completed(s->b, type), *of;
	const struct cp_type_details *d = t && depth < DEPTH ? cp_type_details(t) : NULL;
	const struct cp_type_method *m;
	CP_FREE char *plain = NULL;
	uint32_t i;

	for (i = 0; d && !adjustment && i < d->method_count; i++) {
		m = &d->methods[i];
		if (m->slot != slot)
			continue;
		plain = m->linkage ? cp_demangle(m->linkage) : NULL;
		if (plain)
			cp_buf_printf(&s->text, "&virtual %s", plain);
		else
			cp_buf_printf(&s->text, "&virtual %s::%s", name_of(s->b, t), m->name);
		return true;
	}
	for (i = 0; d && i < d->member_count; i++) {
		of = completed(s->b, d->members[i].type);
		if (d->members[i].flags & CP_MEMBER_BASE && has(of, &d->members[i], adjustment) &&
		    find_virtual(s, of, slot, adjustment - d->members[i].offset, depth + 1))
			return true;
	}
	return false;
}

static void name_function(struct search *s, const struct cp_type *t, cprof_value *v,
			  uint64_t second)
{
	const struct cp_capture *c = s->b->request->capture;
	const bool apart = cp_arch_host()->e_machine == EM_AARCH64;
	const bool is_virtual = apart ? second & 1 : v->u.u & 1;
	const int64_t adjustment = apart ? (int64_t)second >> 1 : (int64_t)second;
	const uint64_t offset = apart ? v->u.u : v->u.u - 1;
	const char *name;

	if (!is_virtual && !v->u.u) {
		cp_buf_str(&s->text, "NULL");
		return;
	}
	if (is_virtual && adjustment >= 0 &&
	    find_virtual(s, t->containing, offset / WORD, (uint64_t)adjustment, 0))
		return;
	name = is_virtual || !c->symbol ? NULL : c->symbol(c->symbol_ctx, v->u.u);
	if (name)
		cp_buf_printf(&s->text, "&%s", name);
	else if (is_virtual)
		cp_buf_printf(&s->text, "&virtual table offset %llu", (unsigned long long)offset);
	else
		cp_buf_printf(&s->text, "0x%llx", (unsigned long long)v->u.u);
	if (adjustment)
		cp_buf_printf(&s->text, ", this adjustment %lld", (long long)adjustment);
}

void cp_build_member_pointer(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			     struct cp_bytes at)
{
	struct search s = { .b = b, .target = t->target };

	cp_note_depends(b);
	v->kind = CPROF_VALUE_POINTER;
	v->size = (uint8_t)t->size;
	v->u.u = cp_build_number(at.at, WORD);
	if (t->size > WORD)
		name_function(&s, t, v, cp_build_number(at.at + WORD, WORD));
	else if (v->u.u == UINT64_MAX)
		cp_buf_str(&s.text, "NULL");
	else if (!find_member(&s, t->containing, NULL, v->u.u, 0))
		cp_buf_printf(&s.text, "offset %llu", (unsigned long long)v->u.u);
	v->symbol =
		s.text.failed ? NULL : cp_arena_copy(b->arena, (char *)s.text.bytes, s.text.size);
	cp_buf_free(&s.text);
}
