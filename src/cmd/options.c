/* SPDX-License-Identifier: MIT
 *
 * Reads a command line by a command's table.
 *
 * The GNU forms are understood (--name=value, --name value, -n value, -nvalue,
 * -ab), `--` ends the options, and names are never abbreviated: a script that
 * says --dur must not change its meaning when an option is added.
 */
#include "cmd/options.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"

/* An option that was found, and where its value goes. */
struct match {
	const struct cp_option *option;
	void *value; /* its field in the command's options struct */
};

struct parse {
	struct cp_args *args;
	char **rest; /* arguments not read yet, NULL-terminated */
	bool help;
};

static bool same_name(const char *name, const char *text, size_t size)
{
	return strlen(name) == size && !memcmp(name, text, size);
}

/* Looks an option up by long name or, when `name` is NULL, by letter. */
static struct match find(const struct cp_command *command, void *options, const char *name,
			 size_t size, char letter)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	for (group = command->groups; group && group->options; group++) {
		for (o = group->options; o->name; o++) {
			if (name ? !same_name(o->name, name, size) : o->letter != letter)
				continue;
			return (struct match){ o,
					       options ? (char *)options + group->offset + o->offset
						       : NULL };
		}
	}
	return (struct match){ NULL, NULL };
}

const struct cp_option *cp_option_find(const struct cp_command *command, const char *name,
				       size_t size)
{
	return find(command, NULL, name, size, 0).option;
}

/* Other tools name a process by -p or --pid. */
static struct cp_error *hint_pid(const struct cp_command *command, struct cp_error *err)
{
	return cp_error_hint(err, "a process is named without an option: cprof %s PID",
			     command->name);
}

static struct cp_error *unknown(const struct cp_command *command, const char *name, size_t size)
{
	const struct cp_option_group *group;
	const struct cp_option *o;
	struct cp_text_near near = cp_text_near(name, size);
	struct cp_error *err =
		cp_error_new(CP_ERR_USAGE, 0, "there is no option --%.*s", (int)size, name);

	for (group = command->groups; group && group->options; group++)
		for (o = group->options; o->name; o++)
			cp_text_near_try(&near, o->name);
	if (same_name("pid", name, size) && command->completes == CP_COMPLETES_PIDS)
		return hint_pid(command, err);
	return near.best ? cp_error_hint(err, "did you mean --%s?", near.best) : err;
}

static struct cp_error *unknown_letter(const struct cp_command *command, char letter)
{
	struct cp_error *err = cp_error_new(CP_ERR_USAGE, 0, "there is no option -%c", letter);

	if (letter == 'p' && command->completes == CP_COMPLETES_PIDS)
		return hint_pid(command, err);
	return err;
}

static struct cp_error *choose(const struct cp_option *o, unsigned *value, const char *text)
{
	struct cp_text_near near = cp_text_near(text, strlen(text));
	struct cp_error *err;
	unsigned i;

	for (i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], text)) {
			*value = i;
			return NULL;
		}
		cp_text_near_try(&near, o->choices[i]);
	}
	err = cp_error_new(CP_ERR_USAGE, 0, "--%s is %s, not '%s'", o->name, o->value, text);
	return near.best ? cp_error_hint(err, "did you mean %s?", near.best) : err;
}

/* Keeps a NULL behind the last one. */
static bool push_text(struct cp_texts *texts, const char *text)
{
	if (!cp_vec_reserve(texts, texts->count + 2))
		return false;
	texts->items[texts->count++] = text;
	texts->items[texts->count] = NULL;
	return true;
}

static bool parse_percent(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	/* strtod() knows more numbers than people who want percents. */
	if (!*text || strspn(text, "0123456789.") != (size_t)(end - text) ||
	    (*end && strcmp(end, "%") != 0) || !isfinite(value) || value > 100)
		return false;
	*ret = value;
	return true;
}

static struct cp_error *take_value(struct match m, const char *text)
{
	const struct cp_option *o = m.option;
	uint64_t number = 0;

	switch (o->kind) {
	case CP_OPTION_TEXT:
		if (!*text && o->completes == CP_COMPLETES_FILES)
			return cp_error_new(CP_ERR_USAGE, 0, "--%s takes a file's name, not ''",
					    o->name);
		if (o->once && *(const char **)m.value)
			return cp_error_new(CP_ERR_USAGE, 0, "--%s is given twice; %s", o->name,
					    o->once);
		*(const char **)m.value = text;
		return NULL;
	case CP_OPTION_TEXTS:
		return push_text(m.value, text) ? NULL : cp_error_nomem();
	case CP_OPTION_NUMBER:
		if (!cp_parse_u64(text, o->max, &number) || number < o->min)
			return cp_error_new(CP_ERR_USAGE, 0,
					    "--%s takes a number from %" PRIu64 " to %" PRIu64
					    ", not '%s'",
					    o->name, o->min, o->max, text);
		*(uint64_t *)m.value = number;
		return NULL;
	case CP_OPTION_DURATION:
		if (!cp_parse_duration(text, &number) || !number)
			return cp_error_new(CP_ERR_USAGE, 0,
					    "--%s takes a time such as 10s, 500ms or 2m, not '%s'",
					    o->name, text);
		*(uint64_t *)m.value = number;
		return NULL;
	case CP_OPTION_WAIT:
		if (!strcmp(text, "all"))
			number = UINT64_MAX;
		else if (strcmp(text, "none") != 0 && !cp_parse_duration(text, &number))
			return cp_error_new(CP_ERR_USAGE, 0,
					    "--%s takes all, none, or a time such as 10s or 2m, "
					    "not '%s'",
					    o->name, text);
		*(uint64_t *)m.value = number;
		return NULL;
	case CP_OPTION_BYTES:
		if (text == o->absent)
			number = CP_BYTES_ALL;
		else if (!cp_parse_bytes(text, &number) || !number)
			return cp_error_new(CP_ERR_USAGE, 0,
					    "--%s takes a number of bytes such as 4096, 512K or "
					    "1M, not '%s'",
					    o->name, text);
		*(uint64_t *)m.value = number;
		return NULL;
	case CP_OPTION_PERCENT:
		if (!parse_percent(text, m.value))
			return cp_error_new(CP_ERR_USAGE, 0,
					    "--%s takes a percentage such as 80 or 99.5, not '%s'",
					    o->name, text);
		return NULL;
	case CP_OPTION_CHOICE:
		return choose(o, m.value, text);
	case CP_OPTION_TRUE:
	case CP_OPTION_FALSE:
	case CP_OPTION_COUNT:
		break;
	}
	return cp_error_new(CP_ERR_USAGE, 0, "--%s takes no value", o->name);
}

