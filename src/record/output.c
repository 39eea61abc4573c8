/* SPDX-License-Identifier: MIT
 *
 * Where a recording is written. What a program did is private (its arguments,
 * its paths), and cprof often runs as root in directories of other people: so
 * a recording is readable by its owner only, is a file that was made here and
 * now, and no link decides where it lies.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "record/record.h"

#define ATTEMPTS 8 /* somebody else may put a file there in between */

static struct cp_error *failed(const char *path, const char *what, int errnum)
{
	enum cp_error_code code = errnum == ENOENT			? CP_ERR_NOT_FOUND
				  : errnum == EACCES || errnum == EPERM ? CP_ERR_PERMISSION
									: CP_ERR_IO;
	struct cp_error *err = cp_error_new(code, errnum, "%s %s", what, path);

	if (errnum == ENOENT || errnum == ENOTDIR)
		return cp_error_hint(err, "the directory must exist; -o FILE names another file");
	return cp_error_hint(err, "name a file elsewhere with -o FILE");
}

static struct cp_error *refused(const char *path, const char *is)
{
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "%s is %s: no recording is written to it", path, is),
			     "name another file with -o FILE");
}

/* "-", /dev/stdout and the like: their descriptor's number, else -1. */
static int named_descriptor(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t number;
	size_t i;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < CP_ARRAY_SIZE(dirs); i++) {
		if (cp_starts_with(path, dirs[i]) &&
		    cp_parse_u64(path + strlen(dirs[i]), INT32_MAX, &number))
			return (int)number;
	}
	return -1;
}

static struct cp_error *take_descriptor(int number, const char *path, int *fd_ret)
{
	int fd;

	if (isatty(number))
		return cp_error_hint(refused(path, "a terminal"),
				     "send it to a file or a pipe, or name a file with -o FILE");
	fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return failed(path, "opening", errno);
	*fd_ret = fd;
	return NULL;
}

/* A pipe or a device that is there already. */
static struct cp_error *open_special(const char *path, mode_t kind, int *fd_ret)
{
	/* Without O_NONBLOCK a pipe that nobody reads would hold us up. */
	CP_CLOSE int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int flags;

	if (fd < 0 && errno == ENXIO && S_ISFIFO(kind))
		return cp_error_hint(cp_error_new(CP_ERR_IO, 0, "nobody reads the pipe %s", path),
				     "start its reader first");
	if (fd < 0 || fstat(fd, &st))
		return failed(path, "opening", errno);
	if ((st.st_mode & S_IFMT) != (kind & S_IFMT))
		return refused(path, "no longer what it was");
	if (isatty(fd))
		return refused(path, "a terminal");
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return failed(path, "opening", errno);
	*fd_ret = cp_steal_fd(&fd);
	return NULL;
}

static struct cp_error *move_away(const char *path)
{
	CP_FREE char *old = NULL;

	if (asprintf(&old, "%s.old", path) < 0) {
		old = NULL;
		return cp_error_nomem();
	}
	if (rename(path, old) && errno != ENOENT)
		return cp_error_hint(cp_error_new(errno == EACCES || errno == EPERM
							  ? CP_ERR_PERMISSION
							  : CP_ERR_IO,
						  errno, "moving the older %s to %s", path, old),
				     "name another file with -o FILE");
	return NULL;
}

/* A name that exists: NULL and *fd_ret still -1 when it was moved away. */
static struct cp_error *open_existing(const char *path, int *fd_ret)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? NULL : failed(path, "looking at", errno);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return move_away(path);
	case S_IFCHR:
	case S_IFIFO:
		return open_special(path, st.st_mode, fd_ret);
	case S_IFLNK:
		return refused(path, "a symbolic link");
	case S_IFDIR:
		return refused(path, "a directory");
	default:
		return refused(path, "no regular file");
	}
}

CP_ERROR cp_record_open_output(const char *path, int *fd_ret)
{
	int number = named_descriptor(path), fd = -1, i;

	if (number >= 0)
		return take_descriptor(number, path, fd_ret);
	for (i = 0; i < ATTEMPTS && fd < 0; i++) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
			  0600);
		if (fd >= 0) {
			fchmod(fd, 0600); /* whatever the umask */
			break;
		}
		if (errno != EEXIST)
			return failed(path, "making", errno);
		CP_TRY(open_existing(path, &fd));
	}
	if (fd < 0)
		return refused(path, "being made by somebody else all the time");
	*fd_ret = fd;
	return NULL;
}
