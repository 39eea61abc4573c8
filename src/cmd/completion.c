/* SPDX-License-Identifier: MIT
 *
 * `cprof completion SHELL` writes the shell's completion script, made from
 * the commands' tables; the build installs what it writes.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/words.h"

#define NOT_TOLD UINT32_MAX

struct completion_options {
	unsigned list;
};

static const struct completion_options defaults = { .list = NOT_TOLD };

static const struct cp_option options[] = {
	{ "list", 0, CP_OPTION_CHOICE, offsetof(struct completion_options, list),
	  .value = "recordings|profilers|functions|types|steering", .choices = cp_words_names,
	  .help = "what the scripts ask while somebody types: instead of a shell, the beginning "
		  "of a path follows, nothing, or the file that has the functions or types" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "For the scripts", options, 0 }, { 0 } };

#define FOR_EACH_OPTION(command, group, option) \
	for ((group) = (command)->groups; (group) && (group)->options; (group)++) \
		for ((option) = (group)->options; (option)->name; (option)++)

/* ---- bash ---- */

static const char bash_head[] =
	"# bash completion of cprof; written by 'cprof completion bash'\n"
	"_cprof_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
	"_cprof_files() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\");\n"
	"\tcompopt -o filenames 2>/dev/null; }\n"
	"# What 'cprof completion --list' knows; files where it knows nothing.\n"
	"_cprof_list() {\n"
	"\tlocal word=${COMP_LINE:0:${COMP_POINT:-0}} of= tail=$cur line\n"
	"\tword=${word##*[[:space:]]}; [[ $word == -*=* ]] && word=${word#*=}\n"
	"\t[[ $word == *\"$cur\" ]] || word=$cur\n"
	"\t[[ $cur == *: ]] && tail= # readline splits words there\n"
	"\t((first == COMP_CWORD)) || of=${COMP_WORDS[first]-}\n"
	"\t[[ $1 == recordings ]] && of=$word\n"
	"\twhile IFS= read -r line; do\n"
	"\t\t[[ $line == \"$word\"* ]] || continue\n"
	"\t\tline=${line#\"${word%\"$tail\"}\"}\n"
	"\t\t[[ $1 == recordings ]] || printf -v line %q \"$line\"\n"
	"\t\tCOMPREPLY+=(\"$line\")\n"
	"\tdone < <(\"${COMP_WORDS[0]}\" completion --list=\"$1\" -- \"$of\" 2>/dev/null)\n"
	"\tif [[ $1 != recordings ]]; then return\n"
	"\telif ((${#COMPREPLY[@]})); then compopt -o filenames 2>/dev/null\n"
	"\telse _cprof_files -f; fi\n"
	"}\n"
	"_cprof_pids() { _cprof_words \"$(cd /proc && echo [0-9]*)\"; }\n"
	"# The number of the first word that is no option's.\n"
	"_cprof_first() {\n"
	"\tfor ((first = 2; first < ${#COMP_WORDS[@]}; first++)); do\n"
	"\t\tcase ${COMP_WORDS[first]} in\n"
	"\t\t--) ((first++)); break ;;\n"
	"\t\t-*) if [[ ${COMP_WORDS[first+1]-} == = ]]; then ((first += 2))\n"
	"\t\t\telif [[ $values == *\" ${COMP_WORDS[first]} \"* ]]; then ((first++)); fi ;;\n"
	"\t\t*) break ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"}\n"
	"# Completes CMD and what follows it; fails while still among cprof's options.\n"
	"_cprof_program() {\n"
	"\tlocal i=$first\n"
	"\t((i < COMP_CWORD)) || { ((i == COMP_CWORD)) && [[ $cur != -* ]]; } || return\n"
	"\tif declare -F _command_offset >/dev/null; then _command_offset \"$i\"\n"
	"\telif ((i == COMP_CWORD)); then _cprof_files -c\n"
	"\telse _cprof_files -f; fi\n"
	"\treturn 0\n"
	"}\n"
	"_cprof() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal command=${COMP_WORDS[1]} values first\n"
	"\tif [[ $cur == = ]]; then cur=\n"
	"\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	"\tCOMPREPLY=()\n";

