/* SPDX-License-Identifier: MIT
 *
 * `stacks`: folded stacks of samples, "outermost;...;innermost NANOSECONDS", a
 * line a stack, as flamegraph.pl, inferno and speedscope read them; what
 * `cprof export -f folded` makes of a recording, without one.
 *
 *   stacks:hz=99,clock=cpu|wall,inlines,output=FILE
 *
 * Stacks are kept as places and added up; names are looked up at the end, once for each
 * place.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "modules/modules.h"
#include "modules/settings.h"

/* What weights are of: no padding. */
struct key {
	const cprof_process *process;
	uint64_t stack;
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output; /* owned */
	struct cp_text_output out;
	cprof_sample_mode mode;
	uint32_t hz;
	bool inlines, asked; /* asked: for samples of a certain kind */
	cprof_stacks *stacks; /* owned */
	cprof_tally *weights; /* owned; ns, by struct key */
	bool failed; /* out of memory */
};

/* ---- samples ---- */

static void on_sample(cprof_profiler *s, cprof_addr ip, const cprof_context *context)
{
	struct key key = { .process = cprof_current_process() };
	cprof_sample sample;

	(void)context;
	if (!cprof_current_sample(&sample) || s->failed)
		return;
	key.stack = cprof_stacks_current(s->stacks, ip);
	s->failed = key.stack == CPROF_NO_STACK ||
		    !cprof_tally_add(s->weights, &key, 1, sample.weight_ns);
}

/* ---- names ---- */

/* Names of a place: those of inlined functions first, each with a NUL. */
struct names {
	struct cp_buf text;
	bool inlines;
};

static void add_name(const cprof_symbol *symbol, void *data)
{
	struct names *n = data;

	if (!symbol->inlined || n->inlines)
		cp_buf_add(&n->text, symbol->name, strlen(symbol->name) + 1);
}

/* ---- writing ---- */

static void add_text(struct cp_buf *line, const char *name)
{
	if (line->size)
		cp_buf_u8(line, ';');
	cp_escape(line, CP_ESCAPE_FOLDED, name, strlen(name));
}

/* Outermost first. */
static void add_names(struct cp_buf *line, const struct names *n)
{
	size_t end = n->text.size, at;

	while (end) {
		for (at = end - 1; at && n->text.bytes[at - 1]; at--)
			;
		add_text(line, n->text.bytes + at);
		end = at;
	}
}

static void add_process(struct cp_buf *line, const cprof_process *p)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const char *comm = cprof_process_name(p);

	cp_buf_printf(&name, "%s (%d)", comm && *comm ? comm : "process", cprof_process_pid(p));
	if (name.bytes)
		add_text(line, name.bytes);
}

static void make_line(const cprof_profiler *s, const struct key *key, const struct names *names,
		      bool processes, struct cp_buf *line)
{
	const uint32_t *places;
	size_t i = cprof_stacks_places(s->stacks, (uint32_t)key->stack, &places);

	cp_buf_clear(line);
	if (processes)
		add_process(line, key->process);
	if (cprof_stacks_is_truncated(s->stacks, (uint32_t)key->stack))
		add_text(line, "[truncated]");
	while (i-- > 0)
		add_names(line, &names[places[i]]);
	cp_buf_u8(line, 0);
}

/* Does more than one process have any time? */
static bool several_processes(const cprof_profiler *s)
{
	int32_t pid, first = 0;
	size_t i;

	for (i = 0; i < cprof_tally_count(s->weights); i++) {
		const cprof_tally_row *row = cprof_tally_row_at(s->weights, i);

		if (!row->sum)
			continue;
		pid = cprof_process_pid(((const struct key *)row->key)->process);
		if (first && pid != first)
			return true;
		first = pid;
	}
	return false;
}

