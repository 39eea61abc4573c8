/* SPDX-License-Identifier: MIT */
#include "report/replay/fields.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/table.h"

#define NAME(name, columns) #name,
#define COLUMNS(name, columns) columns,

static const char *const names[] = { CP_FIELDS(NAME) };
static const size_t widths[] = { CP_FIELDS(COLUMNS) };

static CP_ERROR add(const char *name, size_t size, struct cp_fields *f)
{
	size_t i, k;

	if (size == strlen("duration") && !memcmp(name, "duration", size)) {
		f->duration = true;
		return NULL;
	}
	for (i = 0; i < CP_FIELD_COUNT; i++)
		if (strlen(names[i]) == size && !memcmp(names[i], name, size))
			break;
	if (i == CP_FIELD_COUNT)
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0, "there is no field '%.*s'",
						  (int)size, name),
				     "there are: " CP_FIELD_NAMES);
	for (k = 0; k < f->count; k++)
		if (f->items[k] == i)
			return cp_error_new(CP_ERR_USAGE, 0, "the field %s is there twice",
					    names[i]);
	f->items[f->count++] = (enum cp_field)i;
	return NULL;
}

CP_ERROR cp_fields_parse(const char *list, struct cp_fields *ret)
{
	struct cp_fields f = { 0 };
	size_t size;

	if (strcmp(list, "none") != 0) {
		do {
			size = strcspn(list, ",");
			CP_TRY(add(list, size, &f));
			list += size;
		} while (*list++);
	}
	*ret = f;
	return NULL;
}

/* ---- what they say ---- */

static void add_place(const char *file, uint32_t line, struct cp_buf *raw)
{
	if (file && line)
		cp_buf_printf(raw, "%s:%" PRIu32, cp_basename(file), line);
}

/* The line that a call was made at: of the frame below its own. */
static void add_site(const struct cp_profile *p, uint32_t stack, struct cp_buf *raw)
{
	const struct cp_frame *from;
	const uint32_t *frames;
	size_t count;

	if (stack == CP_RECORD_NONE)
		return;
	frames = cp_profile_walk(p, stack, &count);
	if (count < 2)
		return;
	from = &p->frames.items[frames[count - 2]];
	add_place(from->file, from->line, raw);
}

static void add_raw(enum cp_field field, const struct cp_profile *p,
		    const struct cp_field_subject *of, struct cp_buf *raw)
{
	const struct cp_record_thread *t = cp_record_get_thread(p->record, of->thread);
	const struct cp_record_process *q = cp_record_get_process(p->record, t->process);
	const struct cp_function *f =
		of->function == CP_RECORD_NONE ? NULL : &p->functions.items[of->function];

	switch (field) {
	case CP_FIELD_time:
		cp_buf_printf(raw, "%" PRIu64 ".%06" PRIu64, of->ns / 1000000000,
			      of->ns / 1000 % 1000000);
		break;
	case CP_FIELD_delta:
		if (of->before_ns != UINT64_MAX)
			cp_add_time(raw, of->ns > of->before_ns ? of->ns - of->before_ns : 0);
		break;
	case CP_FIELD_process:
		cp_buf_str(raw, q->name);
		break;
	case CP_FIELD_pid:
		cp_buf_printf(raw, "%d", q->pid);
		break;
	case CP_FIELD_thread:
		cp_buf_str(raw, t->name);
		break;
	case CP_FIELD_tid:
		cp_buf_printf(raw, "%d", t->tid);
		break;
	case CP_FIELD_depth:
		if (f)
			cp_buf_printf(raw, "%" PRIu32, of->depth);
		break;
	case CP_FIELD_image:
		if (f)
			cp_buf_str(raw, cp_profile_image_name(p, f));
		break;
	case CP_FIELD_source:
		if (f)
			add_place(f->file, f->decl_line, raw);
		break;
	case CP_FIELD_site:
		add_site(p, of->stack, raw);
		break;
	case CP_FIELD_COUNT:
		break;
	}
}

static bool is_name(enum cp_field field)
{
	return field == CP_FIELD_process || field == CP_FIELD_thread || field == CP_FIELD_image ||
	       field == CP_FIELD_source || field == CP_FIELD_site;
}

void cp_fields_add(const struct cp_fields *f, const struct cp_profile *p,
		   const struct cp_field_subject *of, struct cp_buf *out)
{
	size_t i;

	for (i = 0; i < f->count; i++) {
		struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
		struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
		size_t width = widths[f->items[i]], columns;
		const char *shown;

		add_raw(f->items[i], p, of, &raw);
		cp_add_name(&text, raw.bytes ? raw.bytes : "");
		cp_text_fit(&cut, text.bytes ? text.bytes : "", width);
		shown = cut.bytes ? cut.bytes : "";
		columns = cp_text_columns(shown);
		columns = columns < width ? width - columns : 0;
		if (is_name(f->items[i]))
			cp_buf_printf(out, "%s%*s  ", shown, (int)columns, "");
		else
			cp_buf_printf(out, "%*s%s  ", (int)columns, "", shown);
	}
}
