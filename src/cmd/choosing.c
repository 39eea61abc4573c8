/* SPDX-License-Identifier: MIT */
#include "cmd/choosing.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "probe/near.h"
#include "probe/spec.h"
#include "report/profile/choice.h"

static const char *source_of(void *ctx)
{
	const struct cp_function *f = ctx;

	return f->file;
}

bool cp_spec_means(void *spec, const struct cp_profile *p, const struct cp_function *f)
{
	const struct cp_profile_image *image = &p->images.items[f->image];
	struct cp_spec_subject subject = { .name = f->name,
					   .linkage_name = f->linkage ? f->linkage : f->name,
					   .image = cp_basename(image->path),
					   .started_as = image->started_as,
					   .program = cp_profile_is_program(p, image),
					   .source = source_of,
					   .ctx = (void *)(uintptr_t)f };

	return cp_spec_match(spec, &subject) != CP_SPEC_NO;
}

CP_ERROR cp_check_spec(const struct cp_profile *p, struct cp_spec *spec, const char *text)
{
	struct cp_near near = { 0 };
	struct cp_buf hint CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_function *f;
	struct cp_error *err;

	cp_vec_for_each(&p->functions, f) {
		if (cp_spec_means(spec, p, f)) {
			cp_near_free(&near);
			return NULL;
		}
		cp_near_name(&near, spec, f->name);
	}
	err = cp_error_new(CP_ERR_NOT_FOUND, 0, "no function of the recording matches '%s'", text);
	if (cp_near_text(&near, &hint))
		cp_error_hint(err, "%s", hint.bytes);
	cp_near_free(&near);
	return err;
}

/* ---- the choice of calls ---- */

static CP_ERROR parse(const char *text, struct cp_spec **ret)
{
	return text ? cp_spec_parse(text, ret) : NULL;
}

CP_ERROR cp_choosing_begin(struct cp_choosing *c, const struct cp_choice_options *o,
			   struct cp_call_choice *ret)
{
	c->options = o;
	CP_TRY(parse(o->under, &c->under));
	CP_TRY(parse(o->not_under, &c->not_under));
	CP_TRY(parse(o->paths_to, &c->paths_to));
	*ret = (struct cp_call_choice){ .matches = cp_spec_means,
					.under = c->under,
					.not_under = c->not_under,
					.paths_to = c->paths_to,
					.levels = o->levels,
					.least_ns = o->least_ns };
	return NULL;
}

/* Where only a part of the time is looked at, the calls may be in another one. */
static CP_ERROR check(const struct cp_profile *p, struct cp_spec *spec, const char *text, bool met)
{
	if (!spec || met)
		return NULL;
	CP_TRY(cp_check_spec(p, spec, text));
	if (p->filter.to_ns)
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
					  "no call of a function that matches '%s' was recorded",
					  text),
			     "cprof report --calls lists those that were");
}

CP_ERROR cp_choosing_check(const struct cp_choosing *c, const struct cp_profile *p)
{
	if (!p->choice)
		return NULL;
	CP_TRY(check(p, c->under, c->options->under, p->choice->met_under));
	CP_TRY(check(p, c->not_under, c->options->not_under, p->choice->met_not_under));
	return check(p, c->paths_to, c->options->paths_to, p->choice->met_paths_to);
}

void cp_choosing_end(struct cp_choosing *c)
{
	cp_spec_destroy(c->under);
	cp_spec_destroy(c->not_under);
	cp_spec_destroy(c->paths_to);
	*c = (struct cp_choosing){ 0 };
}
