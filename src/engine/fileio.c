/* SPDX-License-Identifier: MIT
 *
 * What the program reads and writes, from the C library's functions of that kind:
 * what they answer is how many bytes it was. stdio and C++ streams come to them,
 * too. A call that does another one's work in the library is not told again; one
 * that a signal handler makes meanwhile is.
 */
#include "engine/fileio.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/types.h"
#include "engine/throws.h"
#include <cprof/io.h>

#define MESSAGES_MAX 1024 /* UIO_MAXIOV: the kernel takes no more at once */

struct engine_fileio {
	cprof_io current;
	bool has_current;
};

/* ---- wanted ---- */

bool engine_fileio_wanted(const cprof_session *s)
{
	return s->calls && s->calls->fileio;
}

bool cprof_profiler_enable_fileio(void)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;

	if (c && !c->fileio)
		c->fileio = calloc(1, sizeof(*c->fileio));
	return c && c->fileio;
}

void engine_fileio_free(struct engine_calls *c)
{
	free(c->fileio);
	c->fileio = NULL;
}

uint8_t engine_fileio_role(const char *name, size_t length)
{
	static const struct engine_role_name functions[] = {
		{ "read", ENGINE_ROLE_READ },
		{ "__read_nocancel", ENGINE_ROLE_READ },
		{ "pread", ENGINE_ROLE_READ },
		{ "pread64", ENGINE_ROLE_READ },
		{ "__pread64_nocancel", ENGINE_ROLE_READ },
		{ "readv", ENGINE_ROLE_READ },
		{ "preadv", ENGINE_ROLE_READ },
		{ "preadv64", ENGINE_ROLE_READ },
		{ "preadv2", ENGINE_ROLE_READ },
		{ "preadv64v2", ENGINE_ROLE_READ },
		{ "recv", ENGINE_ROLE_READ },
		{ "recvfrom", ENGINE_ROLE_READ },
		{ "recvmsg", ENGINE_ROLE_READ },
		{ "recvmmsg", ENGINE_ROLE_READ_MANY },
		{ "write", ENGINE_ROLE_WRITE },
		{ "__write_nocancel", ENGINE_ROLE_WRITE },
		{ "pwrite", ENGINE_ROLE_WRITE },
		{ "pwrite64", ENGINE_ROLE_WRITE },
		{ "writev", ENGINE_ROLE_WRITE },
		{ "pwritev", ENGINE_ROLE_WRITE },
		{ "pwritev64", ENGINE_ROLE_WRITE },
		{ "pwritev2", ENGINE_ROLE_WRITE },
		{ "pwritev64v2", ENGINE_ROLE_WRITE },
		{ "vmsplice", ENGINE_ROLE_WRITE },
		{ "send", ENGINE_ROLE_WRITE },
		{ "sendto", ENGINE_ROLE_WRITE },
		{ "sendmsg", ENGINE_ROLE_WRITE },
		{ "sendmmsg", ENGINE_ROLE_WRITE_MANY },
		{ "__sendmmsg", ENGINE_ROLE_WRITE_MANY },
		{ "sendfile", ENGINE_ROLE_SENDFILE },
		{ "sendfile64", ENGINE_ROLE_SENDFILE },
		{ "tee", ENGINE_ROLE_TEE },
		{ "splice", ENGINE_ROLE_SPLICE },
		{ "copy_file_range", ENGINE_ROLE_SPLICE },
	};

	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

/* ---- calls ---- */

/* words: what it is read from, or the only descriptor; what it is written to, or
 * where the messages are; whether another call does the same. */
enum { FROM, TO, INNER };

static void note_arguments(uint8_t role, const struct engine_hit *hit, uint64_t *words)
{
	unsigned from = role == ENGINE_ROLE_SENDFILE ? 1 : 0;
	unsigned to = role == ENGINE_ROLE_SENDFILE ? 0 : role == ENGINE_ROLE_SPLICE ? 2 : 1;

	words[FROM] = engine_role_argument(hit, from);
	words[TO] = engine_role_argument(hit, to);
}

/* Is it made by the call around it? A signal handler's is not, nor what follows a
 * longjmp() out of that. What stands in for the library has helpers. */
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

void engine_fileio_entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
			   struct cp_call *call)
{
	const struct engine_traced *t;
	const struct cp_call *around;

	note_arguments(role, hit, call->words);
	engine_calls_reach(s, hit->event, hit->event->sp);
	around = cp_shadow_top(s->current.process->shadow, hit->event->e.tid);
	t = around ? s->calls->traced.items[around->function] : NULL;
	call->words[INNER] = t && t->role == role &&
			     (int32_t)around->words[FROM] == (int32_t)call->words[FROM] &&
			     is_made_by(s, t, hit);
}

/* Bytes of so many messages (struct mmsghdr). */
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
	struct engine_fileio *io = s->calls->fileio;

	io->current =
		(cprof_io){ .function = call->subject, .fd = (int)fd, .begin_ns = call->enter_ns };
	io->has_current = true;
	engine_raise(s, fileio, kind, bytes);
	io->has_current = false;
}

bool engine_fileio_returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	bool many = role == ENGINE_ROLE_READ_MANY || role == ENGINE_ROLE_WRITE_MANY;
	bool both = role == ENGINE_ROLE_SENDFILE || role == ENGINE_ROLE_SPLICE ||
		    role == ENGINE_ROLE_TEE;
	uint64_t n;

	if (call->words[INNER] || !engine_role_result(s, &n) || (int64_t)n <= 0)
		return false;
	if (many && (int32_t)n <= 0)
		return false;
	if (many)
		n = bytes_of(s->current.process, call->words[TO], n & INT32_MAX);
	if (both || role == ENGINE_ROLE_READ || role == ENGINE_ROLE_READ_MANY)
		tell(s, call, CPROF_FILEIO_READ, call->words[FROM], n);
	if (both || role == ENGINE_ROLE_WRITE || role == ENGINE_ROLE_WRITE_MANY)
		tell(s, call, CPROF_FILEIO_WRITE, call->words[both ? TO : FROM], n);
	return true;
}

bool cprof_current_io(cprof_io *ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !engine_fileio_wanted(s) || !s->calls->fileio->has_current)
		return false;
	*ret = s->calls->fileio->current;
	return true;
}
