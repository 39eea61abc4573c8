/* SPDX-License-Identifier: MIT */
#include "cmd/merging.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/create.h"
#include "base/text.h"
#include "record/merge.h"
#include "record/record.h"

/* Without a name, and the slash before it, but for "/"; the caller's. */
static char *directory_of(const char *path)
{
	const char *name = cp_basename(path);
	size_t size = (size_t)(name - path);

	if (!size)
		return strdup(".");
	return strndup(path, size > 1 ? size - 1 : 1);
}

CP_ERROR cp_open_unnamed(const char *path, int *fd_ret)
{
	CP_FREE char *directory = directory_of(path), *name = NULL;
	int fd;

	if (!directory || asprintf(&name, "%s/.cprof-XXXXXX", directory) < 0) {
		name = NULL;
		return cp_error_nomem();
	}
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) { /* not every file system can do that */
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0)
		return cp_error_new(CP_ERR_IO, errno, "making a file in %s", directory);
	*fd_ret = fd;
	return NULL;
}

/* The lock is the directory's: a lock of the file itself would stay with the
 * one that is replaced. */
static CP_ERROR lock(const char *directory, int *fd_ret)
{
	CP_CLOSE int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return cp_error_new(CP_ERR_IO, errno, "opening the directory %s", directory);
	do {
		status = flock(fd, LOCK_EX);
	} while (status && errno == EINTR);
	if (status)
		return cp_error_new(CP_ERR_IO, errno, "locking the directory %s", directory);
	*fd_ret = cp_steal_fd(&fd);
	return NULL;
}

static CP_ERROR merge(const char *path, const char *recording, int fd)
{
	struct cp_record *inputs[2] = { NULL, NULL };
	size_t count = 0;
	struct stat st;
	struct cp_error *err = cp_record_load(recording, &inputs[count]);

	count += !err;
	if (!err && !stat(path, &st))
		err = cp_record_load(path, &inputs[count]);
	count += !err && inputs[1];
	if (!err)
		err = cp_record_merge(inputs, count, cp_steal_fd(&fd));
	cp_close_fd(&fd);
	cp_record_destroy(inputs[0]);
	cp_record_destroy(inputs[1]);
	return err;
}

static CP_ERROR replace(const char *path, const char *recording)
{
	CP_FREE char *directory = directory_of(path), *name = NULL;
	CP_CLOSE int locked = -1;
	struct cp_error *err;
	int fd;

	if (!directory || asprintf(&name, "%s/.cprof-XXXXXX", directory) < 0) {
		name = NULL;
		return cp_error_nomem();
	}
	CP_TRY(lock(directory, &locked));
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return cp_error_new(CP_ERR_IO, errno, "making a file in %s", directory);
	err = merge(path, recording, fd);
	if (!err && rename(name, path))
		err = cp_error_new(CP_ERR_IO, errno, "writing %s", path);
	if (err)
		unlink(name);
	return err;
}

CP_ERROR cp_merge_into(const char *path, const char *recording)
{
	CP_TRY(cp_create_check(CP_CREATE_RECORDING, path));
	return replace(path, recording);
}
