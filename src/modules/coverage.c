/* SPDX-License-Identifier: MIT
 *
 * `coverage`, the coverage profiler with Mono's options, filter files and XML:
 * on cprof's API alone.
 *
 *   coverage:output=FILE           coverage.xml unless told
 *   coverage:covfilter-file=FILE   lines +[image]prefix and -[image]prefix
 *   coverage:help
 *
 * Without a filter that matches, system programs and libraries are left out;
 * with any `+` all is left out that no `+` names. `+` beats `-`, whatever their
 * order (Mono).
 *
 * Mono's words: an assembly is a program or library, a class the scope that a
 * function's name begins with, or else the file it is declared in; the token is
 * the address in the file.
 */
#include <cprof/cprof.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "base/vec.h"
#include "modules/modules.h"
#include "modules/settings.h"

#define FILTER_SIZE_LIMIT (16u << 20)

struct filter {
	bool plus;
	char *image; /* owned; a glob over file names; NULL: any */
	char *prefix; /* owned; of the function's name */
};

/* Methods that statements were reached of: all, some. */
struct tally {
	unsigned methods, full, partial;
};

struct method {
	const cprof_function *function;
	uint32_t assembly, klass; /* in their dictionaries */
	uint32_t first, count; /* of statements */
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output; /* owned */
	struct cp_text_output out;
	CP_VEC(struct filter) filters;
	bool has_plus;
	CP_VEC(struct method) methods;
	struct cp_interner seen; /* functions: the same of several processes is one */
	struct cp_map sources; /* assemblies that have debug information */
	struct cp_interner assemblies, classes; /* by name */
	CP_VEC(const cprof_image *) images; /* by number of assembly */
	CP_VEC(struct tally) tallies, class_tallies;
	CP_VEC(uint32_t) class_assemblies; /* by number of class */
	CP_VEC(cprof_coverage_data) statements;
	bool failed; /* out of memory */
};

/* ---- filters ---- */

static bool filter_matches(const struct filter *f, const char *image, const char *name)
{
	return (!f->image || !fnmatch(f->image, image, 0)) && cp_starts_with(name, f->prefix);
}

static bool wanted(const cprof_profiler *c, const cprof_function *function)
{
	const cprof_image *image = cprof_function_image(function);
	const char *name = cprof_function_name(function), *file = cprof_image_name(image);
	const struct filter *f;
	bool minus = false;

	cp_vec_for_each(&c->filters, f) {
		if (!filter_matches(f, file, name))
			continue;
		if (f->plus)
			return true;
		minus = true;
	}
	if (minus || c->has_plus)
		return false;
	return *cprof_image_path(image) == '/' && !cp_path_is_system_image(cprof_image_path(image));
}

/* ---- functions ---- */

static uint32_t number_of(cprof_profiler *c, struct cp_interner *names, const char *name,
			  size_t size, bool *fresh_ret)
{
	uint32_t n = 0;

	*fresh_ret = false;
	c->failed |= !cp_intern(names, name, size, &n, fresh_ret);
	return n;
}

static uint32_t find_assembly(cprof_profiler *c, const cprof_image *image)
{
	const char *path = cprof_image_path(image);
	bool fresh;
	uint32_t n = number_of(c, &c->assemblies, path, strlen(path), &fresh);

	if (fresh)
		c->failed |= !cp_vec_push(&c->images, image) ||
			     !cp_vec_push(&c->tallies, (struct tally){ 0 });
	return n;
}

/* Behind the scope of a demangled name: "ns::Foo::bar(int)" is "bar(int)". */
static const char *behind_scope(const char *name)
{
	const char *last = name, *at;
	int depth = 0;

	for (at = name; *at && *at != '('; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth--;
		else if (!depth && at[0] == ':' && at[1] == ':')
			last = at + 2;
	}
	return last;
}

static uint32_t find_class(cprof_profiler *c, const cprof_function *function, uint32_t assembly)
{
	const char *name = cprof_function_name(function), *member = behind_scope(name);
	const char *file = cprof_function_file(function);
	struct cp_buf key = { 0 };
	bool fresh = false;
	uint32_t n;

	cp_buf_printf(&key, "%u ", assembly);
	if (member > name)
		cp_buf_add(&key, name, (size_t)(member - name) - 2);
	else if (file)
		cp_buf_str(&key, cp_basename(file));
	n = number_of(c, &c->classes, key.bytes ? key.bytes : "", key.size, &fresh);
	c->failed |= key.failed;
	cp_buf_free(&key);
	if (fresh)
		c->failed |= !cp_vec_push(&c->class_tallies, (struct tally){ 0 }) ||
			     !cp_vec_push(&c->class_assemblies, assembly);
	return n;
}

static uint64_t token(const cprof_function *f)
{
	return cprof_function_address(f) - cprof_image_base(cprof_function_image(f));
}

