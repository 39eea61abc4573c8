/* SPDX-License-Identifier: MIT
 *
 * What the program reads and writes, from the C library's functions of that kind:
 * what they answer is how many bytes it was. stdio and C++ streams come to them,
 * too. A call that does another one's work in the library is not told again; one
 * that a signal handler makes meanwhile is.
 */
#include <cprof/io.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/types.h"
#include "engine/calls/calls.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

#define MESSAGES_MAX 1024 /* UIO_MAXIOV: the kernel takes no more at once */

enum {
	READ = 1, /* (fd): bytes */
	WRITE,
	READ_MANY, /* (fd, messages): messages */
	WRITE_MANY,
	SENDFILE, /* (to, from) */
	TEE, /* (from, to) */
	SPLICE, /* (from, offset, to) */
	ROLES
};

struct fileio {
	cprof_io current;
	bool has_current;
};

/* ---- wanted ---- */

static struct fileio *fileio_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_FILEIO];
}

static bool is_enabled(const cprof_session *s)
{
	return fileio_of(s) != NULL;
}

bool cprof_profiler_enable_fileio(void)
{
	cprof_session *s = cprof_session_current();

	if (!engine_may_ask(s) || !engine_calls_get(s))
		return false;
	if (!fileio_of(s))
		s->own[ENGINE_FAMILY_FILEIO] = calloc(1, sizeof(struct fileio));
	return fileio_of(s) != NULL;
}

static void free_fileio(cprof_session *s)
{
	free(fileio_of(s));
	s->own[ENGINE_FAMILY_FILEIO] = NULL;
}

static uint8_t role_of(const char *image, const char *name, size_t length, bool local)
{
	static const struct engine_role_name functions[] = {
		{ "read", READ },
		{ "__read_nocancel", READ },
		{ "pread", READ },
		{ "pread64", READ },
		{ "__pread64_nocancel", READ },
		{ "readv", READ },
		{ "preadv", READ },
		{ "preadv64", READ },
		{ "preadv2", READ },
		{ "preadv64v2", READ },
		{ "recv", READ },
		{ "recvfrom", READ },
		{ "recvmsg", READ },
		{ "recvmmsg", READ_MANY },
		{ "write", WRITE },
		{ "__write_nocancel", WRITE },
		{ "pwrite", WRITE },
		{ "pwrite64", WRITE },
		{ "writev", WRITE },
		{ "pwritev", WRITE },
		{ "pwritev64", WRITE },
		{ "pwritev2", WRITE },
		{ "pwritev64v2", WRITE },
		{ "vmsplice", WRITE },
		{ "send", WRITE },
		{ "sendto", WRITE },
		{ "sendmsg", WRITE },
		{ "sendmmsg", WRITE_MANY },
		{ "__sendmmsg", WRITE_MANY },
		{ "sendfile", SENDFILE },
		{ "sendfile64", SENDFILE },
		{ "tee", TEE },
		{ "splice", SPLICE },
		{ "copy_file_range", SPLICE },
	};

	(void)image;
	(void)local;
	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

/* ---- calls ---- */

/* words of the call: the descriptor that is read, or the only one; that which is
 * written to, or where the messages are; whether it is made by another call. */
enum { FROM, TO, INNER };

static void note_arguments(uint8_t role, const struct engine_hit *hit, uint64_t *words)
{
	unsigned from = role == SENDFILE ? 1 : 0;
	unsigned to = role == SENDFILE ? 0 : role == SPLICE ? 2 : 1;

	words[FROM] = engine_role_argument(hit, from);
	words[TO] = engine_role_argument(hit, to);
}

/* Is the call made by the traced one around it? One of a signal handler is not, nor one
 * after a longjmp() out of that. The caller may be a helper of what stands in for the
 * library. */
static bool is_made_by(cprof_session *s, const struct engine_traced *t,
		       const struct engine_hit *hit)
{
	uint64_t at = hit->event->caller - 1, address;
	const struct engine_text *text = engine_find_text(s->current.process, at);
	size_t i;

	if (!text || text->image->assembly != t->assembly)
		return false;
	if (text->image != hit->image && !engine_is_program(text->image))
		return true;
	address = at - text->image->bias;
	for (i = 0; i < CP_GROUP_RANGES; i++)
		if (address >= t->ranges[i].start && address < t->ranges[i].end)
			return true;
	return false;
}

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	const struct engine_traced *t;
	const struct cp_call *around;

	(void)ended;
	note_arguments(role, hit, call->words);
	engine_calls_reach(s, hit->event, hit->event->sp);
	around = cp_shadow_top(s->current.process->shadow, hit->event->e.tid);
	t = around ? s->calls->traced.items[around->function] : NULL;
	call->words[INNER] = t && t->family == ENGINE_FAMILY_FILEIO && t->role == role &&
			     (int32_t)around->words[FROM] == (int32_t)call->words[FROM] &&
			     is_made_by(s, t, hit);
	return false;
}

