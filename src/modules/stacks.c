/* SPDX-License-Identifier: MIT
 *
 * `stacks`: folded stacks of samples, "outermost;...;innermost NANOSECONDS", a
 * line a stack, as flamegraph.pl, inferno and speedscope read them; what
 * `cprof export -f folded` makes of a recording, without one.
 *
 *   stacks:hz=99,clock=cpu|wall,inlines,output=FILE
 *
 * Samples are kept as addresses and added up; names are looked up at the end,
 * once for each address.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "modules/modules.h"
#include "modules/settings.h"

/* A place in code, as it is interned: no padding. */
struct place {
	uintptr_t assembly; /* cprof_assembly *, 0: none */
	uint64_t address; /* link-time; without an assembly run-time */
	uint64_t is_signal;
};

/* The beginning of an interned stack; places follow, leaf first. */
struct origin {
	uintptr_t process; /* cprof_process * */
	uint64_t is_truncated;
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output; /* owned */
	struct cp_text_output out;
	cprof_sample_mode mode;
	uint32_t hz;
	bool inlines, asked; /* asked: for samples of a certain kind */
	struct cp_interner places, stacks; /* stacks: origin, then numbers of places */
	CP_VEC(uint64_t) weights; /* by stack, ns */
	struct cp_buf stack; /* being walked */
	struct origin origin;
	bool failed; /* out of memory */
};

/* ---- samples ---- */

static void add_place(cprof_profiler *s, const struct place *place)
{
	uint32_t number;

	if (cp_intern(&s->places, place, sizeof(*place), &number, NULL))
		cp_buf_add(&s->stack, &number, sizeof(number));
	else
		s->failed = true;
}

static cprof_walk add_frame(const cprof_function *function, cprof_addr ip,
			    const cprof_frame_info *frame, size_t size,
			    const cprof_context *context, void *data)
{
	const cprof_image *image = cprof_frame_info_image(frame);
	const struct place place = {
		.assembly = image ? (uintptr_t)cprof_image_assembly(image) : 0,
		.address = cprof_frame_info_address(frame),
		.is_signal = cprof_frame_info_is_signal(frame),
	};
	cprof_profiler *s = data;

	(void)function;
	(void)ip;
	(void)size;
	(void)context;
	add_place(s, &place);
	s->origin.is_truncated |= cprof_frame_info_is_truncated(frame);
	return CPROF_WALK_CONTINUE;
}

static void on_sample(cprof_profiler *s, cprof_addr ip, const cprof_context *context)
{
	const struct place nowhere = { .address = ip };
	cprof_sample sample;
	cprof_status status;
	uint32_t number;
	bool fresh;

	(void)context;
	if (!cprof_current_sample(&sample) || s->failed)
		return;
	s->origin = (struct origin){ .process = (uintptr_t)cprof_current_process() };
	cp_buf_clear(&s->stack);
	cp_buf_add(&s->stack, &s->origin, sizeof(s->origin));
	status = cprof_do_stack_snapshot(cprof_current_thread(), add_frame,
					 CPROF_SNAPSHOT_ALL_FRAMES | CPROF_SNAPSHOT_ADDRESSES, s,
					 NULL, 0);
	s->origin.is_truncated |= status != CPROF_OK;
	if (s->stack.size == sizeof(s->origin))
		add_place(s, &nowhere);
	s->failed |= s->stack.failed;
	if (s->failed)
		return;
	memcpy(s->stack.bytes, &s->origin, sizeof(s->origin));
	if (!cp_intern(&s->stacks, s->stack.bytes, s->stack.size, &number, &fresh) ||
	    (fresh && !cp_vec_push(&s->weights, 0)))
		s->failed = true;
	else
		s->weights.items[number] += sample.weight_ns;
}

/* ---- names ---- */

/* Names of a place: those of inlined functions first, each with a NUL. */
struct names {
	struct cp_buf text;
	uint64_t start; /* of a function without a name; 0: unknown */
	bool inlines;
};

static void add_name(const cprof_symbol *symbol, void *data)
{
	struct names *n = data;

	if (!symbol->inlined)
		n->start = symbol->start;
	if (!symbol->name || !*symbol->name || (symbol->inlined && !n->inlines))
		return;
	cp_buf_add(&n->text, symbol->name, strlen(symbol->name) + 1);
}

