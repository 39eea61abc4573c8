/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/create.h"
#include "base/text.h"

extern char **environ;

/* ---- names ---- */

static void add_now(struct cp_buf *out)
{
	time_t now = time(NULL);
	char text[32];
	struct tm tm;

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm))
		cp_buf_str(out, text);
}

static char *expand(const char *name, int32_t pid, bool add_pid)
{
	struct cp_buf out = { 0 };

	for (; *name; name++) {
		if (name[0] != '%' || !strchr("pt%", name[1]) || !name[1]) {
			cp_buf_u8(&out, (uint8_t)*name);
			continue;
		}
		name++;
		if (*name == 'p')
			cp_buf_printf(&out, "%d", pid);
		else if (*name == 't')
			add_now(&out);
		else
			cp_buf_u8(&out, '%');
	}
	if (add_pid)
		cp_buf_printf(&out, ".%d", pid);
	if (out.failed)
		cp_buf_free(&out);
	return out.bytes;
}

bool cp_output_needs_pid(const char *spec)
{
	const char *at;

	if (*spec == '+')
		return spec[1] != 0;
	if (*spec == '|' || *spec == '#')
		return false;
	for (at = spec; (at = strchr(at, '%')) && at[1]; at += 2)
		if (at[1] == 'p')
			return true;
	return false;
}

bool cp_output_parse(const char *spec, int32_t pid, struct cp_output *ret)
{
	struct cp_output o = { .kind = CP_OUTPUT_FILE, .descriptor = -1 };
	uint64_t number;

	if (!strcmp(spec, "-")) {
		o.kind = CP_OUTPUT_DESCRIPTOR;
		o.descriptor = STDOUT_FILENO;
	} else if (*spec == '#') {
		if (!cp_parse_u64(spec + 1, INT32_MAX, &number))
			return false;
		o.kind = CP_OUTPUT_DESCRIPTOR;
		o.descriptor = (int)number;
	} else if (*spec == '|') {
		o.kind = CP_OUTPUT_COMMAND;
		o.file = spec[1] ? strdup(spec + 1) : NULL;
	} else {
		if (*spec && strcmp(spec, "+") != 0)
			o.file = expand(spec + (*spec == '+'), pid, *spec == '+');
	}
	if (o.kind != CP_OUTPUT_DESCRIPTOR && !o.file)
		return false;
	*ret = o;
	return true;
}

void cp_output_free(struct cp_output *o)
{
	free(o->file);
	*o = (struct cp_output){ .descriptor = -1 };
}

/* ---- commands ---- */

/* Starts a command, with the signals that we ignore as they usually are. */
static int spawn(const char *command, int input, pid_t *pid_ret)
{
	char *const argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			       (char *)(uintptr_t)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		sigemptyset(&usual);
		sigaddset(&usual, SIGPIPE);
		sigaddset(&usual, SIGXFSZ);
		posix_spawnattr_setsigdefault(&attributes, &usual);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		if (!err)
			err = posix_spawn(pid_ret, "/bin/sh", &actions, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

int cp_output_start(const char *command, struct cp_output_pipe *ret)
{
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return errno;
	err = spawn(command, fds[0], &pid);
	close(fds[0]);
	if (err) {
		close(fds[1]);
		return err;
	}
	*ret = (struct cp_output_pipe){ .fd = fds[1], .pid = pid };
	return 0;
}

int cp_output_wait(struct cp_output_pipe *pipe)
{
	int status = 0;

	while (pipe->pid > 0 && waitpid(pipe->pid, &status, 0) < 0 && errno == EINTR)
		;
	pipe->pid = 0;
	return status;
}

/* ---- text ---- */

static CP_ERROR open_text(const struct cp_output *o, const char *spec, struct cp_text_output *to)
{
	int fd = -1;

	switch (o->kind) {
	case CP_OUTPUT_FILE:
		return cp_create_stream(o->file, &to->file);
	case CP_OUTPUT_DESCRIPTOR:
		fd = fcntl(o->descriptor, F_DUPFD_CLOEXEC, 3);
		break;
	case CP_OUTPUT_COMMAND:
		errno = cp_output_start(o->file, &to->pipe);
		fd = errno ? -1 : to->pipe.fd;
		break;
	}
	to->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (to->file)
		return NULL;
	if (fd >= 0)
		close(fd);
	return cp_error_new(CP_ERR_IO, errno, "opening %s", spec);
}

bool cp_text_output_open(const char *spec, int32_t pid, struct cp_text_output *ret,
			 char **error_ret)
{
	struct cp_text_output to = { .pipe = { .fd = -1 } };
	struct cp_error *err;
	struct cp_output o;

	*error_ret = NULL;
	if (!cp_output_parse(spec, pid, &o)) {
		if (asprintf(error_ret,
			     "output=%s: it takes FILE, +FILE, #DESCRIPTOR, |COMMAND or -",
			     spec) < 0)
			*error_ret = NULL;
		return false;
	}
	err = open_text(&o, spec, &to);
	cp_output_free(&o);
	if (err) {
		*error_ret = strdup(err->what);
		cp_error_free(err);
		return false;
	}
	*ret = to;
	return true;
}

void cp_text_output_check(struct cp_text_output *o)
{
	if (!o->error && o->file && ferror(o->file))
		o->error = errno ? errno : EIO;
}

bool cp_text_output_close(struct cp_text_output *o)
{
	bool good;
	int saved;

	if (!o->file)
		return true;
	good = !ferror(o->file);
	errno = 0;
	good &= !fclose(o->file);
	saved = o->error ? o->error : errno;
	if (!good && !saved)
		saved = EIO;
	o->file = NULL;
	if (cp_output_wait(&o->pipe)) {
		errno = good ? 0 : saved;
		return false;
	}
	errno = saved;
	return good;
}
