/* SPDX-License-Identifier: MIT
 *
 * Values as the program itself says them: each line that it prints is a call
 * of a function t_..., with the arguments and the result that it will see,
 * "t_add(1, 2) = 3". The arguments are programs built by different compilers.
 */
#include <unistd.h>

#include "base/buf.h"
#include "inspect_trace.h"
#include "test.h"

struct lines {
	struct cp_buf text;
	unsigned calls, gone;
};

static bool wants(void *ctx, const struct cp_symbol *symbol)
{
	char *name = cp_demangle(symbol->name);
	const char *method = name ? strstr(name, "::t_") : NULL;
	bool ours = name && !strstr(name, "{closure") &&
		    (!strncmp(name, "t_", 2) ||
		     (method && !memchr(name, '(', (size_t)(method - name))));

	(void)ctx;
	free(name);
	return ours;
}

/* The name without what C++ adds: t_name of _Z6t_nameii, _ZN3foo6t_nameEv. */
static void add_name(struct cp_buf *to, const char *linkage)
{
	char *name = cp_demangle(linkage);
	const char *at = strstr(name, "t_");

	cp_buf_add(to, at,
		   strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"));
	free(name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const cprof_value *)a)->name, ((const cprof_value *)b)->name);
}

/* Compilers list them in different orders. */
static void add_locals(struct lines *lines, const struct traced_call *call)
{
	static const struct cp_value_style style = { 0 };
	cprof_value sorted[16];
	size_t n = call->local_count < 16 ? call->local_count : 16, i;

	if (n)
		memcpy(sorted, call->locals, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (i = 0; i < n; i++) {
		cp_buf_str(&lines->text, i ? ", " : " | ");
		cp_buf_str(&lines->text, sorted[i].name);
		cp_buf_str(&lines->text, "=");
		cp_value_print(&lines->text, &sorted[i], &style);
		lines->gone += sorted[i].kind == CPROF_VALUE_ERROR;
	}
}

static void returned(void *ctx, const struct traced_call *call)
{
	static const struct cp_value_style style = { 0 };
	struct lines *lines = ctx;
	size_t i;

	add_name(&lines->text, call->function);
	cp_buf_str(&lines->text, "(");
	for (i = 0; i < call->argument_count; i++) {
		cp_buf_str(&lines->text, i ? ", " : "");
		cp_value_print(&lines->text, &call->arguments[i], &style);
		lines->gone += call->arguments[i].kind == CPROF_VALUE_ERROR;
	}
	cp_buf_str(&lines->text, ")");
	if (call->result) {
		cp_buf_str(&lines->text, " = ");
		cp_value_print(&lines->text, call->result, &style);
	}
	add_locals(lines, call);
	cp_buf_str(&lines->text, "\n");
	lines->calls++;
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (f && fread(text, 1, (1 << 20) - 1, f) == 0)
		fprintf(stderr, "%s is empty\n", path);
	if (f)
		fclose(f);
	return text;
}

/* Behind the argument that begins at `at`: at the comma or bracket. */
static const char *behind(const char *at)
{
	int depth = 0;

	for (; *at && (depth || (*at != ',' && *at != ')')); at++)
		depth += (*at == '{' || *at == '(') - (*at == '}' || *at == ')');
	return at;
}

/* Equal, but what we say is optimised out may be anything. */
static bool agree(const char *want, const char *got)
{
	static const char gone[] = "<optimized out>", unavailable[] = "<unavailable>";

	while (*want || *got) {
		if (!strncmp(got, gone, strlen(gone)) ||
		    !strncmp(got, unavailable, strlen(unavailable))) {
			got += strcspn(got, ">") + 1;
			want = behind(want);
		} else if (*got == '{' && *want == '"' && strstr(got, gone) &&
			   strstr(got, gone) < behind(got)) { /* text, of which a part is known */
			got = behind(got);
			want = behind(want);
		} else if (*want++ != *got++) {
			return false;
		}
	}
	return true;
}

/* Compares line by line; returns how many differ. */
static unsigned compare(const char *program, char *want, char *got)
{
	char *w, *g, *save_w = NULL, *save_g = NULL;
	unsigned wrong = 0;

	w = strtok_r(want, "\n", &save_w);
	g = strtok_r(got, "\n", &save_g);
	while (w || g) {
		test_checks++;
		if (!w || !g || !agree(w, g)) {
			wrong++;
			fprintf(stderr, "%s:\n  want %s\n  got  %s\n", program, w ? w : "(nothing)",
				g ? g : "(nothing)");
		}
		w = w ? strtok_r(NULL, "\n", &save_w) : NULL;
		g = g ? strtok_r(NULL, "\n", &save_g) : NULL;
	}
	return wrong;
}

static void check(const char *program)
{
	char path[] = "/tmp/inspect_valuesXXXXXX", *said;
	struct lines lines = { 0 };
	const char *const argv[] = { program, NULL };
	unsigned wrong;
	int fd = mkstemp(path);

	close(fd);
	CHECK(!trace_program(&(struct trace_options){
		.wants = wants,
		.returned = returned,
		.ctx = &lines,
		.output = path,
		.want = CP_SIGNATURE_ARGUMENTS | CP_SIGNATURE_RESULT |
			(strstr(program, "locals") ? CP_SIGNATURE_LOCALS : 0),
		.argv = argv }));
	said = read_all(path);
	unlink(path);
	wrong = compare(program, said, lines.text.bytes ? lines.text.bytes : strdup(""));
	printf("%s: %u calls, %u wrong, %u values optimised out\n", program, lines.calls, wrong,
	       lines.gone);
	CHECK(lines.calls > 0);
	CHECK(!lines.gone || strstr(program, "local") || strstr(program, "rust"));
	test_failures += (int)wrong;
	free(said);
	cp_buf_free(&lines.text);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		check(argv[i]);
	TEST_MAIN_END;
}
