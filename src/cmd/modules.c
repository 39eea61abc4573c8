/* SPDX-License-Identifier: MIT
 *
 * cprof modules: which profilers there are, whether a file is one, and where
 * the events come from that they are told of. Nothing of a module runs for
 * the list; --check loads it, in a process of its own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/modules.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "cprof/types.h"
#include "engine/api/builtins.h"
#include "engine/api/events.h"
#include "engine/api/module.h"
#include "report/look/table.h"

#define PREFIX "libcprof-profiler-"
#define SUFFIX ".so"
#define CHECK_SECONDS 30
#define MAX_WHY 4096
#define LOADED "+" /* a constructor that ends the process says no such thing */

struct modules_options {
	const char *check;
	bool events, json;
	struct cp_texts plugin_dirs;
};

#define AT(field) offsetof(struct modules_options, field)

static const struct cp_option options[] = {
	{ "check", 0, CP_OPTION_TEXT, AT(check), .value = "FILE", .completes = CP_COMPLETES_FILES,
	  .help = "whether this file can be loaded, and why not; loads it in another process" },
	{ "events", 0, CP_OPTION_TRUE, AT(events),
	  .help = "the events that profilers can ask for, and where they come from" },
	{ "plugin-dir", 0, CP_OPTION_TEXTS, AT(plugin_dirs), .value = "DIR",
	  .completes = CP_COMPLETES_DIRECTORIES,
	  .help = "look for profilers in DIR first; may be repeated" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "as JSON" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", options, 0 }, { 0 } };

/* ---- events ---- */

static const char *const sources[] = {
	[CP_SOURCE_RAISED] = "raised",
	[CP_SOURCE_EMULATED] = "emulated",
	[CP_SOURCE_NONE] = "not raised",
	[CP_SOURCE_NEVER] = "never raised",
};

static void events_json(struct cp_json *j)
{
	const struct cp_event_info *e;

	cp_json_begin(j, NULL, '[');
	for (e = cp_event_infos; e < cp_event_infos + cp_event_info_count; e++) {
		cp_buf_u8(j->out, '\n');
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "event", e->name);
		cp_json_str(j, "source", sources[e->source]);
		cp_json_str(j, "by", e->by);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	cp_buf_u8(j->out, '\n');
}

/* Columns before what an event comes from, which is wrapped and never cut. */
#define EVENT_COLUMNS 24
#define SOURCE_COLUMNS 14

static void cell(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint,
		 const char *text, size_t columns)
{
	size_t used = cp_text_columns(text);

	cp_paint(out, look, paint, text);
	cp_buf_printf(out, "%*s", used < columns ? (int)(columns - used) : 1, "");
}

static void events_table(const struct cp_look *look, struct cp_buf *out)
{
	static const enum cp_paint paints[] = {
		[CP_SOURCE_RAISED] = CP_PAINT_COOL,
		[CP_SOURCE_EMULATED] = CP_PAINT_WARM,
		[CP_SOURCE_NONE] = CP_PAINT_DIM,
		[CP_SOURCE_NEVER] = CP_PAINT_DIM,
	};
	const size_t before = 2 + EVENT_COLUMNS + SOURCE_COLUMNS;
	const struct cp_event_info *e;

	cp_buf_str(out, "  ");
	cell(out, look, CP_PAINT_DIM, "EVENT", EVENT_COLUMNS);
	cell(out, look, CP_PAINT_DIM, "SOURCE", SOURCE_COLUMNS);
	cp_paint(out, look, CP_PAINT_DIM, "BY");
	cp_buf_u8(out, '\n');
	for (e = cp_event_infos; e < cp_event_infos + cp_event_info_count; e++) {
		cp_buf_str(out, "  ");
		cell(out, look, CP_PAINT_NAME, e->name, EVENT_COLUMNS);
		cell(out, look, paints[e->source], sources[e->source], SOURCE_COLUMNS);
		cp_add_wrapped(out, look, before, before, e->by);
	}
	cp_buf_str(out,
		   "\nraised        it happens, and is told\n"
		   "emulated      as the contract has it, from what is as near as native code has\n"
		   "not raised    it can be asked for, and this version does not look for it\n"
		   "never raised  native code has no such thing\n");
}

/* ---- the list ---- */

struct module {
	char *name, *path; /* owned; path NULL: built in */
	const char *by; /* who named its directory; static, or of the places */
	struct cp_module_file file;
	char *why; /* owned: it can't be loaded; NULL: it can, by what it says */
};

struct list {
	CP_VEC(struct module) modules;
	struct cp_module_places places;
	bool failed; /* out of memory */
};

static const struct module *find(const struct list *l, const char *name)
{
	const struct module *m;

	cp_vec_for_each(&l->modules, m)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

/* NAME of libcprof-profiler-NAME.so, malloc()ed, or NULL. */
static char *name_of(const char *file)
{
	size_t size = strlen(file);

	if (!cp_starts_with(file, PREFIX) || !cp_ends_with(file, SUFFIX) ||
	    size <= strlen(PREFIX) + strlen(SUFFIX))
		return NULL;
	return strndup(file + strlen(PREFIX), size - strlen(PREFIX) - strlen(SUFFIX));
}

static char *why_not(struct cp_error *err)
{
	char *why = err ? strdup(err->what) : NULL;

	cp_error_free(err);
	return why;
}

/* A file is listed unless an earlier place has one of that name, which hides it. */
static void add_file(struct list *l, const struct cp_module_place *place, const char *file)
{
	struct module m = { .name = name_of(file), .by = place->by };
	struct cp_error *err;

	if (!m.name || find(l, m.name) || asprintf(&m.path, "%s/%s", place->directory, file) < 0) {
		free(m.name);
		return;
	}
	err = cp_module_check_name(m.name, strlen(m.name));
	if (!err)
		err = cp_module_read(m.path, &m.file);
	if (!err)
		err = cp_module_judge(m.path, &m.file);
	m.why = why_not(err);
	l->failed |= !cp_vec_push(&l->modules, m);
}

static void add_directory(struct list *l, const struct cp_module_place *place)
{
	struct dirent **files;
	int count = scandir(place->directory, &files, NULL, alphasort), i;

	for (i = 0; i < count; i++) {
		add_file(l, place, files[i]->d_name);
		free(files[i]);
	}
	if (count >= 0)
		free(files);
}

static void make_list(struct list *l, const struct modules_options *o)
{
	const struct cp_module_place *place;
	const struct cp_builtin *b;

	*l = (struct list){ 0 };
	for (b = cp_builtins; b->name; b++) {
		struct module m = { .name = strdup(b->name), .by = "built in" };

		m.file.has_version = true;
		m.file.version = CPROF_PROFILER_API_VERSION;
		m.file.summary = b->summary ? strdup(b->summary) : NULL;
		l->failed |= !m.name || !cp_vec_push(&l->modules, m);
	}
	l->failed |= !cp_module_places_find(o->plugin_dirs.items, &l->places);
	cp_vec_for_each(&l->places.list, place)
		add_directory(l, place);
}

static void free_list(struct list *l)
{
	struct module *m;

	cp_vec_for_each(&l->modules, m) {
		free(m->name);
		free(m->path);
		free(m->why);
		cp_module_file_free(&m->file);
	}
	cp_vec_free(&l->modules);
	cp_module_places_free(&l->places);
}

void cp_modules_names(struct cp_buf *out)
{
	const struct modules_options o = { 0 };
	const struct module *m;
	struct list l;

	make_list(&l, &o);
	cp_vec_for_each(&l.modules, m)
		cp_buf_printf(out, "%s\n", m->name);
	free_list(&l);
}

static void module_json(struct cp_json *j, const struct module *m)
{
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "name", m->name);
	if (m->path)
		cp_json_str(j, "path", m->path);
	else
		cp_json_null(j, "path");
	cp_json_str(j, "by", m->by);
	if (m->file.has_version)
		cp_json_u64(j, "api_version", m->file.version);
	else
		cp_json_null(j, "api_version");
	if (m->file.summary)
		cp_json_str(j, "summary", m->file.summary);
	else
		cp_json_null(j, "summary");
	cp_json_bool(j, "loads", !m->why);
	cp_json_str(j, "why", m->why ? m->why : "");
	cp_json_end(j, '}');
}

static void list_json(const struct list *l, struct cp_json *j)
{
	const struct module *m;

	cp_json_begin(j, NULL, '[');
	cp_vec_for_each(&l->modules, m) {
		cp_buf_u8(j->out, '\n');
		module_json(j, m);
	}
	cp_json_end(j, ']');
	cp_buf_u8(j->out, '\n');
}

static void list_table(const struct list *l, const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { .title = "NAME" },
						    { .title = "WHERE", .give = 20 },
						    { .title = "VERSION", .right = true },
						    { .title = "WHAT" } };
	const struct module *m;
	struct cp_table t;

	cp_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	cp_vec_for_each(&l->modules, m) {
		cp_table_name(&t, m->why ? CP_PAINT_WARNING : CP_PAINT_NAME, m->name);
		cp_table_name(&t, CP_PAINT_DIM, m->path ? m->path : m->by);
		if (m->file.has_version)
			cp_table_cell(&t, CP_PAINT_PLAIN, "%u", m->file.version);
		else
			cp_table_cell(&t, CP_PAINT_WARNING, "-");
		cp_table_name(&t, m->why ? CP_PAINT_WARNING : CP_PAINT_PLAIN,
			      m->why		? m->why
			      : m->file.summary ? m->file.summary
						: "");
	}
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

static void add_line(struct cp_buf *out, const struct cp_look *look, const char *what,
		     const char *text)
{
	char label[32];

	snprintf(label, sizeof(label), "%-10s", what);
	cp_paint(out, look, CP_PAINT_DIM, label);
	cp_add_name(out, text);
	cp_buf_u8(out, '\n');
}

static void describe(const struct module *m, const struct cp_look *look, struct cp_buf *out)
{
	char text[128];

	add_line(out, look, "name", m->name);
	add_line(out, look, "where", m->path ? m->path : m->by);
	if (m->path)
		add_line(out, look, "found by", m->by);
	snprintf(text, sizeof(text), m->file.has_version ? "%u, and this cprof has %d" : "none",
		 m->file.version, CPROF_PROFILER_API_VERSION);
	add_line(out, look, "version", text);
	if (m->file.summary)
		add_line(out, look, "what", m->file.summary);
	if (m->why)
		add_line(out, look, "refused", m->why);
	snprintf(text, sizeof(text), "cprof run --profile=%s:help -- true", m->name);
	add_line(out, look, "options", text);
}

/* ---- --check ---- */

/* In a process of its own: constructors run, and anything may happen. What
 * they write is not ours. */
static void load_and_tell(const char *path, const char *name, int to)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct cp_error *err;
	cp_module_init_fn init;

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	alarm(CHECK_SECONDS);
	err = cp_module_open(path, name, &init);
	if (!err && write(to, LOADED, sizeof(LOADED)) < 0)
		_exit(CP_EXIT_FAILURE);
	if (err)
		dprintf(to, "%s%s%s", err->what, err->hint ? "\n" : "", err->hint ? err->hint : "");
	_exit(err ? CP_EXIT_FAILURE : CP_EXIT_OK);
}

/* Why it can't be loaded, in `why`; true: it can. */
static bool try_loading(const char *path, const char *name, char *why, size_t size)
{
	int fds[2], status = -1;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	snprintf(why, size, "it could not be tried: %s", "no process or pipe");
	if (pipe2(fds, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		load_and_tell(path, name, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		while (used < size - 1 && (n = read(fds[0], why + used, size - 1 - used)) > 0)
			used += (size_t)n;
		why[used] = 0;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(status))
			snprintf(why, size, "loading it ends with %s", strsignal(WTERMSIG(status)));
		else if (!used)
			snprintf(why, size, "loading it ends the process");
	}
	close(fds[0]);
	return pid > 0 && !status && !strcmp(why, LOADED);
}

/* With a slash, or the dynamic linker would search. */
static char *as_path(const char *file)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s", strchr(file, '/') ? "" : "./", file) < 0)
		return NULL;
	return path;
}

static bool check(const char *path, struct module *m, char *why, size_t size)
{
	struct cp_error *err;

	m->name = name_of(cp_basename(path));
	err = m->name ? cp_module_check_name(m->name, strlen(m->name))
		      : cp_error_new(CP_ERR_USAGE, 0,
				     "%s: the file of profiler NAME is called %sNAME%s", path,
				     PREFIX, SUFFIX);
	if (!err)
		err = cp_module_read(path, &m->file);
	if (!err)
		err = cp_module_judge(path, &m->file);
	if (!err)
		return try_loading(path, m->name, why, size);
	snprintf(why, size, "%s%s%s", err->what, err->hint ? "\n" : "", err->hint ? err->hint : "");
	cp_error_free(err);
	return false;
}

static int run_check(const struct modules_options *o)
{
	struct module m = { .path = as_path(o->check), .by = "named" };
	struct cp_buf out CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_json j = { .out = &out };
	char why[MAX_WHY] = "out of memory";
	bool good = m.path && check(m.path, &m, why, sizeof(why));
	int status;

	if (o->json) {
		m.why = good ? NULL : strdup(why);
		m.name = m.name ? m.name : strdup("");
		module_json(&j, &m);
		cp_buf_u8(&out, '\n');
		fwrite(out.bytes, 1, out.size, stdout);
	} else if (good) {
		printf("%s: can be loaded as %s\n", o->check, m.name);
	} else {
		cp_complain_text(why);
	}
	free(m.name);
	free(m.path);
	free(m.why);
	cp_module_file_free(&m.file);
	status = cp_finish_output();
	return good ? status : CP_EXIT_FAILURE;
}

/* ---- the command ---- */

static int run_one(const struct modules_options *o, const struct list *l, const char *name,
		   const struct cp_look *look)
{
	const struct module *m = find(l, name);
	struct cp_buf out = { 0 };
	struct cp_json j = { .out = &out };
	struct cp_error *err;
	char *path = NULL;

	if (!m) {
		err = cp_module_check_name(name, strlen(name));
		if (!err)
			err = cp_module_find(o->plugin_dirs.items, name, &path);
		free(path);
		cp_complain(err ? err
				: cp_error_new(CP_ERR_NOT_FOUND, 0,
					       "the profiler '%s' can't be looked at", name));
		return CP_EXIT_FAILURE;
	}
	if (o->json) {
		module_json(&j, m);
		cp_buf_u8(&out, '\n');
	} else {
		describe(m, look, &out);
	}
	return cp_print_report(&out, o->json);
}

static int run_modules(struct cp_args *args)
{
	const struct modules_options *o = args->options;
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_buf out = { 0 };
	struct cp_json j = { .out = &out };
	struct list l;
	int status;

	if ((o->check != NULL) + o->events + args->count > 1)
		return cp_usage(args, "NAME, --check and --events are three questions: ask one");
	if (o->check)
		return run_check(o);
	if (o->events && o->json)
		events_json(&j);
	else if (o->events)
		events_table(&look, &out);
	if (o->events)
		return cp_print_report(&out, o->json);
	make_list(&l, o);
	if (l.failed)
		cp_complain(cp_error_nomem());
	if (l.failed)
		status = CP_EXIT_FAILURE;
	else if (args->count)
		status = run_one(o, &l, args->operands[0], &look);
	else {
		if (o->json)
			list_json(&l, &j);
		else
			list_table(&l, &look, &out);
		status = cp_print_report(&out, o->json);
	}
	free_list(&l);
	return status;
}

const struct cp_command cp_command_modules = {
	.name = "modules",
	.operands = "[options] [NAME]",
	.summary = "Profiler modules that can be loaded",
	.details = "'cprof run --profile=NAME:help -- true' prints a module's own options.\n"
		   "With --check the exit status is 1 when the file can't be loaded.",
	.groups = groups,
	.options_size = sizeof(struct modules_options),
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PROFILERS,
	.run = run_modules,
};