static bool filter(cprof_profiler *c, const cprof_function *function)
{
	struct {
		const void *assembly;
		uint64_t address;
	} key = { cprof_image_assembly(cprof_function_image(function)), token(function) };
	bool fresh;

	if (!wanted(c, function))
		return false;
	number_of(c, &c->seen, (const char *)&key, sizeof(key), &fresh);
	if (fresh)
		c->failed |= !cp_vec_push(&c->methods, (struct method){ .function = function });
	return true;
}

static void on_statement(cprof_profiler *c, const cprof_coverage_data *data)
{
	c->failed |= !cp_vec_push(&c->statements, *data);
}

static void count(struct tally *t, unsigned reached, unsigned all)
{
	t->methods++;
	t->full += all && reached == all;
	t->partial += reached && reached < all;
}

static const void *assembly_of(const cprof_function *f)
{
	return cprof_image_assembly(cprof_function_image(f));
}

/* Adds up what was reached of a method; false: it was not instrumented, or is start-up code
 * of the compiler's: without a source beside others that have one. */
static bool collect(cprof_profiler *c, struct method *m)
{
	unsigned reached = 0, i;

	if (!cprof_function_file(m->function) &&
	    cp_map_get(&c->sources, (uintptr_t)assembly_of(m->function)))
		return false;
	m->first = (uint32_t)c->statements.count;
	if (!cprof_profiler_get_coverage_data(c->handle, m->function, on_statement))
		return false;
	m->count = (uint32_t)c->statements.count - m->first;
	m->assembly = find_assembly(c, cprof_function_image(m->function));
	m->klass = find_class(c, m->function, m->assembly);
	if (c->failed)
		return false;
	for (i = 0; i < m->count; i++)
		reached += c->statements.items[m->first + i].counter != 0;
	count(&c->tallies.items[m->assembly], reached, m->count);
	count(&c->class_tallies.items[m->klass], reached, m->count);
	return true;
}

/* ---- XML ---- */

static void attribute(struct cp_buf *out, const char *name, const char *value)
{
	cp_buf_printf(out, " %s=\"", name);
	cp_escape(out, CP_ESCAPE_XML, value, strlen(value));
	cp_buf_u8(out, '"');
}

static void end_tally(struct cp_buf *out, const struct tally *t)
{
	cp_buf_printf(out, " method-count=\"%u\" full=\"%u\" partial=\"%u\"/>\n", t->methods,
		      t->full, t->partial);
}

/* Interned as "ASSEMBLY NAME". */
static const char *class_name(const cprof_profiler *c, uint32_t n)
{
	return strchr(c->classes.items[n].bytes, ' ') + 1;
}

static void write_assembly(const cprof_profiler *c, uint32_t n, struct cp_buf *out)
{
	const cprof_image *image = c->images.items[n];
	uint32_t i;

	cp_buf_str(out, "\t<assembly");
	attribute(out, "name", cprof_image_name(image));
	attribute(out, "guid", cprof_image_build_id(image));
	attribute(out, "filename", cprof_image_path(image));
	end_tally(out, &c->tallies.items[n]);
	for (i = 0; i < c->class_assemblies.count; i++) {
		if (c->class_assemblies.items[i] != n)
			continue;
		cp_buf_str(out, "\t<class");
		attribute(out, "name", class_name(c, i));
		end_tally(out, &c->class_tallies.items[i]);
	}
}

static void write_method(const cprof_profiler *c, const struct method *m, struct cp_buf *out)
{
	const char *file = cprof_function_file(m->function);
	const cprof_coverage_data *s;
	uint32_t i;

	cp_buf_str(out, "\t<method");
	attribute(out, "assembly", cprof_image_name(c->images.items[m->assembly]));
	attribute(out, "class", class_name(c, m->klass));
	attribute(out, "name", behind_scope(cprof_function_name(m->function)));
	attribute(out, "filename", file ? file : "");
	cp_buf_printf(out, " token=\"%" PRIu64 "\">\n", token(m->function));
	for (i = 0; i < m->count; i++) {
		s = &c->statements.items[m->first + i];
		cp_buf_printf(out,
			      "\t\t<statement offset=\"%u\" counter=\"%u\" line=\"%u\" "
			      "column=\"%u\"/>\n",
			      s->native_offset, s->counter, s->line, s->column);
	}
	cp_buf_str(out, "\t</method>\n");
}

static void write_out(cprof_profiler *c, struct cp_buf *text)
{
	if (text->size)
		fwrite(text->bytes, 1, text->size, c->out.file);
	cp_text_output_check(&c->out);
	c->failed |= text->failed;
	cp_buf_clear(text);
}

static void write_all(cprof_profiler *c)
{
	struct cp_buf out = { 0 };
	struct method *m;
	uint32_t n;

	cp_buf_str(&out, "<?xml version=\"1.0\"?>\n<coverage version=\"0.3\">\n");
	for (n = 0; n < c->images.count; n++)
		write_assembly(c, n, &out);
	cp_vec_for_each(&c->methods, m) {
		if (m->function)
			write_method(c, m, &out);
		write_out(c, &out);
	}
	cp_buf_str(&out, "</coverage>\n");
	write_out(c, &out);
	cp_buf_free(&out);
}

static void on_initialized(cprof_profiler *c)
{
	settings_open_late(c->handle, c->output, &c->out);
}

