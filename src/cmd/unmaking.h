/* SPDX-License-Identifier: MIT
 *
 * A recording that there shall not be after all: nothing of what it would be of was started.
 */
#ifndef CP_CMD_UNMAKING_H
#define CP_CMD_UNMAKING_H

#include <stdbool.h>
#include <sys/types.h>

/* What has a file's name before a recording is made there. */
struct cp_unmaking {
	bool any; /* is there a regular file? */
	dev_t device;
	ino_t inode;
};

void cp_unmaking_begin(struct cp_unmaking *u, const char *path);
/* Removes the recording if it is a regular file, and gives the name back to the older one, if
 * that is FILE.old now. */
void cp_unmaking_do(const struct cp_unmaking *u, const char *path);

#endif
