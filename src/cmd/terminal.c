/* SPDX-License-Identifier: MIT */
#include "cmd/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text.h"

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static unsigned columns_of(int fd, bool is_terminal)
{
	struct winsize size = { 0 };
	const char *text = getenv("COLUMNS");
	uint64_t columns;

	if (text && cp_parse_u64(text, 10000, &columns) && columns)
		return (unsigned)columns;
	if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

struct cp_terminal cp_terminal_of(int fd)
{
	struct cp_terminal t = { .is_terminal = isatty(fd) };
	const char *term = getenv("TERM");

	t.color = t.is_terminal && !is_set("NO_COLOR") && term && strcmp(term, "dumb");
	t.columns = columns_of(fd, t.is_terminal);
	return t;
}

bool cp_terminal_is_drawable(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && tcgetpgrp(fd) == getpgrp() && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/* A locale that is not installed is what its name says. */
static bool is_utf8_named(void)
{
	const char *name = is_set("LC_ALL")	? getenv("LC_ALL")
			   : is_set("LC_CTYPE") ? getenv("LC_CTYPE")
						: getenv("LANG");

	return name && (strcasestr(name, "UTF-8") || strcasestr(name, "UTF8"));
}

bool cp_terminal_is_ascii(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool ascii;

	if (!locale)
		return !is_utf8_named();
	ascii = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") != 0;
	freelocale(locale);
	return ascii;
}

bool cp_terminal_print(FILE *to, const struct cp_buf *text)
{
	struct cp_buf ascii CP_CLEANUP(cp_buf_free) = { 0 };

	if (!text->size)
		return true;
	if (!cp_terminal_is_ascii())
		return fwrite(text->bytes, 1, text->size, to) == text->size;
	cp_text_to_ascii(&ascii, text->bytes, text->size);
	return !ascii.failed && fwrite(ascii.bytes, 1, ascii.size, to) == ascii.size;
}

/* Whether the first word of `command` can be executed: of a pager that is
 * missing, only the shell's complaint would be seen. */
static bool is_installed(const char *command)
{
	size_t size = strcspn(command, " \t");
	const char *path = getenv("PATH");
	char file[4096];

	if (memchr(command, '/', size)) {
		snprintf(file, sizeof(file), "%.*s", (int)size, command);
		return access(file, X_OK) == 0;
	}
	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%.*s", (int)n, path, (int)size, command);
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static const char *pager_command(void)
{
	const char *command = getenv("CPROF_PAGER");

	if (!command)
		command = is_set("PAGER") ? getenv("PAGER") : "less";
	return is_installed(command) ? command : "";
}

static void exec_pager(const char *command, int read_fd)
{
	dup2(read_fd, STDIN_FILENO);
	close(read_fd);
	/* Quit when it fits one screen, pass colours, leave the text there. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

struct cp_pager cp_pager_open(void)
{
	struct cp_pager none = { 0, -1 }, pager = none;
	const char *command = pager_command();
	int fds[2];

	if (!isatty(STDOUT_FILENO) || !*command || !strcmp(command, "cat"))
		return none;
	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return none;
	pager.saved_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	pager.pid = pager.saved_fd < 0 ? -1 : fork();
	if (pager.pid == 0)
		exec_pager(command, fds[0]);
	close(fds[0]);
	if (pager.pid < 0) {
		close(fds[1]);
		if (pager.saved_fd >= 0)
			close(pager.saved_fd);
		return none;
	}
	signal(SIGPIPE, SIG_IGN); /* the person may quit before the end */
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	return pager;
}

void cp_pager_close(struct cp_pager *pager)
{
	if (pager->pid <= 0)
		return;
	fflush(stdout);
	clearerr(stdout); /* a pager that was left early is no failure */
	dup2(pager->saved_fd, STDOUT_FILENO);
	close(pager->saved_fd);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pager = (struct cp_pager){ 0, -1 };
}