static const char *bash_action(enum cp_completes completes)
{
	switch (completes) {
	case CP_COMPLETES_FILES:
		return "_cprof_files -f";
	case CP_COMPLETES_DIRECTORIES:
		return "_cprof_files -d";
	case CP_COMPLETES_PIDS:
		return "_cprof_pids";
	case CP_COMPLETES_SUBCOMMANDS:
		return "_cprof_words \"$commands\"";
	case CP_COMPLETES_SHELLS:
		return "_cprof_words 'bash zsh fish'";
	case CP_COMPLETES_RECORDINGS:
		return "_cprof_list recordings";
	case CP_COMPLETES_PROFILERS:
		return "_cprof_list profilers";
	case CP_COMPLETES_FUNCTIONS:
		return "_cprof_list functions";
	case CP_COMPLETES_TYPES:
		return "_cprof_list types";
	case CP_COMPLETES_STEERING:
		return "_cprof_list steering";
	case CP_COMPLETES_COMMANDS: /* goes first, see below */
	case CP_COMPLETES_NOTHING:
		break;
	}
	return ":";
}

static void print_choices(const struct cp_option *o, const char *between)
{
	unsigned i;

	for (i = 0; o->choices[i]; i++)
		printf("%s%s", i ? between : "", o->choices[i]);
}

static void bash_values(const struct cp_command *command)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	FOR_EACH_OPTION(command, group, o)
	{
		if (!cp_option_takes_value(o))
			continue;
		printf("\t%s:--%s", command->name, o->name);
		if (o->letter && !o->absent)
			printf(" | %s:-%c", command->name, o->letter);
		fputs(") ", stdout);
		if (o->choices) {
			fputs("_cprof_words '", stdout);
			print_choices(o, " ");
			fputs("'", stdout);
		} else {
			fputs(bash_action(o->completes), stdout);
		}
		puts("; return ;;");
	}
}

/* The options whose value may be a word of its own, which is no operand. */
static void bash_valued(const struct cp_command *command)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	printf("\tif [[ $command == %s ]]; then\n\t\tvalues=' ", command->name);
	FOR_EACH_OPTION(command, group, o)
	{
		if (cp_option_takes_value(o) && !o->absent)
			printf("--%s ", o->name);
		if (cp_option_takes_value(o) && o->letter && !o->absent)
			printf("-%c ", o->letter);
	}
	puts("'\n\tfi");
}

static void bash_options(const struct cp_command *command)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	printf("\t%s:-*) _cprof_words '--help", command->name);
	FOR_EACH_OPTION(command, group, o)
	printf(" --%s%s", o->name, cp_option_takes_value(o) ? "=" : "");
	printf("'\n\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null ;;\n");
	if (command->completes_next)
		printf("\t%s:*) if ((first < COMP_CWORD)); then %s; else %s; fi ;;\n",
		       command->name, bash_action(command->completes_next),
		       bash_action(command->completes));
	else
		printf("\t%s:*) %s ;;\n", command->name, bash_action(command->completes));
}

static void write_bash(const struct cp_command *const *commands)
{
	const struct cp_command *const *c;

	fputs(bash_head, stdout);
	fputs("\tlocal commands='", stdout);
	for (c = commands; *c; c++)
		printf("%s%s", c == commands ? "" : " ", (*c)->name);
	puts("'\n\tif ((COMP_CWORD == 1)); then _cprof_words \"$commands --help --version\"; "
	     "return; fi");
	for (c = commands; *c; c++)
		bash_valued(*c);
	puts("\t_cprof_first");
	for (c = commands; *c; c++)
		if ((*c)->completes == CP_COMPLETES_COMMANDS)
			printf("\t[[ $command == %s ]] && _cprof_program && return\n", (*c)->name);
	puts("\tcase $command:$prev in");
	for (c = commands; *c; c++)
		bash_values(*c);
	puts("\tesac\n\tcase $command:$cur in");
	for (c = commands; *c; c++)
		bash_options(*c);
	puts("\tesac\n}\ncomplete -F _cprof cprof");
}

/* ---- zsh ---- */

