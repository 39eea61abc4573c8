/* SPDX-License-Identifier: MIT */
#include "control/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WAITING 64 /* who has connected and was not looked at yet */

/* ---- the directory ---- */

/* Is the directory ours, and nobody else's to write to? `mask`: modes that it must not
 * have. */
static bool is_own(int fd, mode_t mask)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & mask);
}

static int open_directory(int at, const char *name, int flags)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* A directory of that name in `at`, with nobody's but our rights. An errno, or 0. */
static int open_own(int at, const char *name, bool make, int *fd_ret)
{
	CP_CLOSE int fd = -1;

	if (make && mkdirat(at, name, 0700) && errno != EEXIST)
		return errno;
	fd = open_directory(at, name, O_NOFOLLOW);
	if (fd < 0)
		return errno;
	if (!is_own(fd, 077))
		return EPERM;
	*fd_ret = cp_steal_fd(&fd);
	return 0;
}

static CP_ERROR cannot(int errnum, const char *path)
{
	enum cp_error_code code = errnum == ENOENT ? CP_ERR_NOT_FOUND : CP_ERR_IO;

	if (errnum == EPERM || errnum == ELOOP || errnum == ENOTDIR)
		return cp_error_hint(cp_error_new(CP_ERR_PERMISSION, 0,
						  "'%s' is no directory of your own that is "
						  "closed to others (mode 0700)",
						  path),
				     "remove it, or set XDG_RUNTIME_DIR to a directory of your "
				     "own");
	return cp_error_new(code, errnum, "opening '%s'", path);
}

static CP_ERROR open_temporary(bool make, int *fd_ret, char **path_ret)
{
	CP_CLOSE int tmp = open_directory(AT_FDCWD, "/tmp", 0);
	char path[64];
	int errnum;

	snprintf(path, sizeof(path), "/tmp/cprof-%u", (unsigned)geteuid());
	errnum = tmp < 0 ? errno : open_own(tmp, path + strlen("/tmp/"), make, fd_ret);
	if (errnum)
		return cannot(errnum, path);
	*path_ret = strdup(path);
	return *path_ret ? NULL : cp_error_nomem();
}

CP_ERROR cp_control_open_place(bool make, int *fd_ret, char **path_ret)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	CP_CLOSE int outer = -1, fd = -1;
	CP_FREE char *path = NULL;
	int errnum;

	if (runtime && *runtime == '/')
		outer = open_directory(AT_FDCWD, runtime, 0);
	if (outer < 0 || !is_own(outer, 022)) /* as of sudo, which leaves it as it is */
		CP_TRY(open_temporary(make, &fd, &path));
	else if (asprintf(&path, "%s/cprof", runtime) < 0)
		return path = NULL, cp_error_nomem();
	if (fd < 0) {
		errnum = open_own(outer, "cprof", make, &fd);
		if (errnum)
			return cannot(errnum, path);
	}
	*fd_ret = cp_steal_fd(&fd);
	*path_ret = cp_steal(path);
	return NULL;
}

/* ---- sockets ---- */

/* However long the directory's name is, and whatever becomes of it. */
static bool address_of(int place, const char *name, struct sockaddr_un *ret)
{
	int size;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	size = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", place, name);
	return size > 0 && (size_t)size < sizeof(ret->sun_path);
}

static int new_socket(int flags)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

int cp_control_connect(int place, const char *name, unsigned seconds, int *fd_ret)
{
	CP_CLOSE int fd = new_socket(seconds ? 0 : SOCK_NONBLOCK);
	const struct timeval most = { .tv_sec = seconds };
	struct sockaddr_un address;

	if (!address_of(place, name, &address))
		return ENAMETOOLONG;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return errno;
	*fd_ret = cp_steal_fd(&fd);
	return 0;
}

/* A socket that listens as `name`, for its owner alone. An errno, or 0. */
static int listen_as(int place, const char *name, int *fd_ret)
{
	CP_CLOSE int fd = new_socket(SOCK_NONBLOCK);
	struct sockaddr_un address;

	if (fd < 0)
		return errno;
	if (!address_of(place, name, &address))
		return ENAMETOOLONG;
	unlinkat(place, name, 0);
	/* Before it has a name: the file gets this mode. */
	if (fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, WAITING))
		return errno;
	*fd_ret = cp_steal_fd(&fd);
	return 0;
}

CP_ERROR cp_control_bind(int place, pid_t target, int *fd_ret, char **name_ret)
{
	CP_CLOSE int fd = -1;
	CP_FREE char *name = NULL;
	char made[64];
	int errnum;

	snprintf(made, sizeof(made), "%d-%d.new", (int)target, (int)getpid());
	if (asprintf(&name, "%d-%d.sock", (int)target, (int)getpid()) < 0)
		return name = NULL, cp_error_nomem();
	errnum = listen_as(place, made, &fd);
	if (!errnum && renameat(place, made, place, name)) {
		errnum = errno;
		unlinkat(place, made, 0);
	}
	if (errnum)
		return cp_error_new(CP_ERR_IO, errnum, "making the socket '%s'", name);
	*fd_ret = cp_steal_fd(&fd);
	*name_ret = cp_steal(name);
	return NULL;
}

uid_t cp_control_peer(int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return (uid_t)-1;
	return peer.uid;
}

/* ---- all of them ---- */

/* `ending`: ".sock" or ".new". */
static bool parse(const char *name, const char *ending, struct cp_control_socket *ret)
{
	int target, cprof, end = 0;

	if (sscanf(name, "%d-%d%n", &target, &cprof, &end) != 2 || strcmp(name + end, ending) != 0)
		return false;
	*ret = (struct cp_control_socket){ .target = target, .cprof = cprof };
	snprintf(ret->name, sizeof(ret->name), "%d-%d%s", target, cprof, ending);
	return target > 0 && cprof > 0 && !strcmp(name, ret->name);
}

static void each_named(int place, const char *ending, cp_control_socket_fn each, void *ctx)
{
	CP_CLOSE int fd = open_directory(place, ".", 0);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct cp_control_socket socket;
	const struct dirent *entry;
	bool more = true;

	if (!dir)
		return;
	cp_steal_fd(&fd);
	while (more && (entry = readdir(dir)))
		if (parse(entry->d_name, ending, &socket))
			more = each(ctx, &socket);
	closedir(dir);
}

void cp_control_each_socket(int place, cp_control_socket_fn each, void *ctx)
{
	each_named(place, ".sock", each, ctx);
}

static bool clean_socket(void *ctx, const struct cp_control_socket *socket)
{
	CP_CLOSE int fd = -1;

	if (cp_control_connect(*(int *)ctx, socket->name, 0, &fd) == ECONNREFUSED)
		unlinkat(*(int *)ctx, socket->name, 0);
	return true;
}

static bool clean_half(void *ctx, const struct cp_control_socket *socket)
{
	if (kill(socket->cprof, 0) && errno == ESRCH)
		unlinkat(*(int *)ctx, socket->name, 0);
	return true;
}

void cp_control_clean(int place)
{
	each_named(place, ".sock", clean_socket, &place);
	each_named(place, ".new", clean_half, &place);
}
