/* SPDX-License-Identifier: MIT
 *
 * git is started without a shell. What a repository, the configuration or the
 * environment could change in its answer is set on its command line; names come
 * quoted by git, so that no name can pass for a line of its output.
 */
#include "report/coverage/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

struct range {
	uint32_t file; /* in `files` */
	uint32_t first, count; /* lines */
};

struct cp_changes {
	char *top; /* owned; the working tree's directory, without links */
	struct cp_interner files; /* relative to it */
	CP_VEC(struct range) ranges; /* in git's order: a file's together, but for submodules */
	struct cp_map untracked; /* number of a file */
};

/* ---- git ---- */

struct git {
	pid_t pid;
	FILE *out;
	int err; /* what it says on standard error */
};

static bool is_unwanted(const char *variable)
{
	static const char *const names[] = { "GIT_DIFF_OPTS=", "GIT_EXTERNAL_DIFF=",
					     "GIT_PAGER=",     "GIT_TRACE",
					     "LC_ALL=",	       "GIT_OPTIONAL_LOCKS=" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (cp_starts_with(variable, names[i]))
			return true;
	return false;
}

/* Owned array of borrowed strings. */
static const char **git_environment(void)
{
	CP_VEC(const char *) env = { 0 };
	bool good = cp_vec_push(&env, "LC_ALL=C") && cp_vec_push(&env, "GIT_OPTIONAL_LOCKS=0");
	char **e;

	for (e = environ; good && *e; e++)
		good = is_unwanted(*e) || cp_vec_push(&env, *e);
	if (good && cp_vec_push(&env, (const char *)NULL))
		return env.items;
	cp_vec_free(&env);
	return NULL;
}

static int spawn_git(const char *const *argv, int out, int err, pid_t *pid_ret)
{
	CP_FREE const char **env = git_environment();
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int status;

	if (!env)
		return ENOMEM;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigaddset(&set, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	status = posix_spawnp(pid_ret, "git", &actions, &attr, (char *const *)(uintptr_t)argv,
			      (char *const *)(uintptr_t)env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return status;
}

#define MAX_ARGUMENTS 32

/* `args` ends with NULL. */
static CP_ERROR git_start(struct git *g, const char *dir, const char *const *args)
{
	static const char *const first[] = { "git", "--no-pager",
					     "-c",  "core.fsmonitor=false",
					     "-c",  "core.quotePath=false",
					     "-C" };
	const char *argv[MAX_ARGUMENTS] = { NULL };
	CP_CLOSE int err = memfd_create("git", MFD_CLOEXEC);
	CP_CLOSE int writes = -1, reads = -1;
	int status, ends[2];
	size_t n = 0;

	for (; n < sizeof(first) / sizeof(first[0]); n++)
		argv[n] = first[n];
	argv[n++] = dir;
	while (*args && n + 1 < MAX_ARGUMENTS)
		argv[n++] = *args++;
	if (err < 0 || pipe2(ends, O_CLOEXEC))
		return cp_error_new(CP_ERR_IO, errno, "starting git");
	reads = ends[0];
	writes = ends[1];
	status = spawn_git(argv, writes, err, &g->pid);
	if (status == ENOENT)
		return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
						  "--diff asks git, which is not installed"),
				     "install git, or leave --diff out");
	if (status)
		return cp_error_new(CP_ERR_IO, status, "starting git");
	g->out = fdopen(reads, "r");
	if (g->out)
		cp_steal_fd(&reads);
	g->err = cp_steal_fd(&err);
	return g->out ? NULL : cp_error_nomem();
}

/* Its exit status. */
static int git_wait(struct git *g)
{
	int status = -1;

	if (g->out)
		fclose(cp_steal(g->out));
	while (g->pid > 0 && waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The error that git said, in one line. */
static CP_ERROR git_failed(const struct git *g, const char *doing)
{
	char said[1024] = "", *at = said;
	ssize_t n = g->err >= 0 ? pread(g->err, said, sizeof(said) - 1, 0) : 0;

	said[n > 0 ? n : 0] = 0;
	if (cp_starts_with(said, "fatal: "))
		at += strlen("fatal: ");
	at[strcspn(at, "\n")] = 0;
	return cp_error_new(CP_ERR_IO, 0, "%s: %s", doing, *at ? at : "git failed");
}

/* Asks git for one line; *status_ret is git's. */
static CP_ERROR git_ask(const char *dir, const char *const *args, char **answer_ret,
			int *status_ret, struct cp_error **failed_ret)
{
	struct git g = { .err = -1 };
	CP_FREE char *answer = NULL;
	size_t capacity = 0;
	ssize_t n = -1;
	struct cp_error *err = git_start(&g, dir, args);

	/* A path may hold newlines: all there is. */
	if (!err)
		n = getdelim(&answer, &capacity, 0, g.out);
	*status_ret = git_wait(&g);
	if (!err && *status_ret && failed_ret)
		*failed_ret = git_failed(&g, "--diff");
	cp_close_fd(&g.err);
	if (err)
		return err;
	if (n > 0 && answer[n - 1] == '\n')
		answer[n - 1] = 0;
	*answer_ret = n > 0 ? cp_steal(answer) : strdup("");
	return *answer_ret ? NULL : cp_error_nomem();
}

/* ---- what changed ---- */

/* "b/NAME", or the same quoted as C does; NULL: no name, or none is left. */
static char *read_name(const char *text)
{
	static const char escapes[] = "a\ab\bt\tn\nv\vf\fr\r\"\"\\\\";
	bool quoted = *text == '"';
	struct cp_buf out = { 0 };
	const char *e;
	unsigned c;
	int i;

	for (text += quoted; *text && *text != '\n' && !(quoted && *text == '"'); text++) {
		c = (uint8_t)*text;
		if (quoted && c == '\\' && text[1] >= '0' && text[1] <= '7') {
			for (i = 0, c = 0; i < 3 && text[1] >= '0' && text[1] <= '7'; i++)
				c = c * 8 + (unsigned)(*++text - '0');
		} else if (quoted && c == '\\' && text[1]) {
			text++;
			for (e = escapes; *e && *e != *text;)
				e += 2;
			c = *e ? (uint8_t)e[1] : (uint8_t)*text;
		} else if (!quoted && c == '\t') {
			break; /* git's own, behind names with blanks */
		}
		cp_buf_u8(&out, (uint8_t)c);
	}
	if (out.failed || out.size < 3 || memcmp(out.bytes, "b/", 2) != 0) {
		cp_buf_free(&out);
		return NULL;
	}
	memmove(out.bytes, out.bytes + 2, out.size - 1);
	return out.bytes;
}

struct parse {
	struct cp_changes *c;
	uint32_t file; /* UINT32_MAX: none */
	uint32_t line; /* next one of the new file */
	uint32_t old_left, new_left; /* lines of the hunk */
};

static bool add_line(struct parse *p)
{
	struct range *last =
		p->c->ranges.count ? &p->c->ranges.items[p->c->ranges.count - 1] : NULL;

	if (last && last->file == p->file && last->first + last->count == p->line) {
		last->count++;
		return true;
	}
	return cp_vec_push(&p->c->ranges, (struct range){ p->file, p->line, 1 });
}

/* A line of a hunk. */
static bool take_body(struct parse *p, const char *line)
{
	bool good = true;

	if (*line == '+' && p->new_left) {
		if (p->file != UINT32_MAX)
			good = add_line(p);
		p->new_left--;
		p->line++;
	} else if (*line == '-' && p->old_left) {
		p->old_left--;
	} else if (*line == ' ') {
		p->new_left -= p->new_left > 0;
		p->old_left -= p->old_left > 0;
		p->line++;
	}
	return good;
}

/* "@@ -A[,B] +C[,D] @@" */
static void take_hunk(struct parse *p, const char *line)
{
	unsigned a, b = 1, c, d = 1;
	const char *plus = strstr(line, " +");

	if (!plus || (sscanf(line, "@@ -%u,%u", &a, &b) < 1) || sscanf(plus, " +%u,%u", &c, &d) < 1)
		return;
	p->old_left = b;
	p->new_left = d;
	p->line = c;
}

static bool take_line(struct parse *p, const char *line)
{
	CP_FREE char *name = NULL;

	if (p->old_left || p->new_left)
		return take_body(p, line);
	if (cp_starts_with(line, "diff ")) {
		p->file = UINT32_MAX;
	} else if (cp_starts_with(line, "@@ ")) {
		take_hunk(p, line);
	} else if (cp_starts_with(line, "+++ ")) {
		p->file = UINT32_MAX;
		name = read_name(line + 4);
		return !name || cp_intern(&p->c->files, name, strlen(name), &p->file, NULL);
	}
	return true;
}

static CP_ERROR read_diff(struct cp_changes *c, const char *commit)
{
	const char *const args[] = { "diff",
				     "-U0",
				     "--inter-hunk-context=0",
				     "-M",
				     "--text",
				     "--no-color",
				     "--no-ext-diff",
				     "--no-textconv",
				     "--src-prefix=a/",
				     "--dst-prefix=b/",
				     "--submodule=diff",
				     "--ignore-submodules=none",
				     "--no-relative",
				     "--diff-filter=d",
				     commit,
				     "--",
				     NULL };
	struct parse p = { .c = c, .file = UINT32_MAX };
	struct git g = { .err = -1 };
	CP_FREE char *line = NULL;
	size_t capacity = 0;
	bool good = true;
	struct cp_error *err = git_start(&g, c->top, args);

	while (!err && good && getline(&line, &capacity, g.out) > 0)
		good = take_line(&p, line);
	if (git_wait(&g) && !err && good)
		err = git_failed(&g, "git diff");
	cp_close_fd(&g.err);
	return err ? err : good ? NULL : cp_error_nomem();
}

/* New files that nobody added yet. */
static CP_ERROR read_untracked(struct cp_changes *c)
{
	const char *const args[] = { "ls-files", "--others", "--exclude-standard", "-z", NULL };
	struct git g = { .err = -1 };
	CP_FREE char *name = NULL;
	size_t capacity = 0;
	bool good = true;
	uint32_t number;
	struct cp_error *err = git_start(&g, c->top, args);

	while (!err && good && getdelim(&name, &capacity, 0, g.out) > 0)
		good = cp_intern(&c->files, name, strlen(name), &number, NULL) &&
		       cp_map_put(&c->untracked, number, 1);
	if (git_wait(&g) && !err && good)
		err = git_failed(&g, "git ls-files");
	cp_close_fd(&g.err);
	return err ? err : good ? NULL : cp_error_nomem();
}

/* The directory of the working tree. */
static CP_ERROR find_top(const char *dir, char **ret)
{
	const char *const args[] = { "rev-parse", "--show-toplevel", NULL };
	struct cp_error *failed = NULL, *err;
	CP_FREE char *answer = NULL;
	int status;

	err = git_ask(dir, args, &answer, &status, &failed);
	if (!err && status)
		err = cp_error_hint(cp_steal(failed),
				    "--diff is for sources in a git working tree: run it there");
	cp_error_free(failed);
	if (err)
		return err;
	*ret = realpath(answer, NULL);
	return *ret ? NULL : cp_error_new(CP_ERR_IO, errno, "git's directory %s", answer);
}

static CP_ERROR no_revision(const char *top, const char *revision)
{
	const char *const args[] = { "rev-parse", "--is-shallow-repository", NULL };
	struct cp_error *err =
		cp_error_new(CP_ERR_USAGE, 0, "git knows no revision '%s'", revision);
	CP_FREE char *shallow = NULL;
	int status = 0;

	cp_error_free(git_ask(top, args, &shallow, &status, NULL));
	if (shallow && !strcmp(shallow, "true"))
		cp_error_hint(err, "this clone is a shallow one: fetch the revision first "
				   "(git fetch --unshallow; fetch-depth: 0 of a CI job)");
	return err;
}

/* The commit that changes are counted from. */
static CP_ERROR find_commit(const char *top, const char *revision, char **ret)
{
	CP_FREE char *full = NULL, *commit = NULL, *base = NULL;
	const char *const ask[] = { "rev-parse", "--verify", "--quiet", NULL, NULL };
	const char *const part[] = { "merge-base", NULL, "HEAD", NULL };
	const char *args[5];
	int status = 1;

	if (asprintf(&full, "%s^{commit}", revision) < 0) {
		full = NULL;
		return cp_error_nomem();
	}
	memcpy(args, ask, sizeof(ask));
	args[3] = full;
	if (*revision && *revision != '-')
		CP_TRY(git_ask(top, args, &commit, &status, NULL));
	if (status || !commit || !*commit)
		return no_revision(top, revision);
	memcpy(args, part, sizeof(part));
	args[1] = commit;
	CP_TRY(git_ask(top, args, &base, &status, NULL));
	*ret = !status && *base ? cp_steal(base) : cp_steal(commit);
	return NULL;
}

CP_ERROR cp_changes_create(const char *dir, const char *revision, struct cp_changes **ret)
{
	struct cp_changes *c = calloc(1, sizeof(*c));
	CP_FREE char *commit = NULL;
	struct cp_error *err;

	if (!c)
		return cp_error_nomem();
	err = find_top(dir, &c->top);
	if (!err)
		err = find_commit(c->top, revision, &commit);
	if (!err)
		err = read_diff(c, commit);
	if (!err)
		err = read_untracked(c);
	if (err)
		cp_changes_destroy(c);
	else
		*ret = c;
	return err;
}

void cp_changes_destroy(struct cp_changes *c)
{
	if (!c)
		return;
	free(c->top);
	cp_interner_free(&c->files);
	cp_vec_free(&c->ranges);
	cp_map_free(&c->untracked);
	free(c);
}

bool cp_changes_mark(struct cp_changes *c, const char *path, uint8_t mark, uint8_t *marks,
		     size_t count)
{
	CP_FREE char *real = realpath(path, NULL);
	size_t size = strlen(c->top), i;
	const struct range *r;
	uint32_t file, n;
	bool all;

	if (!real || strncmp(real, c->top, size) != 0 || real[size] != '/')
		return false;
	if (!cp_intern(&c->files, real + size + 1, strlen(real + size + 1), &file, NULL))
		return false;
	all = cp_map_get(&c->untracked, file);
	for (i = 0; all && i < count; i++)
		marks[i] |= mark;
	cp_vec_for_each(&c->ranges, r) {
		if (r->file != file)
			continue;
		for (n = 0; n < r->count && r->first + n - 1 < count; n++)
			marks[r->first + n - 1] |= mark;
	}
	return all;
}
