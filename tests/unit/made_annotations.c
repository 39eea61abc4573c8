/* SPDX-License-Identifier: MIT */
#include "made_annotations.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "made_recording.h"

static const struct {
	const char *word;
	enum cp_record_annotation_kind kind;
	const char *fields; /* i id, f from, t to, v value, n name, c category, o object */
} kinds[] = {
	{ "begin", CP_RECORD_SPAN_BEGIN, "inco" }, { "end", CP_RECORD_SPAN_END, "i" },
	{ "instant", CP_RECORD_INSTANT, "nco" },   { "start", CP_RECORD_ASYNC_START, "inco" },
	{ "finish", CP_RECORD_ASYNC_FINISH, "i" }, { "switch", CP_RECORD_FIBER_SWITCH, "ftx" },
	{ "counter", CP_RECORD_COUNTER, "vnc" },   { "thread", CP_RECORD_THREAD_NAME, "n" },
	{ "fiber", CP_RECORD_FIBER_NAME, "in" },   { "lost", CP_RECORD_ANNOTATIONS_LOST, "v" },
};

static void read_field(struct cp_record_annotation *a, char field, char *word)
{
	uint64_t number = strtoull(word, NULL, 0);

	if (strchr("nco", field))
		made_unescape(word);
	switch (field) {
	case 'i':
		a->id = number;
		break;
	case 'f':
		a->id |= number << 32;
		break;
	case 't':
		a->id |= number;
		break;
	case 'x':
		a->flags = CP_RECORD_ANNOTATION_NOTICED;
		break;
	case 'v':
		a->value = strtoll(word, NULL, 0);
		break;
	case 'n':
		a->name = word;
		break;
	case 'c':
		a->category = word;
		break;
	case 'o':
		a->object = word;
		break;
	}
}

void made_annotation(struct cp_record_writer *w, uint32_t thread, uint64_t start_ns, char *rest)
{
	struct cp_record_annotation a = { .thread = thread };
	char *ns = strsep(&rest, " "), *word = strsep(&rest, " "), *field;
	const char *fields = NULL;
	size_t i;

	for (i = 0; word && i < CP_ARRAY_SIZE(kinds); i++) {
		if (strcmp(word, kinds[i].word))
			continue;
		a.kind = (uint8_t)kinds[i].kind;
		fields = kinds[i].fields;
	}
	if (!fields)
		return;
	a.ts_ns = start_ns + strtoull(ns, NULL, 0) * 1000;
	for (; *fields && (field = strsep(&rest, " ")); fields++)
		read_field(&a, *fields, field);
	cp_record_annotation(w, &a);
}