/* Different addresses may read the same: they are one line. */
static bool write_lines(cprof_profiler *s, const struct names *names)
{
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	cprof_tally *lines = cprof_tally_create(0, 0);
	bool processes = several_processes(s), good = lines != NULL;
	size_t i;

	for (i = 0; i < cprof_tally_count(s->weights) && good; i++) {
		const cprof_tally_row *row = cprof_tally_row_at(s->weights, i);

		make_line(s, row->key, names, processes, &line);
		good = !line.failed && cprof_tally_add(lines, line.bytes, row->count, row->sum);
	}
	for (i = 0; good && i < cprof_tally_count(lines); i++) {
		const cprof_tally_row *row = cprof_tally_row_at(lines, i);

		if (row->sum)
			fprintf(s->out.file, "%s %" PRIu64 "\n", (const char *)row->key, row->sum);
		cp_text_output_check(&s->out);
	}
	cprof_tally_free(lines);
	return good;
}

static void on_initialized(cprof_profiler *s)
{
	settings_open_late(s->handle, s->output, &s->out);
}

static void on_shutdown(cprof_profiler *s)
{
	size_t count = cprof_stacks_place_count(s->stacks), i;
	struct names *names = calloc(count + 1, sizeof(*names));

	s->failed |= !names;
	for (i = 0; i < count && !s->failed; i++) {
		names[i].inlines = s->inlines;
		cprof_place_symbolize(cprof_stacks_place(s->stacks, (uint32_t)i), add_name,
				      &names[i]);
		s->failed |= names[i].text.failed;
	}
	if (s->out.file && !s->failed)
		s->failed = !write_lines(s, names);
	if (s->failed)
		cprof_profiler_fail(s->handle, "stacks: out of memory");
	settings_close(s->handle, s->output, &s->out);
	for (i = 0; names && i < count; i++)
		cp_buf_free(&names[i].text);
	free(names);
}

static void cleanup(cprof_profiler *s)
{
	cp_text_output_close(&s->out);
	cprof_stacks_free(s->stacks);
	cprof_tally_free(s->weights);
	free(s->output);
	free(s);
}

/* ---- options ---- */

static const char usage[] =
	"stacks: folded stacks of samples, for flame graphs; "
	"--profile=stacks[:OPTION[,OPTION...]]\n"
	"  output=FILE      cprof.folded unless told; +FILE, #DESCRIPTOR, |COMMAND and - as with\n"
	"                   log\n"
	"  hz=N             samples a second; 99 unless told\n"
	"  clock=cpu|wall   time on CPU (unless told), or elapsed time\n"
	"  inlines          inlined calls as frames of their own\n"
	"  help             this";

static bool take_option(cprof_profiler *s, const char *key, const char *value)
{
	uint64_t hz;

	if (!strcmp(key, "inlines") && !value) {
		s->inlines = true;
	} else if (!strcmp(key, "hz") && value) {
		if (!cp_parse_u64(value, CPROF_SAMPLE_MAX_FREQUENCY, &hz) || !hz)
			return false;
		s->hz = (uint32_t)hz;
		s->asked = true;
	} else if (!strcmp(key, "clock") && value) {
		if (strcmp(value, "cpu") != 0 && strcmp(value, "wall") != 0)
			return false;
		s->mode = *value == 'w' ? CPROF_SAMPLE_MODE_REAL : CPROF_SAMPLE_MODE_PROCESS;
		s->asked = true;
	} else if (!strcmp(key, "output") && value && *value) {
		free(s->output);
		s->output = strdup(value);
		return s->output != NULL;
	} else {
		return false;
	}
	return true;
}

void cp_module_stacks_init(const char *desc)
{
	cprof_profiler *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->output = strdup("cprof.folded");
	s->mode = CPROF_SAMPLE_MODE_PROCESS;
	s->hz = 99;
	s->stacks = cprof_stacks_create();
	s->weights = cprof_tally_create(sizeof(struct key), 0);
	if (s->output && s->stacks && s->weights)
		s->handle = cprof_profiler_create(s);
	if (!s->handle) {
		cleanup(s);
		return;
	}
	cprof_profiler_set_cleanup_callback(s->handle, cleanup);
	if (!settings_parse(s->handle, s, desc, usage, take_option) ||
	    !settings_open_early(s->handle, s->output, &s->out))
		return;
	cprof_profiler_set_runtime_initialized_callback(s->handle, on_initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(s->handle, on_shutdown);
	cprof_profiler_set_sample_hit_callback(s->handle, on_sample);
	settings_sample(s->handle, s->asked, &s->mode, &s->hz);
}
