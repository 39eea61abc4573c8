/* SPDX-License-Identifier: MIT */
#include "engine/families/mapcalls.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/types.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/tasks.h"

/* The third word of mmap, which has six arguments. */
#define PROTECTION 0xffu
#define FLAGS_SHIFT 8
#define FD_SHIFT 40
#define FD_NONE 0xffffffu

/* The words of a call. */
enum { ADDRESS, SIZE, THIRD };

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

#define START_BRK 47 /* field of /proc/PID/stat (proc_pid_stat(5)), from 1 */

uint64_t engine_break_start(const cprof_process *p)
{
	char word[32];

	if (!cp_file_stat_field(engine_living_task(p), START_BRK, word, sizeof(word)) ||
	    engine_is_replaced(p))
		return 0;
	return strtoull(word, NULL, 10);
}

uint64_t engine_whole_pages(uint64_t size)
{
	return (size + page_size() - 1) & ~(page_size() - 1);
}

uint8_t engine_map_role(const char *name, size_t length)
{
	static const struct engine_role_name functions[] = {
		{ "brk", ENGINE_MAP_BRK },	 { "mmap", ENGINE_MAP_MMAP },
		{ "mmap64", ENGINE_MAP_MMAP },	 { "munmap", ENGINE_MAP_MUNMAP },
		{ "mremap", ENGINE_MAP_MREMAP }, { "mprotect", ENGINE_MAP_MPROTECT },
	};

	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

/* The address that is asked for does not matter: the result says where it is. */
static void note_mmap(const struct engine_hit *hit, uint64_t *words)
{
	uint32_t fd = (uint32_t)engine_role_argument(hit, 4);

	words[ADDRESS] = engine_role_argument(hit, 5);
	words[THIRD] = (engine_role_argument(hit, 2) & PROTECTION) |
		       (uint64_t)(uint32_t)engine_role_argument(hit, 3) << FLAGS_SHIFT |
		       (uint64_t)(fd < FD_NONE ? fd : FD_NONE) << FD_SHIFT;
}

void engine_map_entered(uint8_t role, const struct engine_hit *hit, struct cp_call *call)
{
	uint64_t *words = call->words;

	words[ADDRESS] = engine_role_argument(hit, 0);
	words[SIZE] = engine_whole_pages(engine_role_argument(hit, 1));
	words[THIRD] = engine_role_argument(hit, 2);
	if (role == ENGINE_MAP_MMAP)
		note_mmap(hit, words);
	if (role == ENGINE_MAP_MREMAP) /* its flags take the bits below a page's size */
		words[THIRD] = engine_whole_pages(words[THIRD]) |
			       (engine_role_argument(hit, 3) & (page_size() - 1));
}

static void unpack(struct engine_map_call *c, const uint64_t *words, uint64_t result)
{
	uint64_t third = words[THIRD];

	c->address = words[ADDRESS];
	c->size = words[SIZE];
	c->fd = -1;
	if (c->role == ENGINE_MAP_MMAP) {
		c->address = result;
		c->offset = words[ADDRESS];
		c->protection = third & PROTECTION;
		c->flags = (uint32_t)(third >> FLAGS_SHIFT);
		if (third >> FD_SHIFT != FD_NONE && !(c->flags & MAP_ANONYMOUS))
			c->fd = (int)(third >> FD_SHIFT);
	} else if (c->role == ENGINE_MAP_MREMAP) {
		c->moved_to = result;
		c->new_size = third & ~(page_size() - 1);
		c->flags = third & (page_size() - 1);
	} else if (c->role == ENGINE_MAP_MPROTECT) {
		c->protection = third & PROTECTION;
	}
}

bool engine_map_returned(const cprof_session *s, uint8_t role, const struct cp_call *call,
			 struct engine_map_call *ret)
{
	struct engine_map_call made = { .role = role, .call = call };
	bool pointer = role == ENGINE_MAP_MMAP || role == ENGINE_MAP_MREMAP;
	uint64_t result;

	if (!engine_role_result(s, &result) ||
	    (pointer ? result == (uint64_t)-1 : (int32_t)result != 0))
		return false;
	unpack(&made, call->words, result);
	if (role == ENGINE_MAP_BRK && !made.address)
		return false; /* brk(0) asks where the break is */
	*ret = made;
	return true;
}
