/* SPDX-License-Identifier: MIT */
#include "cmd/unmaking.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

static bool is_file(const char *path, struct stat *st)
{
	return !lstat(path, st) && S_ISREG(st->st_mode);
}

void cp_unmaking_begin(struct cp_unmaking *u, const char *path)
{
	struct stat st;

	*u = (struct cp_unmaking){ .any = path && is_file(path, &st) };
	if (!u->any)
		return;
	u->device = st.st_dev;
	u->inode = st.st_ino;
}

static bool is_the_older(const struct cp_unmaking *u, const char *path)
{
	struct stat st;

	return u->any && is_file(path, &st) && st.st_dev == u->device && st.st_ino == u->inode;
}

void cp_unmaking_do(const struct cp_unmaking *u, const char *path)
{
	CP_FREE char *old = NULL;
	struct stat st;

	/* No recording was made where the older file has still the name. */
	if (!path || !is_file(path, &st) || is_the_older(u, path))
		return;
	if (asprintf(&old, "%s.old", path) < 0)
		old = NULL;
	if (unlink(path) || (old && is_the_older(u, old) && rename(old, path)))
		cp_debug("%s: %m", path);
}