/* As reports call what has no name. */
static void name_unknown(const struct place *place, struct names *n)
{
	const char *path = NULL, *file = NULL;

	if (place->assembly) {
		path = cprof_assembly_path((cprof_assembly *)place->assembly);
		file = *path == '[' ? path : cp_basename(path);
	}
	if (place->is_signal)
		cp_buf_str(&n->text, "<signal handler called>");
	else if (!file || !*file)
		cp_buf_str(&n->text, "[unknown]");
	else if (*file == '[')
		cp_buf_str(&n->text, file);
	else if (n->start)
		cp_buf_printf(&n->text, "%s+0x%" PRIx64, file, n->start);
	else
		cp_buf_printf(&n->text, "[%s]", file);
	cp_buf_u8(&n->text, 0);
}

static void look_up(const cprof_profiler *s, const struct place *place, struct names *n)
{
	*n = (struct names){ .inlines = s->inlines };
	if (place->assembly)
		cprof_assembly_symbolize((cprof_assembly *)place->assembly, place->address,
					 add_name, n);
	if (!n->text.size)
		name_unknown(place, n);
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

static void make_line(const cprof_profiler *s, uint32_t stack, const struct names *names,
		      bool processes, struct cp_buf *line)
{
	const struct cp_interned *key = &s->stacks.items[stack];
	const char *numbers = (const char *)key->bytes + sizeof(struct origin);
	size_t i = (key->size - sizeof(struct origin)) / sizeof(uint32_t);
	struct origin origin;
	uint32_t number;

	memcpy(&origin, key->bytes, sizeof(origin));
	cp_buf_clear(line);
	if (processes)
		add_process(line, (const cprof_process *)origin.process);
	if (origin.is_truncated)
		add_text(line, "[truncated]");
	while (i-- > 0) {
		memcpy(&number, numbers + i * sizeof(number), sizeof(number));
		add_names(line, &names[number]);
	}
}

/* Does more than one process have any time? */
static bool several_processes(const cprof_profiler *s)
{
	int32_t pid, first = 0;
	struct origin origin;
	size_t i;

	for (i = 0; i < s->weights.count; i++) {
		if (!s->weights.items[i])
			continue;
		memcpy(&origin, s->stacks.items[i].bytes, sizeof(origin));
		pid = cprof_process_pid((const cprof_process *)origin.process);
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
	struct cp_interner lines CP_CLEANUP(cp_interner_free) = { 0 };
	bool processes = several_processes(s), good = true, fresh;
	CP_VEC(uint64_t) sums = { 0 };
	uint32_t number;
	size_t i;

	for (i = 0; i < s->stacks.count && good; i++) {
		make_line(s, (uint32_t)i, names, processes, &line);
		good = !line.failed &&
		       cp_intern(&lines, line.bytes ? line.bytes : "", line.size, &number,
				 &fresh) &&
		       (!fresh || cp_vec_push(&sums, 0));
		if (good)
			sums.items[number] += s->weights.items[i];
	}
	for (i = 0; i < lines.count && good; i++) {
		if (sums.items[i])
			fprintf(s->out.file, "%s %" PRIu64 "\n", (const char *)lines.items[i].bytes,
				sums.items[i]);
		cp_text_output_check(&s->out);
	}
	cp_vec_free(&sums);
	return good;
}

static void on_initialized(cprof_profiler *s)
{
	settings_open_late(s->handle, s->output, &s->out);
}

static void on_shutdown(cprof_profiler *s)
{
	struct names *names = calloc(s->places.count + 1, sizeof(*names));
	struct place place;
	size_t i;

	s->failed |= !names;
	for (i = 0; i < s->places.count && !s->failed; i++) {
		memcpy(&place, s->places.items[i].bytes, sizeof(place));
		look_up(s, &place, &names[i]);
		s->failed |= names[i].text.failed;
	}
	if (s->out.file && !s->failed)
		s->failed = !write_lines(s, names);
	if (s->failed)
		cprof_profiler_fail(s->handle, "stacks: out of memory");
	settings_close(s->handle, s->output, &s->out);
	for (i = 0; names && i < s->places.count; i++)
		cp_buf_free(&names[i].text);
	free(names);
}

static void cleanup(cprof_profiler *s)
{
	cp_text_output_close(&s->out);
	cp_interner_free(&s->places);
	cp_interner_free(&s->stacks);
	cp_vec_free(&s->weights);
	cp_buf_free(&s->stack);
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
	if (s->output)
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
