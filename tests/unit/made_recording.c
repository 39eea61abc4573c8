/* SPDX-License-Identifier: MIT */
#include "made_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "made_annotations.h"
#include "made_coverage.h"
#include "record/calls.h"
#include "record/sums.h"

#define START_NS (100 * CP_NS_PER_S)

/* A location: the frames that are one address, innermost first. */
struct place {
	struct cp_record_frame frames[8];
	uint32_t count, image, flags;
};

#define CALLS_OPEN 64
#define VALUES 64

/* Open calls of a thread. */
struct open_calls {
	struct {
		uint64_t ns;
		uint32_t function;
	} calls[CALLS_OPEN];
	uint32_t depth;
};

struct maker {
	char *text; /* a copy, cut into its words */
	struct cp_record_info info;
	char *argv[16];
	struct cp_record_totals totals;
	struct cp_record_writer *w;
	CP_VEC(char *) lines;
	struct cp_interner places; /* by text */
	CP_VEC(struct place) list;
	struct cp_interner images;
	struct cp_map threads; /* tid: number */
	struct cp_map clocks; /* tid: ns used so far */
	uint32_t process;
	uint64_t call_ns; /* when the last one was */
	CP_VEC(struct open_calls) open; /* by thread */
	cprof_value values[VALUES];
	size_t value_count;
	bool summary, open_at_end; /* calls are added up; as if cprof had been killed */
	struct cp_sums sums;
	CP_VEC(uint32_t) processes; /* by thread */
	struct made_coverage coverage;
};

void made_unescape(char *text)
{
	static const char from[] = "nesp_", to[] = "\n\033;| ";
	char *out = text;
	const char *at;

	for (; *text; text++) {
		at = *text == '\\' && text[1] ? strchr(from, text[1]) : NULL;
		*out++ = at ? to[at - from] : *text;
		text += at != NULL;
	}
	*out = 0;
}

static char *part(char **rest, const char *delimiters)
{
	char *got = strsep(rest, delimiters);

	return got ? got : (char *)(uintptr_t) "";
}

/* What a frame's fields are when they are left out. */
struct fields {
	const char *image, *file;
	uint32_t line;
};

static const char *read_frame(char *text, struct fields *last, struct cp_record_frame *frame)
{
	char *name = part(&text, "|"), *image = part(&text, "|"), *file = part(&text, "|");
	char *line = part(&text, "|");

	made_unescape(name);
	last->image = *image ? image : last->image;
	last->file = *file ? file : last->file;
	last->line = *line ? (uint32_t)atoi(line) : last->line;
	*frame = (struct cp_record_frame){ .function = *name ? name : NULL,
					   .linkage = name,
					   .file = last->file,
					   .line = last->line,
					   .decl_line = last->line > 2 ? last->line - 2 : 1 };
	return part(&text, "|");
}

/* The number of the place of frames[0..count), which is new or known. */
static uint32_t intern_place(struct maker *m, const struct place *place, const char *image)
{
	struct cp_buf key = { 0 };
	uint32_t n = 0, i;
	bool fresh = false;

	cp_buf_printf(&key, "%s|%u", image, place->flags);
	for (i = 0; i < place->count; i++)
		cp_buf_printf(&key, "|%s|%s|%u|%d", place->frames[i].linkage, place->frames[i].file,
			      place->frames[i].line, place->frames[i].inlined);
	cp_intern(&m->places, key.bytes, key.size, &n, &fresh);
	cp_buf_free(&key);
	if (fresh) {
		cp_vec_push(&m->list, *place);
		cp_intern(&m->images, image, strlen(image), &m->list.items[n].image, NULL);
	}
	return n;
}

/* Places of a stack's text, outermost first. */
static size_t read_stack(struct maker *m, char *text, uint32_t *places, uint32_t *flags)
{
	struct fields last = { "prog", "prog.c", 1 };
	struct cp_record_frame frame;
	struct place place = { 0 };
	const char *letters, *image = "prog";
	size_t count = 0;
	char *one;

	while (text && *text && (one = strsep(&text, ";"))) {
		letters = read_frame(one, &last, &frame);
		frame.inlined = strchr(letters, 'i');
		*flags |= strchr(letters, 't') ? CP_RECORD_STACK_TRUNCATED : 0;
		if (count == 255)
			break;
		if (place.count && (!frame.inlined || place.count == 8)) {
			places[count++] = intern_place(m, &place, image);
			place = (struct place){ 0 };
		}
		memmove(place.frames + 1, place.frames, 7 * sizeof(frame));
		place.frames[0] = frame;
		place.count++;
		place.flags |= strchr(letters, 'g') ? CP_RECORD_LOC_GUESSED : 0;
		place.flags |= strchr(letters, 's') ? CP_RECORD_LOC_SIGNAL : 0;
		image = last.image;
	}
	if (place.count)
		places[count++] = intern_place(m, &place, image);
	return count;
}