static void take_flag(struct match m)
{
	if (m.option->kind == CP_OPTION_COUNT)
		++*(unsigned *)m.value;
	else
		*(bool *)m.value = m.option->kind == CP_OPTION_TRUE;
}

static struct cp_error *missing_value(const struct cp_option *o)
{
	return cp_error_new(CP_ERR_USAGE, 0, "--%s needs a value: --%s=%s", o->name, o->name,
			    o->value);
}

/* `text` follows the two dashes. */
static struct cp_error *read_long(struct parse *p, const char *text)
{
	const char *equals = strchrnul(text, '=');
	size_t size = (size_t)(equals - text);
	struct match m = find(p->args->command, p->args->options, text, size, 0);

	if (!m.option && same_name("help", text, size)) {
		p->help = true;
		return NULL;
	}
	if (!m.option)
		return unknown(p->args->command, text, size);
	if (*equals)
		return take_value(m, equals + 1);
	if (!cp_option_takes_value(m.option)) {
		take_flag(m);
		return NULL;
	}
	if (m.option->absent)
		return take_value(m, m.option->absent);
	if (!*p->rest)
		return missing_value(m.option);
	return take_value(m, *p->rest++);
}

/* `text` follows the dash: letters, of which the last may take a value. */
static struct cp_error *read_short(struct parse *p, const char *text)
{
	for (; *text; text++) {
		struct match m = find(p->args->command, p->args->options, NULL, 0, *text);

		if (!m.option && *text == 'h') {
			p->help = true;
			return NULL;
		}
		if (!m.option)
			return unknown_letter(p->args->command, *text);
		if (!cp_option_takes_value(m.option)) {
			take_flag(m);
			continue;
		}
		if (m.option->absent) {
			CP_TRY(take_value(m, m.option->absent));
			continue;
		}
		if (text[1])
			return take_value(m, text + 1);
		if (!*p->rest)
			return missing_value(m.option);
		return take_value(m, *p->rest++);
	}
	return NULL;
}

static struct cp_error *check_operands(const struct cp_args *args)
{
	const struct cp_command *command = args->command;
	unsigned count = (unsigned)args->count;

	if (count < command->least)
		return cp_error_new(CP_ERR_USAGE, 0, "%s: cprof %s %s",
				    count ? "something is missing" : "nothing was named",
				    command->name, command->operands);
	if (command->most && count > command->most)
		return cp_error_new(CP_ERR_USAGE, 0, "what is '%s' for? The usage is: cprof %s %s",
				    args->operands[command->most], command->name,
				    command->operands);
	return NULL;
}

/* Is there a "--" that ends the options? */
static bool is_dashed(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "--"))
			return true;
	return false;
}

/* A number behind other operands: an expression may begin with it. */
static bool is_negative(const struct cp_args *args, const char *arg)
{
	return args->count && arg[1] >= '0' && arg[1] <= '9' &&
	       !find(args->command, args->options, NULL, 0, arg[1]).option;
}

struct cp_error *cp_options_parse(struct cp_args *args, char **argv, bool *help_ret)
{
	struct parse p = { .args = args, .rest = argv };
	bool ended = false;
	char *arg;

	args->operands = argv;
	args->count = 0;
	args->dashed = is_dashed(argv);
	while ((arg = *p.rest) != NULL && !p.help) {
		p.rest++;
		if (ended || arg[0] != '-' || !arg[1] || is_negative(args, arg)) {
			args->operands[args->count++] = arg;
			ended |= args->command->ends_at_operand;
		} else if (!strcmp(arg, "--")) {
			ended = true;
		} else if (arg[1] == '-') {
			CP_TRY(read_long(&p, arg + 2));
		} else {
			CP_TRY(read_short(&p, arg + 1));
		}
	}
	args->operands[args->count] = NULL;
	*help_ret = p.help;
	return p.help ? NULL : check_operands(args);
}

void cp_options_release(const struct cp_args *args)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	for (group = args->command->groups; group && group->options; group++)
		for (o = group->options; o->name; o++)
			if (o->kind == CP_OPTION_TEXTS)
				cp_vec_free((struct cp_texts *)((char *)args->options +
								group->offset + o->offset));
}