/* Sum of the bytes of `count` messages (struct mmsghdr). */
static uint64_t bytes_of(cprof_process *p, uint64_t address, uint64_t count)
{
	struct mmsghdr messages[16];
	uint64_t bytes = 0, i, n;

	if (count > MESSAGES_MAX || !engine_open_memory(p))
		return 0;
	for (; count; count -= n, address += n * sizeof(*messages)) {
		n = count < CP_ARRAY_SIZE(messages) ? count : CP_ARRAY_SIZE(messages);
		if (p->memory.read(p->memory.ctx, address, messages, n * sizeof(*messages)) !=
		    n * sizeof(*messages))
			break;
		for (i = 0; i < n; i++)
			bytes += messages[i].msg_len;
	}
	return bytes;
}

static void tell(cprof_session *s, const struct cp_call *call, cprof_fileio_kind kind, uint64_t fd,
		 uint64_t bytes)
{
	struct fileio *io = fileio_of(s);

	io->current =
		(cprof_io){ .function = call->subject, .fd = (int)fd, .begin_ns = call->enter_ns };
	io->has_current = true;
	engine_raise(s, fileio, kind, bytes);
	io->has_current = false;
}

static bool returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	bool many = role == READ_MANY || role == WRITE_MANY;
	bool both = role == SENDFILE || role == SPLICE || role == TEE;
	uint64_t n;

	if (call->words[INNER] || !engine_role_result(s, &n) || (int64_t)n <= 0)
		return false;
	if (many && (int32_t)n <= 0)
		return false;
	if (many)
		n = bytes_of(s->current.process, call->words[TO], n & INT32_MAX);
	if (both || role == READ || role == READ_MANY)
		tell(s, call, CPROF_FILEIO_READ, call->words[FROM], n);
	if (both || role == WRITE || role == WRITE_MANY)
		tell(s, call, CPROF_FILEIO_WRITE, call->words[both ? TO : FROM], n);
	return true;
}

bool cprof_current_io(cprof_io *ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !fileio_of(s) || !fileio_of(s)->has_current)
		return false;
	*ret = fileio_of(s)->current;
	return true;
}

#define BYTES \
	{ \
		CP_SITE_REGS, ENGINE_WITH_STACK, false, 7 /* the first three */ \
	}
#define MESSAGES \
	{ \
		CP_SITE_REGS, ENGINE_WITH_STACK, true, 0 \
	}

static const struct engine_role roles[ROLES] = {
	[READ] = BYTES,	    [WRITE] = BYTES, [READ_MANY] = MESSAGES, [WRITE_MANY] = MESSAGES,
	[SENDFILE] = BYTES, [TEE] = BYTES,   [SPLICE] = BYTES,
};

const struct engine_family engine_fileio_family = {
	.name = "fileio",
	.breakpoints = true,
	.enabled = is_enabled,
	.roles = roles,
	.in_c_library = true,
	.role_of = role_of,
	.entered = entered,
	.returned = returned,
	.free = free_fileio,
};
