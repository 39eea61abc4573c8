/* SPDX-License-Identifier: MIT
 *
 * `order`: the functions of a program by their first call, for a linker to put
 * together what runs together at the start. Mono's `aot` profiler lists the
 * methods that ran; its name is an alias.
 *
 *   order:output=FILE    the list; cprof.order unless told
 *   order:spec=SPEC      of these functions ("program")
 *   order:format=lld     names, for lld --symbol-ordering-file; or
 *         format=gold    sections, for gold --section-ordering-file
 *   order:verbose        with comments: which file, which function
 *
 * Each function costs one stop: its breakpoint goes at the first hit. What the
 * linker makes itself, or knows no name of, is left out.
 */
#include <cprof/cprof.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "modules/modules.h"
#include "modules/settings.h"

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output, *spec; /* owned; NULL: as unless told */
	struct cp_text_output out;
	cprof_callspec *chosen; /* owned */
	bool gold, verbose;
	struct cp_interner names; /* written */
	uint64_t nameless; /* functions without a symbol that ran */
};

/* As the linker knows it: without a version, and one word. It makes stubs itself. */
static size_t name_size(const char *name)
{
	size_t size = strcspn(name, "@"), i;

	if (!strcmp(name + size, "@plt"))
		return 0;
	for (i = 0; i < size; i++)
		if (isspace((unsigned char)name[i]) || iscntrl((unsigned char)name[i]))
			return 0;
	return size;
}

static void comment(cprof_profiler *o, const cprof_function *function)
{
	char name[512];

	cprof_escape(name, sizeof(name), CPROF_ESCAPE_TERMINAL, cprof_function_name(function));
	fprintf(o->out.file, "# %s\t", name);
	cprof_escape(name, sizeof(name), CPROF_ESCAPE_TERMINAL,
		     cprof_image_path(cprof_function_image(function)));
	fprintf(o->out.file, "%s\n", name);
}

/* gcc puts functions that it thinks hot, cold, or of the start into sections
 * of their own kinds. */
static void write_sections(cprof_profiler *o, const char *name, int size)
{
	static const char *const kinds[] = { "", ".startup", ".hot", ".unlikely", ".exit" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(o->out.file, ".text%s.%.*s\n", kinds[i], size, name);
}

/* Found by its call frame information alone, and called after its address. */
static bool is_nameless(const cprof_function *f)
{
	cprof_addr address = cprof_function_address(f) - cprof_image_base(cprof_function_image(f));
	char made[32];

	snprintf(made, sizeof(made), "fn_%" PRIx64, address);
	return !strcmp(cprof_function_linkage_name(f), made);
}

static void on_enter(cprof_profiler *o, const cprof_function *function, cprof_call_context *context)
{
	const char *name = cprof_function_linkage_name(function);
	size_t size = name_size(name);
	uint32_t number;
	bool fresh = false;

	(void)context;
	if (!o->out.file || !size || !cprof_callspec_match(o->chosen, function) ||
	    !cp_intern(&o->names, name, size, &number, &fresh) || !fresh)
		return;
	if (is_nameless(function)) {
		o->nameless++;
		return;
	}
	if (o->verbose)
		comment(o, function);
	if (o->gold)
		write_sections(o, name, (int)size);
	else
		fprintf(o->out.file, "%.*s\n", (int)size, name);
	cp_text_output_check(&o->out);
}

static void on_initialized(cprof_profiler *o)
{
	settings_open_late(o->handle, o->output, &o->out);
}

static void on_shutdown(cprof_profiler *o)
{
	if (o->nameless)
		cprof_profiler_printf(o->handle,
				      "left out: %" PRIu64
				      " without a symbol that ran; the program "
				      "is stripped",
				      o->nameless);
	settings_close(o->handle, o->output, &o->out);
}

static void cleanup(cprof_profiler *o)
{
	cp_text_output_close(&o->out);
	cprof_callspec_free(o->chosen);
	cp_interner_free(&o->names);
	free(o->output);
	free(o->spec);
	free(o);
}

static const char usage[] =
	"order: functions by their first call, for a linker; --profile=order[:OPTION[,OPTION...]]\n"
	"  output=FILE   cprof.order unless told; +FILE, #DESCRIPTOR, |COMMAND and - as with log\n"
	"  spec=SPEC     which functions, as --trace takes it; 'program' unless told\n"
	"  format=lld    names, for ld.lld --symbol-ordering-file (unless told)\n"
	"  format=gold   sections, for gold --section-ordering-file\n"
	"  verbose       with comments: the demangled name and the file of each\n"
	"  help          this";

static bool set_text(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to != NULL;
}

static bool take_option(cprof_profiler *o, const char *key, const char *value)
{
	if (!strcmp(key, "verbose") && !value)
		o->verbose = true;
	else if (!strcmp(key, "output") && value && *value)
		return set_text(&o->output, value);
	else if (!strcmp(key, "spec") && value && *value)
		return set_text(&o->spec, value);
	else if (!strcmp(key, "format") && value && !strcmp(value, "gold"))
		o->gold = true;
	else
		return !strcmp(key, "format") && value && !strcmp(value, "lld");
	return true;
}

void cp_module_order_init(const char *desc)
{
	const unsigned flags = CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ONCE;
	cprof_profiler *o = calloc(1, sizeof(*o));

	if (!o)
		return;
	o->output = strdup("cprof.order");
	o->spec = strdup("program");
	if (o->output && o->spec)
		o->handle = cprof_profiler_create(o);
	if (!o->handle) {
		cleanup(o);
		return;
	}
	cprof_profiler_set_cleanup_callback(o->handle, cleanup);
	if (!settings_parse(o->handle, o, desc, usage, take_option) ||
	    !settings_trace(o->handle, o->spec, flags, &o->chosen) ||
	    !settings_open_early(o->handle, o->output, &o->out))
		return;
	cprof_profiler_set_runtime_initialized_callback(o->handle, on_initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(o->handle, on_shutdown);
	cprof_profiler_set_method_enter_callback(o->handle, on_enter);
}