static uint32_t write_place(struct maker *m, uint32_t number)
{
	const struct place *place = &m->list.items[number];
	const char *name = m->images.items[place->image].bytes;
	struct cp_record_image image = { .path = name, .build_id = "", .debug_path = "" };
	uint32_t written = CP_RECORD_NONE;

	if (*name != '-')
		written = cp_record_image(m->w, place->image + 1, &image);
	/* The address says which place it is to the resolver. */
	return cp_record_location(m->w, written, 0x1000 + number * 16, place->flags);
}

static void write_sample(struct maker *m, int tid, struct cp_record_sample s, char *stack)
{
	uint64_t ns = s.weight_ns;
	uint32_t places[256], flags = 0, locations[256];
	uint64_t *used = cp_map_get(&m->clocks, (uint64_t)tid);
	uint64_t *thread = cp_map_get(&m->threads, (uint64_t)tid);
	size_t count = read_stack(m, stack, places, &flags), i;

	for (i = 0; i < count; i++)
		locations[i] = write_place(m, places[count - 1 - i]);
	s.stack = cp_record_stack(m->w, locations, count, flags);
	s.ts_ns = START_NS + ns + (used ? *used : 0);
	cp_map_put(&m->clocks, (uint64_t)tid, s.ts_ns - START_NS);
	s.thread = thread ? (uint32_t)*thread : CP_RECORD_NONE;
	m->totals.samples += s.count;
	m->totals.cpu_ns += ns;
	cp_record_sample(m->w, &s);
}

/* ---- calls ---- */

/* Cuts the first of `text`, which ends at a comma outside of braces. */
static char *cut_item(char **text)
{
	char *start = *text, *at;
	int depth = 0;

	for (at = start; *at && (*at != ',' || depth); at++)
		depth += (*at == '{') - (*at == '}');
	*text = *at ? at + 1 : NULL;
	*at = 0;
	return start;
}

static void read_value(struct maker *m, char *text, cprof_value *v);

static void read_items(struct maker *m, char *text, cprof_value *v)
{
	cprof_value *items;
	char *parts[8];
	uint32_t i;

	v->kind = CPROF_VALUE_STRUCT;
	v->type = "struct s";
	if (!text[1] || m->value_count + 8 > VALUES)
		return;
	text[strlen(text) - 1] = 0;
	for (text++; text && *text && v->count < 8;)
		parts[v->count++] = cut_item(&text);
	items = m->values + m->value_count;
	v->items = items;
	m->value_count += v->count;
	for (i = 0; i < v->count; i++)
		read_value(m, parts[i], &items[i]);
}

static void read_value(struct maker *m, char *text, cprof_value *v)
{
	char *colon = strchr(text, ':');

	*v = (cprof_value){ .kind = CPROF_VALUE_INT, .name = "", .type = "int", .size = 4 };
	if (colon && *text != '"' && *text != '{') {
		*colon = 0;
		v->name = text;
		text = colon + 1;
	}
	if (*text == '{') {
		read_items(m, text, v);
	} else if (*text == '"') {
		made_unescape(text);
		v->kind = CPROF_VALUE_STRING;
		v->type = "const char *";
		v->source = CPROF_SOURCE_MEMORY;
		v->u.text.bytes = text + 1;
		v->u.text.length = (uint32_t)strlen(text + 1);
		v->u.text.length -= v->u.text.length && text[v->u.text.length] == '"';
	} else if (*text == '?') {
		v->kind = CPROF_VALUE_ERROR;
		v->error = CPROF_VALUE_OPTIMIZED_OUT;
	} else if (text[0] == '0' && text[1] == 'x') {
		v->kind = CPROF_VALUE_POINTER;
		v->type = "void *";
		v->size = 8;
		v->u.u = strtoull(text, NULL, 16);
	} else if (strchr(text, '.')) {
		v->kind = CPROF_VALUE_FLOAT;
		v->type = "double";
		v->size = 8;
		v->u.f = strtod(text, NULL);
	} else {
		v->u.i = strtoll(text, NULL, 10);
	}
}

