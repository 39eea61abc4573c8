/* SPDX-License-Identifier: MIT */
#include "annotation_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record_model.h"

#define THREADS 4

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void say(struct cp_buf *out, const struct cp_record_annotation *a, int32_t tid)
{
	cp_buf_printf(out, "%" PRIu64 " a%u %u %d %" PRIu64 " %" PRId64 " %s|%s|%s\n", a->ts_ns,
		      a->kind, a->flags, tid, a->id, a->value, a->name ? a->name : "-",
		      a->category ? a->category : "-", a->object ? a->object : "-");
}

/* Times and numbers as programs have them, and now and then any others. */
static void make(uint64_t *seed, size_t i, char *object, struct cp_record_annotation *a)
{
	static const char *const names[] = { "load", "parse", "été\x1b[31m", "", NULL, "draw" };

	*a = (struct cp_record_annotation){
		.ts_ns = model_info.start_ns + i * 1000 + next(seed) % 5000,
		.kind = (uint8_t)(next(seed) % CP_RECORD_ANNOTATION_KINDS),
		.flags = next(seed) % 20 ? 0 : CP_RECORD_ANNOTATION_NOTICED,
		.thread = (uint32_t)(next(seed) % THREADS),
		.id = next(seed) % 50 ? i / 2 : UINT64_MAX - next(seed),
		.value = next(seed) % 9 ? (int64_t)(next(seed) % 1000) - 500 : INT64_MIN,
		.name = names[next(seed) % 6],
		.category = next(seed) % 4 ? "main.c" : NULL,
	};
	if (next(seed) % 100 == 0)
		a->ts_ns = UINT64_MAX - next(seed);
	snprintf(object, 32, "object %u", (unsigned)(next(seed) % 3000));
	a->object = next(seed) % 3 ? NULL : object;
}

void annotation_model_write(int fd, uint64_t seed, size_t count, struct cp_buf *text)
{
	struct cp_record_process process = { .pid = 7, .ns_pid = 7, .name = "p", .exe = "/p" };
	struct cp_record_annotation a;
	struct cp_record_writer *w;
	struct cp_error *err = NULL;
	char object[32];
	size_t i;

	err = cp_record_writer_create(fd, &model_info, NULL, &w);
	if (err)
		abort();
	for (i = 0; i < THREADS; i++)
		cp_record_thread(w, &(struct cp_record_thread){
					    .process = cp_record_process(w, &process),
					    .tid = 7 + (int32_t)i,
					    .ns_tid = 7 + (int32_t)i,
					    .name = "t",
					    .start_ns = 1,
				    });
	for (i = 0; i < count; i++) {
		make(&seed, i, object, &a);
		if (text)
			say(text, &a, 7 + (int32_t)a.thread);
		cp_record_annotation(w, &a);
		if (i % ANNOTATION_MODEL_CHUNK == ANNOTATION_MODEL_CHUNK - 1) {
			cp_record_totals(w, &(struct cp_record_totals){ .end_ns = a.ts_ns });
			cp_record_flush(w);
		}
	}
	cp_record_totals(w, &(struct cp_record_totals){ .annotations_lost = 3 });
	cp_record_writer_destroy(w, &err);
	if (err)
		abort();
}

void annotation_text(const struct cp_record *r, struct cp_buf *out)
{
	struct cp_record_annotation a;
	size_t i;

	for (i = 0; i < cp_record_annotation_count(r); i++) {
		a = cp_record_get_annotation(r, i);
		say(out, &a, cp_record_get_thread(r, a.thread)->tid);
	}
}