/* Text inside '...[text]...' of _arguments. */
static void print_zsh(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static const char *zsh_action(enum cp_completes completes)
{
	switch (completes) {
	case CP_COMPLETES_FILES:
		return "_files";
	case CP_COMPLETES_DIRECTORIES:
		return "_files -/";
	case CP_COMPLETES_PIDS:
		return "_pids";
	case CP_COMPLETES_COMMANDS:
		return "_normal";
	case CP_COMPLETES_SUBCOMMANDS:
		return "->commands";
	case CP_COMPLETES_SHELLS:
		return "(bash zsh fish)";
	case CP_COMPLETES_RECORDINGS:
		return "_cprof_list recordings";
	case CP_COMPLETES_PROFILERS:
		return "_cprof_list profilers";
	case CP_COMPLETES_FUNCTIONS:
		return "_cprof_list functions";
	case CP_COMPLETES_TYPES:
		return "_cprof_list types";
	case CP_COMPLETES_STEERING:
		return "_cprof_list steering";
	case CP_COMPLETES_NOTHING:
		break;
	}
	return " ";
}

static void zsh_option(const struct cp_option *o)
{
	bool repeats = o->kind == CP_OPTION_TEXTS || o->kind == CP_OPTION_COUNT;
	bool value = cp_option_takes_value(o) && !(o->letter && o->absent);

	fputs(" \\\n\t\t\t", stdout);
	if (o->letter && !repeats)
		printf("'(-%c --%s)'", o->letter, o->name);
	else if (repeats)
		fputs("\\*", stdout);
	if (o->letter)
		printf("{-%c%s,--%s%s}", o->letter, value ? "+" : "", o->name, value ? "=" : "");
	else
		printf("--%s%s", o->name, value ? "=" : "");
	fputs("'[", stdout);
	print_zsh(o->help);
	putchar(']');
	if (value) {
		putchar(':');
		print_zsh(o->value);
		putchar(':');
		if (o->choices) {
			putchar('(');
			print_choices(o, " ");
			putchar(')');
		} else {
			fputs(zsh_action(o->completes), stdout);
		}
	}
	putchar('\'');
}

static void zsh_command(const struct cp_command *command)
{
	const struct cp_option_group *group;
	const struct cp_option *o;

	printf("\t\t%s)\n\t\t_arguments -s -S '(- *)'{-h,--help}'[help]'", command->name);
	FOR_EACH_OPTION(command, group, o)
	zsh_option(o);
	if (command->completes_next)
		printf(" \\\n\t\t\t'1:operand:%s' '2:operand:%s'", zsh_action(command->completes),
		       zsh_action(command->completes_next));
	else if (command->completes != CP_COMPLETES_NOTHING)
		printf(" \\\n\t\t\t'%s:%s'",
		       command->completes == CP_COMPLETES_COMMANDS ? "(-)1: :_command_names -e' "
								     "'*::argument"
								   : "*:operand",
		       zsh_action(command->completes));
	puts(" ;;");
}

static void write_zsh(const struct cp_command *const *commands)
{
	const struct cp_command *const *c;

	puts("#compdef cprof\n"
	     "# zsh completion of cprof; written by 'cprof completion zsh'\n"
	     "# What 'cprof completion --list' knows; files where it knows nothing.\n"
	     "_cprof_list() {\n"
	     "\tlocal -a found\n"
	     "\tlocal of=${${words[2,-1]:#-*}[1]}\n"
	     "\t[[ $1 == recordings ]] && of=$PREFIX\n"
	     "\tfound=(${(f)\"$(cprof completion --list=$1 -- \"$of\" 2>/dev/null)\"})\n"
	     "\tif (($#found)); then compadd -a found\n"
	     "\telif [[ $1 == recordings ]]; then _files; fi\n"
	     "}\n"
	     "_cprof() {\n"
	     "\tlocal curcontext=$curcontext state line\n"
	     "\tlocal -a commands\n"
	     "\tcommands=(");
	for (c = commands; *c; c++) {
		printf("\t\t'%s:", (*c)->name);
		print_zsh((*c)->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\tif ((CURRENT == 2)); then\n"
	     "\t\t_describe -t commands command commands\n"
	     "\t\t_arguments '--help[help]' '--version[which version this is]'\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tshift words\n"
	     "\t((CURRENT--))\n"
	     "\tcase $words[1] in");
	for (c = commands; *c; c++)
		zsh_command(*c);
	puts("\tesac\n"
	     "\t[[ $state == commands ]] && _describe -t commands command commands\n"
	     "}\n"
	     "_cprof \"$@\"");
}

/* ---- fish ---- */

static void print_fish(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr("\\'", *text))
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

static const char *fish_action(enum cp_completes completes)
{
	switch (completes) {
	case CP_COMPLETES_FILES:
		return "-F";
	case CP_COMPLETES_DIRECTORIES:
		return "-a '(__fish_complete_directories)'";
	case CP_COMPLETES_PIDS:
		return "-a '(__fish_complete_pids)'";
	case CP_COMPLETES_COMMANDS:
		return "-F -a '(__fish_complete_command)'";
	case CP_COMPLETES_SUBCOMMANDS:
		return "-a '(__cprof_commands)'";
	case CP_COMPLETES_SHELLS:
		return "-a 'bash zsh fish'";
	case CP_COMPLETES_RECORDINGS:
		return "-a '(__cprof_list recordings (commandline -ct))'";
	case CP_COMPLETES_PROFILERS:
		return "-a '(__cprof_list profilers)'";
	case CP_COMPLETES_FUNCTIONS:
		return "-a '(__cprof_list functions (__cprof_first))'";
	case CP_COMPLETES_TYPES:
		return "-a '(__cprof_list types (__cprof_first))'";
	case CP_COMPLETES_STEERING:
		return "-a '(__cprof_list steering)'";
	case CP_COMPLETES_NOTHING:
		break;
	}
	return "";
}

static void fish_command(const struct cp_command *command)
{
	const struct cp_option_group *group;
	const struct cp_option *o;
	const char *seen = "-n '__fish_seen_subcommand_from";

	printf("complete -c cprof -n __fish_use_subcommand -a %s -d ", command->name);
	print_fish(command->summary);
	printf("\ncomplete -c cprof %s %s%s' %s\n", seen, command->name,
	       command->completes_next ? "; and test -z (__cprof_first)" : "",
	       fish_action(command->completes));
	if (command->completes_next)
		printf("complete -c cprof %s %s; and test -n (__cprof_first)' %s\n", seen,
		       command->name, fish_action(command->completes_next));
	FOR_EACH_OPTION(command, group, o)
	{
		printf("complete -c cprof %s %s' -l %s", seen, command->name, o->name);
		if (o->letter)
			printf(" -s %c", o->letter);
		if (cp_option_takes_value(o) &&
		    !(o->letter && o->absent)) /* -x, the usual, forbids -F */
			printf(" %s %s", o->completes == CP_COMPLETES_FILES ? "-r" : "-x",
			       o->choices ? "-a '" : fish_action(o->completes));
		if (o->choices) {
			print_choices(o, " ");
			putchar('\'');
		}
		fputs(" -d ", stdout);
		print_fish(o->help);
		putchar('\n');
	}
}

static void write_fish(const struct cp_command *const *commands)
{
	const struct cp_command *const *c;

	puts("# fish completion of cprof; written by 'cprof completion fish'\n"
	     "complete -c cprof -f\n"
	     "complete -c cprof -n __fish_use_subcommand -l version\n"
	     "complete -c cprof -l help -s h -d help\n"
	     "function __cprof_commands");
	for (c = commands; *c; c++)
		printf("\techo %s\n", (*c)->name);
	puts("end\n"
	     "function __cprof_list\n"
	     "\tcprof completion --list=$argv[1] -- $argv[2] 2>/dev/null\n"
	     "end\n"
	     "# The first word behind the command that is no option, or an empty one.\n"
	     "function __cprof_first\n"
	     "\tset -l words (commandline -opc)[3..-1]\n"
	     "\tset words (string match -v -- \"-*\" $words)\n"
	     "\techo $words[1]\n"
	     "end");
	for (c = commands; *c; c++)
		fish_command(*c);
}

static int list(enum cp_words kind, const char *operand)
{
	struct cp_buf out = { 0 };
	struct cp_error *err = cp_words_list(kind, operand, &out);

	if (out.size)
		fwrite(out.bytes, 1, out.size, stdout);
	cp_buf_free(&out);
	if (!err)
		return cp_finish_output();
	cp_complain(err);
	return CP_EXIT_FAILURE;
}

static int run_completion(struct cp_args *args)
{
	const struct completion_options *o = args->options;
	static const struct {
		const char *shell;
		void (*write)(const struct cp_command *const *commands);
	} shells[] = { { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish } };
	size_t i;

	if (o->list != NOT_TOLD)
		return list((enum cp_words)o->list, args->operands[0]);
	if (!args->count)
		return cp_usage(args, "of which shell? Name bash, zsh or fish");
	for (i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(args->operands[0], shells[i].shell))
			continue;
		shells[i].write(args->commands);
		return cp_finish_output();
	}
	return cp_usage(args, "completion is written for bash, zsh and fish, not for '%s'",
			args->operands[0]);
}

const struct cp_command cp_command_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.summary = "Write the shell's completion script",
	.groups = groups,
	.options_size = sizeof(struct completion_options),
	.defaults = &defaults,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_SHELLS,
	.run = run_completion,
};
