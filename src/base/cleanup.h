/* SPDX-License-Identifier: MIT
 *
 * Locals that clean up after themselves, and cp_steal() to hand one over.
 */
#ifndef CP_BASE_CLEANUP_H
#define CP_BASE_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CP_CLEANUP(fn) __attribute__((cleanup(fn)))

static inline void cp_free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void cp_close_fd(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cp_fclose_ptr(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define CP_FREE CP_CLEANUP(cp_free_ptr)
#define CP_CLOSE CP_CLEANUP(cp_close_fd)
#define CP_FCLOSE CP_CLEANUP(cp_fclose_ptr)

/* The value of `p`, which is left NULL. */
#define cp_steal(p) \
	__extension__({ \
		__typeof__(p) cp_st_ = (p); \
		(p) = NULL; \
		cp_st_; \
	})

static inline int cp_steal_fd(int *fd)
{
	int got = *fd;

	*fd = -1;
	return got;
}

#endif