static void on_shutdown(cprof_profiler *c)
{
	struct method *m;

	cp_vec_for_each(&c->methods, m) {
		if (cprof_function_file(m->function))
			cp_map_put(&c->sources, (uintptr_t)assembly_of(m->function), 1);
	}
	cp_vec_for_each(&c->methods, m) {
		if (!collect(c, m))
			m->function = NULL;
	}
	if (c->out.file && !c->failed)
		write_all(c);
	if (c->failed)
		cprof_profiler_fail(c->handle, "coverage: out of memory");
	settings_close(c->handle, c->output, &c->out);
}

static void cleanup(cprof_profiler *c)
{
	struct filter *f;

	cp_text_output_close(&c->out);
	cp_vec_for_each(&c->filters, f) {
		free(f->image);
		free(f->prefix);
	}
	cp_vec_free(&c->filters);
	cp_vec_free(&c->methods);
	cp_interner_free(&c->seen);
	cp_map_free(&c->sources);
	cp_interner_free(&c->assemblies);
	cp_interner_free(&c->classes);
	cp_vec_free(&c->images);
	cp_vec_free(&c->tallies);
	cp_vec_free(&c->class_tallies);
	cp_vec_free(&c->class_assemblies);
	cp_vec_free(&c->statements);
	free(c->output);
	free(c);
}

/* ---- options ---- */

/* "+[image]prefix"; false: it is not that. */
static bool add_filter(cprof_profiler *c, const char *line)
{
	const char *end = line[0] && line[1] == '[' ? strchr(line, ']') : NULL;
	struct filter f = { .plus = *line == '+' };

	if ((*line != '+' && *line != '-') || (line[1] == '[' && !end))
		return false;
	f.prefix = strdup(end ? end + 1 : line + 1);
	if (end && end > line + 2)
		f.image = strndup(line + 2, (size_t)(end - line) - 2);
	if (f.prefix && cp_vec_push(&c->filters, f)) {
		c->has_plus |= f.plus;
		return true;
	}
	free(f.image);
	free(f.prefix);
	c->failed = true;
	return true;
}

static bool read_filters(cprof_profiler *c, const char *path)
{
	struct cp_buf text = { 0 };
	struct cp_error *err = cp_file_read(AT_FDCWD, path, FILTER_SIZE_LIMIT, &text);
	char *line, *rest = text.bytes;
	unsigned number = 0;

	if (err)
		cprof_profiler_fail(c->handle, "coverage: %s", err->what);
	while (!err && rest && (line = strsep(&rest, "\n")) != NULL) {
		number++;
		line += strspn(line, " \t");
		line[strcspn(line, "\r")] = 0;
		if (!*line || *line == '#' || add_filter(c, line))
			continue;
		cprof_profiler_fail(c->handle,
				    "coverage: %s:%u: a filter is +[IMAGE]PREFIX or "
				    "-[IMAGE]PREFIX",
				    path, number);
		break;
	}
	cp_error_free(err);
	cp_buf_free(&text);
	return !cprof_session_profiler_failed(cprof_session_current());
}

static const char usage[] =
	"coverage: the coverage profiler, --profile=coverage[:OPTION[,OPTION...]]\n"
	"  output=FILE          the XML; coverage.xml unless told; +FILE, #DESCRIPTOR, |COMMAND "
	"and -\n"
	"                       as with log\n"
	"  covfilter-file=FILE  lines +[IMAGE]PREFIX and -[IMAGE]PREFIX: which functions count, "
	"by\n"
	"                       the file's name (a glob) and the beginning of their names; + "
	"beats\n"
	"                       -, in any order; may be repeated\n"
	"  help                 this";

static bool take_option(cprof_profiler *c, const char *key, const char *value)
{
	if (!strcmp(key, "covfilter-file") && value && *value)
		return read_filters(c, value);
	if (strcmp(key, "output") != 0 || !value || !*value)
		return false;
	free(c->output);
	c->output = strdup(value);
	return c->output != NULL;
}

void cp_module_coverage_init(const char *desc)
{
	cprof_profiler *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->output = strdup("coverage.xml");
	if (c->output)
		c->handle = cprof_profiler_create(c);
	if (!c->handle) {
		cleanup(c);
		return;
	}
	cprof_profiler_set_cleanup_callback(c->handle, cleanup);
	if (!settings_parse(c->handle, c, desc, usage, take_option) ||
	    !settings_open_early(c->handle, c->output, &c->out))
		return;
	if (!cprof_profiler_enable_coverage()) {
		cprof_profiler_fail(c->handle, "coverage can't be recorded: it is too late");
		return;
	}
	cprof_profiler_set_coverage_mode(c->handle, CPROF_COVERAGE_COUNT);
	cprof_profiler_set_coverage_branches(c->handle, CPROF_COVERAGE_BRANCHES_NONE);
	cprof_profiler_set_coverage_filter_callback(c->handle, filter);
	cprof_profiler_set_runtime_initialized_callback(c->handle, on_initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(c->handle, on_shutdown);
}