/* The values of the rest of a line; they stand in m->values. */
static void read_values(struct maker *m, char *rest, struct cp_record_call *call)
{
	char *words[8];
	uint32_t count = 0, i;

	while (rest && *rest && count < 8)
		words[count++] = part(&rest, " ");
	m->value_count = count;
	for (i = 0; i < count; i++)
		read_value(m, words[i], &m->values[i]);
	call->values = m->values;
	call->value_count = count;
}

/* An event, or in a recording of sums what it adds. */
static void tell(struct maker *m, const struct cp_record_call *call)
{
	if (!m->summary || call->kind == CP_RECORD_DISARMED)
		cp_record_call(m->w, call);
	if (m->summary)
		cp_error_free(cp_sums_event(&m->sums, m->processes.items[call->thread], call));
}

static uint32_t write_function(struct maker *m, char *frame)
{
	uint32_t places[256], flags = 0;

	return read_stack(m, frame, places, &flags) ? write_place(m, places[0]) : CP_RECORD_NONE;
}

static void write_enter(struct maker *m, struct open_calls *open, struct cp_record_call *call,
			char *rest)
{
	call->kind = CP_RECORD_ENTER;
	call->function = write_function(m, part(&rest, " "));
	call->depth = open->depth;
	read_values(m, rest, call);
	if (open->depth < CALLS_OPEN) {
		open->calls[open->depth].ns = call->ts_ns;
		open->calls[open->depth++].function = call->function;
	}
	tell(m, call);
}

static void write_leave(struct maker *m, struct open_calls *open, struct cp_record_call *call,
			char *rest)
{
	char *overhead;

	if (!open->depth)
		return;
	call->depth = --open->depth;
	call->function = open->calls[call->depth].function;
	call->duration_ns = call->ts_ns - open->calls[call->depth].ns;
	overhead = part(&rest, " ");
	call->overhead_ns = strtoull(overhead, &overhead, 10) * 1000;
	call->uncertain_ns = *overhead == '~' ? strtoull(overhead + 1, NULL, 10) * 1000 : 0;
	if (call->kind == CP_RECORD_TAIL_CALL && rest)
		call->target = write_function(m, rest);
	else if (call->kind == CP_RECORD_UNWIND)
		call->flags = rest && !strcmp(rest, "ended") ? CP_RECORD_CALL_ENDED : 0;
	else if (call->kind == CP_RECORD_LEAVE)
		read_values(m, rest, call);
	call->result_count = call->kind == CP_RECORD_LEAVE && call->value_count;
	call->flags |= call->value_count > 1 ? CP_RECORD_CALL_LOCALS : 0;
	tell(m, call);
}

static void write_sums(struct maker *m)
{
	size_t bytes;

	cp_error_free(cp_sums_write(&m->sums, m->totals.end_ns - START_NS, m->w, &bytes));
}

static void add_thread(struct maker *m, int tid, uint32_t number)
{
	cp_map_put(&m->threads, (uint64_t)tid, number);
	if (number == CP_RECORD_NONE)
		return;
	while (m->processes.count <= number)
		if (!cp_vec_push(&m->processes, m->process))
			return;
	m->processes.items[number] = m->process;
}

static void write_call(struct maker *m, char kind, int tid, char *rest)
{
	uint64_t *thread = cp_map_get(&m->threads, (uint64_t)tid);
	struct cp_record_call call = { .target = CP_RECORD_NONE, .stack = CP_RECORD_NONE };

	if (!thread || *thread == CP_RECORD_NONE)
		return;
	call.thread = (uint32_t)*thread;
	while (m->open.count <= *thread)
		if (!cp_vec_push(&m->open, (struct open_calls){ .depth = 0 }))
			return;
	if (kind == 'd') {
		call.kind = CP_RECORD_DISARMED;
		call.function = write_function(m, part(&rest, " "));
		call.count = rest ? (uint32_t)atoi(rest) : 0;
		call.ts_ns = START_NS + m->call_ns;
		tell(m, &call);
		return;
	}
	m->call_ns += strtoull(part(&rest, " "), NULL, 10) * 1000;
	call.ts_ns = START_NS + m->call_ns;
	if (kind == 'c') {
		write_enter(m, &m->open.items[*thread], &call, rest);
		return;
	}
	call.kind = kind == 'r'	  ? CP_RECORD_LEAVE
		    : kind == 't' ? CP_RECORD_TAIL_CALL
				  : CP_RECORD_UNWIND;
	write_leave(m, &m->open.items[*thread], &call, rest);
}

