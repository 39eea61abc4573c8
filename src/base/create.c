/* SPDX-License-Identifier: MIT */
#include "base/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/types.h"

#define ATTEMPTS 8 /* somebody else may put a file there in between */

/* The option by which another file is named. */
static const char *by(enum cp_create kind)
{
	return kind == CP_CREATE_RECORDING ? " with -o FILE" : "";
}

static struct cp_error *failed(enum cp_create kind, const char *path, const char *what, int errnum)
{
	enum cp_error_code code = errnum == ENOENT			? CP_ERR_NOT_FOUND
				  : errnum == EACCES || errnum == EPERM ? CP_ERR_PERMISSION
									: CP_ERR_IO;
	struct cp_error *err = cp_error_new(code, errnum, "%s %s", what, path);

	if (errnum == ENOENT || errnum == ENOTDIR)
		return cp_error_hint(err, "the directory must exist; or name another file%s",
				     by(kind));
	return cp_error_hint(err, "name a file elsewhere%s", by(kind));
}

static struct cp_error *refused(enum cp_create kind, const char *path, const char *is)
{
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0, "%s is %s: %s is written to it", path,
					  is,
					  kind == CP_CREATE_RECORDING ? "no recording" : "nothing"),
			     "name another file%s", by(kind));
}

/* ---- descriptors ---- */

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

static struct cp_error *take_descriptor(enum cp_create kind, int number, const char *path,
					int *fd_ret)
{
	int fd;

	if (kind == CP_CREATE_RECORDING && isatty(number))
		return cp_error_hint(refused(kind, path, "a terminal"),
				     "send it to a file or a pipe, or name a file with -o FILE");
	fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return failed(kind, path, "opening", errno);
	*fd_ret = fd;
	return NULL;
}

/* ---- names that exist ---- */

/* The reason why a file is not written over; NULL: there is none. */
static const char *why_not(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFCHR:
	case S_IFIFO:
		return NULL;
	case S_IFLNK:
		return "a symbolic link";
	case S_IFDIR:
		return "a directory";
	default:
		return "no regular file";
	}
}

/* Opens a file that is there already, if it may be overwritten. */
static CP_ERROR open_existing(enum cp_create kind, const char *path, mode_t mode, int *fd_ret)
{
	/* Without O_NONBLOCK a pipe that nobody reads would hold us up. */
	int wait = kind == CP_CREATE_RECORDING ? O_NONBLOCK : 0;
	CP_CLOSE int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | wait);
	struct stat st;
	int flags;

	if (fd < 0 && errno == ENXIO && S_ISFIFO(mode))
		return cp_error_hint(cp_error_new(CP_ERR_IO, 0, "nobody reads the pipe %s", path),
				     "start its reader first");
	if (fd < 0 || fstat(fd, &st))
		return failed(kind, path, "opening", errno);
	if ((st.st_mode & S_IFMT) != (mode & S_IFMT))
		return refused(kind, path, "no longer what it was");
	if (kind == CP_CREATE_RECORDING && isatty(fd))
		return refused(kind, path, "a terminal");
	if (S_ISREG(mode) && ftruncate(fd, 0))
		return failed(kind, path, "emptying", errno);
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return failed(kind, path, "opening", errno);
	*fd_ret = cp_steal_fd(&fd);
	return NULL;
}

static CP_ERROR move_away(const char *path)
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

/* Takes a file that is there. NULL and *fd_ret still -1: there is nothing any more. */
static CP_ERROR take_existing(enum cp_create kind, const char *path, int *fd_ret)
{
	const char *is;
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? NULL : failed(kind, path, "looking at", errno);
	is = why_not(st.st_mode);
	if (is)
		return refused(kind, path, is);
	if (kind == CP_CREATE_RECORDING && S_ISREG(st.st_mode))
		return move_away(path);
	return open_existing(kind, path, st.st_mode, fd_ret);
}

/* ---- both ---- */

/* The beginning of a recording takes less. */
#define LEAST 512

/* A recording of which not even the beginning can be written is found out about now,
 * and not when the program runs that it was to be of. */
static CP_ERROR try_to_write(const char *path, int fd)
{
	static const char nothing[LEAST];
	struct rlimit limit;
	struct stat st;
	int errnum = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < LEAST) /* SIGXFSZ otherwise */
		errnum = EFBIG;
	else if (pwrite(fd, nothing, LEAST, 0) < 0 || ftruncate(fd, 0))
		errnum = errno;
	if (!errnum)
		return NULL;
	unlink(path);
	return failed(CP_CREATE_RECORDING, path, "writing", errnum);
}

CP_ERROR cp_create(enum cp_create kind, const char *path, int *fd_ret)
{
	int number = named_descriptor(path), fd = -1, i;
	mode_t mode = kind == CP_CREATE_RECORDING ? 0600 : 0666;

	if (number >= 0)
		return take_descriptor(kind, number, path, fd_ret);
	for (i = 0; i < ATTEMPTS && fd < 0; i++) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
			  mode);
		if (fd >= 0) {
			if (kind == CP_CREATE_RECORDING)
				fchmod(fd, mode); /* whatever the umask */
			break;
		}
		if (errno != EEXIST)
			return failed(kind, path, "making", errno);
		CP_TRY(take_existing(kind, path, &fd));
	}
	if (fd < 0)
		return refused(kind, path, "being made by somebody else all the time");
	if (kind == CP_CREATE_RECORDING) {
		struct cp_error *err = try_to_write(path, fd);

		if (err) {
			close(fd);
			return err;
		}
	}
	*fd_ret = fd;
	return NULL;
}

CP_ERROR cp_create_stream(const char *path, FILE **ret)
{
	FILE *file;
	int fd;

	CP_TRY(cp_create(CP_CREATE_OUTPUT, path, &fd));
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return cp_error_nomem();
	}
	*ret = file;
	return NULL;
}

void cp_create_undo(const char *path, FILE *file)
{
	struct stat made, named;

	if (named_descriptor(path) < 0 && !fstat(fileno(file), &made) && S_ISREG(made.st_mode) &&
	    !lstat(path, &named) && named.st_dev == made.st_dev && named.st_ino == made.st_ino)
		unlink(path);
}

CP_ERROR cp_create_check(enum cp_create kind, const char *path)
{
	const char *is;
	struct stat st;

	if (named_descriptor(path) >= 0 || lstat(path, &st))
		return NULL; /* what else is wrong shows when it is made */
	is = why_not(st.st_mode);
	return is ? refused(kind, path, is) : NULL;
}
