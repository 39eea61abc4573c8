/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum cp_error_code code_of(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return CP_ERR_NOT_FOUND;
	case EACCES:
	case EPERM:
		return CP_ERR_PERMISSION;
	case ESRCH:
		return CP_ERR_GONE;
	case ENOMEM:
		return CP_ERR_NOMEM;
	default:
		return CP_ERR_IO;
	}
}

CP_ERROR cp_file_read(int dir_fd, const char *path, size_t max, struct cp_buf *out)
{
	CP_CLOSE int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t start = out->size;
	char chunk[16384];
	ssize_t n;

	if (fd < 0)
		return cp_error_new(code_of(errno), errno, "cannot open %s", path);
	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cp_error_new(code_of(errno), errno, "cannot read %s", path);
		if (n == 0)
			break;
		if ((size_t)n > max - (out->size - start))
			return cp_error_new(CP_ERR_FORMAT, 0, "%s is larger than %zu bytes", path,
					    max);
		cp_buf_add(out, chunk, (size_t)n);
	}
	return out->failed ? cp_error_nomem() : NULL;
}

bool cp_file_stat_field(pid_t tid, unsigned field, char *word, size_t size)
{
	char path[64], buf[1024], *at;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tid, (int)tid);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : cp_pread(fd, buf, sizeof(buf) - 1, 0);
	buf[n] = 0;
	at = strrchr(buf, ')'); /* the name may hold anything */
	for (; at && field > 2; field--)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	n = strcspn(at + 1, " \n");
	if (n >= size)
		return false;
	memcpy(word, at + 1, n);
	word[n] = 0;
	return n != 0;
}

int cp_file_open_path(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	if (root_fd < 0)
		return open(path, O_PATH | O_CLOEXEC);
	return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

CP_ERROR cp_file_open_regular(int root_fd, const char *path, int *fd_ret)
{
	CP_CLOSE int named = cp_file_open_path(root_fd, path);
	char self[64];
	struct stat st;
	int fd;

	if (named < 0)
		return cp_error_new(code_of(errno), errno, "cannot open %s", path);
	if (fstat(named, &st) < 0)
		return cp_error_new(CP_ERR_IO, errno, "cannot stat %s", path);
	if (!S_ISREG(st.st_mode))
		return cp_error_new(CP_ERR_UNSUPPORTED, 0, "%s is not a regular file", path);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", named);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return cp_error_new(code_of(errno), errno, "cannot open %s", path);
	*fd_ret = fd;
	return NULL;
}

size_t cp_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		if (offset > INT64_MAX - done)
			break;
		n = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}