static bool is_call(const char *word)
{
	return *word && !word[1] && strchr("crtxd", *word);
}

static void read_totals(struct cp_record_totals *t, char *text)
{
#define KEY(name) \
	{ \
#name, &t->name \
	}
	const struct {
		const char *name;
		uint64_t *at;
	} keys[] = { KEY(samples_lost),
		     KEY(perf_samples),
		     KEY(perf_left),
		     KEY(unsampled_ns),
		     KEY(stops),
		     KEY(stopped_ns),
		     KEY(restarted),
		     KEY(hold_median_ns),
		     KEY(hold_p99_ns),
		     KEY(reads),
		     KEY(threads),
		     KEY(tracer_cpu_ns),
		     KEY(controller_cpu_ns),
		     KEY(call_stops),
		     KEY(call_rejected_inside),
		     KEY(call_rejected_condition),
		     KEY(call_rejected_late),
		     KEY(call_unmatched),
		     KEY(call_functions),
		     KEY(call_sites),
		     KEY(call_disarmed),
		     KEY(trap_ns),
		     KEY(trap_low_ns),
		     KEY(trap_high_ns),
		     KEY(traps),
		     KEY(annotations_lost),
		     KEY(calls_lost) };
#undef KEY
	char *one, *value;
	size_t i;

	while ((one = strsep(&text, " "))) {
		value = strchr(one, '=');
		if (!value)
			continue;
		*value++ = 0;
		for (i = 0; i < CP_ARRAY_SIZE(keys); i++)
			if (!strcmp(one, keys[i].name))
				*keys[i].at = strtoull(value, NULL, 10);
		if (!strcmp(one, "status")) {
			t->ended = true;
			t->wait_status = atoi(value);
		}
	}
}

/* What belongs into the header, which is written first. */
static void read_info(struct maker *m, char *rest, const char *word)
{
	size_t n = 0;

	if (!strcmp(word, "command"))
		while (rest && n < 15)
			m->argv[n++] = part(&rest, " ");
	else if (!strcmp(word, "clock"))
		m->info.clock = !strcmp(rest, "wall") ? CP_RECORD_CLOCK_WALL : CP_RECORD_CLOCK_CPU;
	else if (!strcmp(word, "capture"))
		m->info.capture = rest;
	else if (!strcmp(word, "hz"))
		m->info.hz = (uint32_t)atoi(rest);
	else if (!strcmp(word, "length"))
		m->totals.end_ns = START_NS + strtoull(rest, NULL, 10) * 1000;
	else if (!strcmp(word, "summary")) {
		m->summary = true;
		m->open_at_end = rest && !strcmp(rest, "open");
		m->sums.spans.start_ns = m->info.start_ns;
	} else if (!strcmp(word, "totals"))
		read_totals(&m->totals, rest);
}

static bool is_sample(const char *word)
{
	return !strcmp(word, "s") || !strcmp(word, "w");
}

static void write_line(struct maker *m, char *rest, const char *word)
{
	char *a;

	if (made_coverage_is(word)) {
		made_coverage_line(&m->coverage, m->w, word, rest);
		return;
	}
	a = part(&rest, " ");
	if (!strcmp(word, "process")) {
		char *name = part(&rest, " ");
		struct cp_record_process p = { .pid = atoi(a),
					       .ns_pid = atoi(a),
					       .name = name,
					       .exe = rest ? rest : "",
					       .start_ns = START_NS };

		m->process = cp_record_process(m->w, &p);
	} else if (!strcmp(word, "thread")) {
		int tid = atoi(part(&rest, " "));
		struct cp_record_thread t = { .process = m->process,
					      .tid = tid,
					      .ns_tid = tid,
					      .name = rest ? rest : "",
					      .start_ns = START_NS };

		if (rest)
			made_unescape(rest);
		add_thread(m, tid, cp_record_thread(m->w, &t));
	} else if (!strcmp(word, "beat")) {
		write_sums(m);
		cp_record_flush(m->w);
	} else if (!strcmp(word, "a")) {
		uint64_t *thread = cp_map_get(&m->threads, (uint64_t)atoi(a));

		if (thread && rest)
			made_annotation(m->w, (uint32_t)*thread, START_NS, rest);
	} else if (is_call(word)) {
		write_call(m, *word, atoi(a), rest);
	} else if (is_sample(word)) {
		struct cp_record_sample s = { .flags =
						      *word == 'w' ? CP_RECORD_SAMPLE_BLOCKED : 0 };

		s.weight_ns = strtoull(part(&rest, " "), NULL, 10) * 1000;
		s.count = (uint32_t)atoi(part(&rest, " "));
		write_sample(m, atoi(a), s, rest);
	}
}

