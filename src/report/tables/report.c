/* SPDX-License-Identifier: MIT */
#include "report/tables/report.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/events/calls.h"
#include "report/look/table.h"
#include "report/profile/create.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/tables/header.h"
#include "report/tables/missing.h"
#include "report/tables/nothing.h"
#include "report/tables/sections.h"

/* All below the header. */
static CP_ERROR overview(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	unsigned in = CP_IN_OVERVIEW | (cp_profile_has_costs(p) ? CP_IN_OVERVIEW_OF_COSTS : 0);
	const struct cp_report_section *s;

	for (s = cp_report_sections; s->write; s++)
		if (s->in & in && (!s->holds || s->holds(p)))
			CP_TRY(s->write(p, o, look, out));
	return NULL;
}

static CP_ERROR alone(const struct cp_profile *p, const struct cp_report_options *o,
		      const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_report_section *s = cp_report_section_of(o->what);

	if (!s)
		return overview(p, o, look, out);
	if (!s->holds || s->holds(p))
		return s->write(p, o, look, out);
	if (s->none)
		cp_buf_printf(out, "\nNo %s recorded.\n", s->none);
	else
		cp_report_no_costs(p, look, out);
	return NULL;
}

CP_ERROR cp_report_text(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	cp_report_header(p, look, out);
	cp_report_missing(p, look, out);
	if (o->what != CP_REPORT_HEADER)
		CP_TRY(alone(p, o, look, out));
	return out->failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_report_some(const struct cp_profile *p, const struct cp_report_options *o,
			const enum cp_report_what *what, size_t count, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_report_options one = *o;
	size_t i;

	for (i = 0; i < count; i++) {
		one.what = what[i];
		CP_TRY(alone(p, &one, look, out));
	}
	return out->failed ? cp_error_nomem() : NULL;
}

/* ---- lists of sections ---- */

static CP_ERROR find_section(const char *name, size_t size, enum cp_report_what *ret)
{
	/* Mono has them, and nothing of that kind is recorded here. */
	static const char *const missing[] = { "jit", "gc", "heapshot" };
	const struct cp_report_section *s = cp_report_section_named(name, size);
	size_t i;

	if (s) {
		*ret = s->what;
		return NULL;
	}
	for (i = 0; i < CP_ARRAY_SIZE(missing); i++)
		if (strlen(missing[i]) == size && !memcmp(missing[i], name, size))
			return cp_error_new(CP_ERR_USAGE, 0,
					    "there is no report of '%s': this version records "
					    "nothing of that kind",
					    missing[i]);
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0, "there is no report '%.*s'", (int)size,
					  name),
			     "there are: " CP_REPORT_NAMES);
}

CP_ERROR cp_report_parse(const char *list, enum cp_report_what *what, size_t *count_ret)
{
	size_t count = 0, size;

	for (; *list && count < CP_REPORT_SOME; list += size + (list[size] == ',')) {
		size = strcspn(list, ",");
		CP_TRY(find_section(list, size, &what[count]));
		count++;
	}
	if (!count)
		return cp_error_new(CP_ERR_USAGE, 0, "--reports takes a list of reports");
	*count_ret = count;
	return NULL;
}

/* ---- the summary ---- */

static CP_ERROR summary(const struct cp_profile *p, const char *path, const struct cp_look *look,
			struct cp_buf *out)
{
	const struct cp_report_options o = { .what = CP_REPORT_SUMMARY, .limit = 10 };
	const struct cp_report_section *s;

	cp_report_header(p, look, out);
	cp_report_missing(p, look, out);
	for (s = cp_report_sections; s->write; s++)
		if (s->in & CP_IN_SUMMARY && (!s->holds || s->holds(p)))
			CP_TRY(s->write(p, &o, look, out));
	if (path)
		cp_report_next(p, path, look, out);
	return out->failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_report_summary(const struct cp_record *record, const char *path,
			   const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_profile_filter filter = { .beside = &cp_calls_beside };
	struct cp_profile *p = NULL;
	struct cp_error *err;

	CP_TRY(cp_profile_create(record, &filter, &p));
	err = summary(p, path, look, out);
	cp_profile_destroy(p);
	return err;
}
