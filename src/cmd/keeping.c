/* SPDX-License-Identifier: MIT */
#include "cmd/keeping.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"

#define TAIL 65536u /* bytes that are looked at while the view is up */
#define LOOK_MS 500 /* where nobody says that there is more */

/* A signal's handler gets no argument. */
static struct cp_keeping *volatile kept;

static int open_file(void)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory && *directory ? directory : "/tmp",
		      O_RDWR | O_TMPFILE | O_APPEND | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	fd = memfd_create("output", MFD_CLOEXEC);
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

static void close_at(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Puts `from` in the place of a standard descriptor; what that was, or -1. */
static int replace(int from, int standard)
{
	int saved = isatty(standard) ? fcntl(standard, F_DUPFD_CLOEXEC, 3) : -1;

	if (saved >= 0)
		dup2(from, standard);
	return saved;
}

static void put_back(int *saved, int standard)
{
	if (*saved >= 0)
		dup2(*saved, standard);
	close_at(saved);
}

bool cp_keeping_begin(struct cp_keeping *k)
{
	*k = (struct cp_keeping){ -1, .file = open_file(), .saved = { -1, -1, -1 }, .end = -1 };
	k->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	k->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (k->file < 0 || k->end < 0 || k->terminal < 0) {
		close_at(&k->file);
		close_at(&k->end);
		close_at(&k->terminal);
		return false;
	}
	fflush(stdout);
	k->saved[STDOUT_FILENO] = replace(k->file, STDOUT_FILENO);
	k->saved[STDERR_FILENO] = replace(k->file, STDERR_FILENO);
	kept = k;
	return true;
}

void cp_keeping_hide_input(struct cp_keeping *k)
{
	int null = k->terminal >= 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	if (null < 0)
		return;
	k->saved[STDIN_FILENO] = replace(null, STDIN_FILENO);
	close(null);
}

void cp_keeping_show_input(struct cp_keeping *k)
{
	put_back(&k->saved[STDIN_FILENO], STDIN_FILENO);
}

void cp_keeping_read(const struct cp_keeping *k, struct cp_buf *out)
{
	off_t size = k->terminal >= 0 ? lseek(k->file, 0, SEEK_END) : 0;
	uint64_t from = size > (off_t)TAIL ? (uint64_t)size - TAIL : 0;
	char *bytes = malloc(TAIL);

	if (bytes && size > 0)
		cp_buf_add(out, bytes, cp_pread(k->file, bytes, TAIL, from));
	free(bytes);
}

/* ---- afterwards ---- */

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
	return true;
}

/* Shows what was not shown yet; false: the terminal is gone. */
static bool show(struct cp_keeping *k)
{
	char bytes[8192];
	size_t size;

	while ((size = cp_pread(k->file, bytes, sizeof(bytes), k->shown))) {
		if (!write_all(k->terminal, bytes, size))
			return false;
		k->shown += size;
	}
	return true;
}

static void *follow(void *data)
{
	struct cp_keeping *k = data;
	struct pollfd fds[] = { { .fd = k->end, .events = POLLIN },
				{ .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
				  .events = POLLIN } };
	char path[64], events[4096];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", k->file);
	if (fds[1].fd >= 0 && inotify_add_watch(fds[1].fd, path, IN_MODIFY) < 0)
		close_at(&fds[1].fd);
	while (show(k) && !fds[0].revents) {
		poll(fds, 2, LOOK_MS);
		if (fds[1].revents && read(fds[1].fd, events, sizeof(events)) < 0 &&
		    errno != EAGAIN)
			break;
	}
	close_at(&fds[1].fd);
	return NULL;
}

void cp_keeping_release(struct cp_keeping *k)
{
	if (k->terminal < 0)
		return;
	kept = NULL;
	fflush(stdout);
	put_back(&k->saved[STDOUT_FILENO], STDOUT_FILENO);
	put_back(&k->saved[STDERR_FILENO], STDERR_FILENO);
	show(k); /* before anything that we have to say */
	k->follows = !cp_thread_start(&k->follower, follow, k);
}

void cp_keeping_end(struct cp_keeping *k)
{
	if (k->terminal < 0)
		return;
	kept = NULL;
	eventfd_write(k->end, 1);
	if (k->follows)
		pthread_join(k->follower, NULL);
	put_back(&k->saved[STDOUT_FILENO], STDOUT_FILENO);
	put_back(&k->saved[STDERR_FILENO], STDERR_FILENO);
	show(k);
	close_at(&k->file);
	close_at(&k->end);
	close_at(&k->terminal);
}

void cp_keeping_abandon(void)
{
	struct cp_keeping *k = kept;

	kept = NULL;
	if (!k)
		return;
	if (k->saved[STDERR_FILENO] >= 0)
		dup2(k->saved[STDERR_FILENO], STDERR_FILENO);
	show(k);
}