/* Runs on the writer's thread while places are added: all are known before,
 * since two passes are made over the samples. */
static void resolve(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *names)
{
	const struct maker *m = ctx;
	const struct place *place = &m->list.items[(address - 0x1000) / 16];
	uint32_t i;

	(void)key;
	for (i = 0; i < place->count; i++)
		cp_record_name_frame(names, &place->frames[i]);
	cp_record_name_start(names, address & ~UINT64_C(0xff));
}

static void all_lines(struct maker *m, const char *text,
		      void (*with)(struct maker *m, char *rest, const char *word), bool keep)
{
	char *copy = strdup(text), *rest = copy, *line, *word;

	while ((line = strsep(&rest, "\n"))) {
		while (*line == ' ' || *line == '\t')
			line++;
		word = part(&line, " ");
		with(m, line ? line : word + strlen(word), word);
	}
	if (keep)
		cp_vec_push(&m->lines, copy); /* names point into it */
	else
		free(copy);
}

static void collect_line(struct maker *m, char *rest, const char *word)
{
	uint32_t places[256], flags = 0;

	if (made_coverage_is(word))
		m->info.holds |= CP_RECORD_HAS_COVERAGE;
	if (!strcmp(word, "a"))
		m->info.holds |= CP_RECORD_HAS_ANNOTATIONS;
	if (!is_sample(word) && !is_call(word))
		return;
	if (is_call(word))
		m->info.holds |= m->summary ? CP_RECORD_HAS_CALL_SUMS
					    : CP_RECORD_HAS_CALLS | CP_RECORD_HAS_ARGUMENTS;
	part(&rest, " ");
	if (*word != 'd')
		part(&rest, " ");
	if (!is_call(word) || *word == 't')
		part(&rest, " ");
	if (is_call(word) && *word != 't')
		rest = strchr("rx", *word) ? NULL : part(&rest, " ");
	read_stack(m, rest, places, &flags);
}

static void deinit(struct maker *m)
{
	char **line;

	cp_vec_for_each(&m->lines, line)
		free(*line);
	cp_vec_free(&m->lines);
	cp_vec_free(&m->list);
	cp_interner_free(&m->places);
	cp_interner_free(&m->images);
	cp_map_free(&m->threads);
	cp_map_free(&m->clocks);
	cp_vec_free(&m->open);
	cp_vec_free(&m->processes);
	cp_sums_deinit(&m->sums);
}

CP_ERROR made_write(const char *text, int fd)
{
	struct maker m = { .info = { .holds = CP_RECORD_HAS_SAMPLES,
				     .cprof_version = "test",
				     .host = "host",
				     .machine = "x86_64",
				     .kernel = "Linux",
				     .boot_id = "",
				     .pid = 1,
				     .clock = CP_RECORD_CLOCK_CPU,
				     .hz = 99,
				     .start_ns = START_NS,
				     .cpus = 2,
				     .start_real_ns = 1700000000 * CP_NS_PER_S } };
	struct cp_record_resolver resolver = { resolve, &m };
	struct cp_error *err;

	m.info.command = m.argv;
	all_lines(&m, text, read_info, true);
	all_lines(&m, text, collect_line, true);
	if (m.info.holds & CP_RECORD_HAS_COVERAGE && !m.list.count) {
		m.info.holds = CP_RECORD_HAS_COVERAGE;
		m.info.clock = CP_RECORD_CLOCK_NONE;
		m.info.hz = 0;
	}
	err = cp_record_writer_create(fd, &m.info, &resolver, &m.w);
	if (!err) {
		all_lines(&m, text, write_line, false);
		made_coverage_end(&m.coverage, m.w);
		if (m.summary && !m.open_at_end)
			cp_error_free(cp_sums_end(&m.sums, m.totals.end_ns - START_NS));
		if (m.summary)
			write_sums(&m);
		cp_record_totals(m.w, &m.totals);
		cp_record_writer_destroy(m.w, &err);
	}
	deinit(&m);
	return err;
}

CP_ERROR made_load(const char *text, struct cp_record **ret)
{
	int fd = memfd_create("recording", 0);
	struct cp_error *err;
	char path[64];

	if (fd < 0)
		return cp_error_new(CP_ERR_IO, errno, "memfd_create");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = made_write(text, dup(fd));
	if (!err)
		err = cp_record_load(path, ret);
	close(fd);
	return err;
}
