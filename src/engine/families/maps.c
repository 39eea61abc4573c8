/* SPDX-License-Identifier: MIT
 *
 * What the program maps into its memory and out of it, from the C library's calls
 * (mapcalls.h). Of each process the pieces are known that were told and are still
 * there; a removal is told for each of them, since munmap() may take parts, or several:
 *
 *     mmap 16 pages      [----------------]   created
 *     munmap 4 of them   [----]    [------]   one piece of 4 removed
 *     munmap all                              pieces of 4 and of 8 removed
 *
 * Calls are told when they return, and by then another thread may have mapped what this
 * one gave back. The pieces that were there then wait in `leaving` for their removal.
 */
#include <cprof/maps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "engine/calls/calls.h"
#include "engine/families/heap_size.h"
#include "engine/families/mapcalls.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/lives.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"

struct piece {
	uint64_t start, end, created_ns, offset;
	cprof_mapping_kind kind;
	int protection, flags, fd;
	const char *path; /* borrowed from the session's; NULL: none */
};

struct pieces {
	struct piece *items;
	size_t count, capacity;
};

/* The mappings of a process. */
struct mapped {
	struct pieces pieces; /* sorted; they don't overlap */
	struct pieces leaving; /* their removal is under way in another thread */
	CP_VEC(int32_t) removing; /* threads in a call that removes */
	uint64_t break_end; /* a page's; 0: not known */
};

/* What the session knows of mappings. */
struct maps {
	bool found; /* a function to watch */
	struct cp_interner path_numbers;
	CP_VEC(char *) paths; /* owned */
	cprof_mapping current;
	bool has_current;
};

/* ---- wanted ---- */

static struct maps *maps_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_MAPS];
}

static bool is_enabled(const cprof_session *s)
{
	return maps_of(s) != NULL;
}

bool cprof_profiler_enable_mappings(void)
{
	cprof_session *s = cprof_session_current();

	if (!engine_may_ask(s) || !engine_calls_get(s))
		return false;
	if (!maps_of(s))
		s->own[ENGINE_FAMILY_MAPS] = calloc(1, sizeof(struct maps));
	return maps_of(s) != NULL;
}

static void free_maps(cprof_session *s)
{
	struct maps *m = maps_of(s);
	char **path;

	if (!m)
		return;
	cp_vec_for_each(&m->paths, path)
		free(*path);
	cp_vec_free(&m->paths);
	cp_interner_free(&m->path_numbers);
	free(m);
	s->own[ENGINE_FAMILY_MAPS] = NULL;
}

static void note_found(cprof_session *s)
{
	maps_of(s)->found = true;
}

static void explain(cprof_session *s)
{
	if (maps_of(s) && !maps_of(s)->found)
		engine_warn(s,
			    "mappings of %s can't be watched: no C library was found that has "
			    "mmap",
			    s->command && *s->command ? s->command[0] : "the program");
}

static uint8_t role_of(const char *image, const char *name, size_t length, bool local)
{
	uint8_t role = engine_map_role(name, length);

	(void)image;
	(void)local;
	return role == ENGINE_MAP_MPROTECT ? 0 : role;
}

/* ---- pieces ---- */

/* The process's mappings, made when they aren't there; NULL without memory. */
static struct mapped *mapped_of(cprof_process *p)
{
	if (!p->own[ENGINE_FAMILY_MAPS])
		p->own[ENGINE_FAMILY_MAPS] = calloc(1, sizeof(struct mapped));
	return p->own[ENGINE_FAMILY_MAPS];
}

/* The part of a piece from an address on. */
static struct piece from_address(struct piece piece, uint64_t start)
{
	piece.offset += piece.kind == CPROF_MAPPING_FILE ? start - piece.start : 0;
	piece.start = start;
	return piece;
}

/* Takes the part of a piece that is between two addresses. */
static struct piece cut(struct pieces *from, size_t at, uint64_t start, uint64_t end)
{
	struct piece old = from->items[at], part = old, behind;

	if (start > old.start)
		part = from_address(old, start);
	if (end < old.end)
		part.end = end;
	behind = from_address(old, part.end);
	cp_vec_remove(from, at);
	if (behind.start < behind.end)
		(void)cp_vec_insert(from, at, behind);
	old.end = part.start;
	if (old.start < old.end)
		(void)cp_vec_insert(from, at, old);
	return part;
}

static bool is_in(const struct piece *it, uint64_t start, uint64_t end, uint64_t until_ns)
{
	return it->start < end && start < it->end && it->created_ns <= until_ns;
}

/* Takes a piece between two addresses that was created by `until_ns`: of several at an
 * address the newest, which `leaving` has last. False: there is none. */
static bool take_one(struct mapped *m, uint64_t start, uint64_t end, uint64_t until_ns,
		     struct piece *ret)
{
	size_t i = cp_vec_partition(&m->pieces, it, it->end <= start);

	for (; i < m->pieces.count && m->pieces.items[i].start < end; i++)
		if (is_in(&m->pieces.items[i], start, end, until_ns)) {
			*ret = cut(&m->pieces, i, start, end);
			return true;
		}
	for (i = m->leaving.count; i--;)
		if (is_in(&m->leaving.items[i], start, end, until_ns)) {
			*ret = cut(&m->leaving, i, start, end);
			return true;
		}
	return false;
}

static int by_address(const void *a, const void *b)
{
	const struct piece *one = a, *two = b;

	return (one->start > two->start) - (one->start < two->start);
}

/* Joins pieces that were one until another came in the place of a part. */
static void join(struct pieces *taken)
{
	size_t i, kept = 0;

	cp_vec_sort(taken, by_address);
	for (i = 1; i < taken->count; i++) {
		struct piece *last = &taken->items[kept];

		if (taken->items[i].start == last->end &&
		    taken->items[i].created_ns == last->created_ns)
			last->end = taken->items[i].end;
		else
			taken->items[++kept] = taken->items[i];
	}
	if (taken->count)
		taken->count = kept + 1;
}

/* Takes all that a call removed between two addresses. */
static void take(struct mapped *m, uint64_t start, uint64_t end, uint64_t until_ns,
		 struct pieces *taken)
{
	CP_VEC(struct piece) left = { 0 }; /* ranges */
	struct piece range, part;
	bool ok = cp_vec_push(&left, (struct piece){ .start = start, .end = end });

	while (ok && left.count) {
		range = left.items[--left.count];
		if (range.start >= range.end ||
		    !take_one(m, range.start, range.end, until_ns, &part))
			continue;
		ok = cp_vec_push(taken, part) &&
		     cp_vec_push(&left,
				 (struct piece){ .start = range.start, .end = part.start }) &&
		     cp_vec_push(&left, (struct piece){ .start = part.end, .end = range.end });
	}
	cp_vec_free(&left);
	join(taken);
}

/* Takes all pieces between two addresses, whatever calls are under way. */
static void take_all(struct mapped *m, uint64_t start, uint64_t end, struct pieces *taken)
{
	size_t i = cp_vec_partition(&m->pieces, it, it->end <= start);

	while (i < m->pieces.count && m->pieces.items[i].start < end) {
		if (m->pieces.items[i].end <= start) { /* what a cut left before it */
			i++;
			continue;
		}
		(void)cp_vec_push(taken, cut(&m->pieces, i, start, end));
	}
}

static void put(struct mapped *m, const struct piece *piece)
{
	size_t at = cp_vec_partition(&m->pieces, it, it->start < piece->start);

	(void)cp_vec_insert(&m->pieces, at, *piece);
}

/* ---- the break ---- */

/* Where "[heap]" ends in the text of a maps file; 0: there is none. */
static uint64_t heap_end(const char *text)
{
	const char *at = text ? strstr(text, " [heap]\n") : NULL;
	unsigned long long start, end;

	while (at && at > text && at[-1] != '\n')
		at--;
	return at && sscanf(at, "%llx-%llx", &start, &end) == 2 ? end : 0;
}

/* A break that was never moved is where it began. */
static void find_break(cprof_process *p)
{
	struct mapped *m = is_enabled(p->session) ? mapped_of(p) : NULL;

	if (!m || m->break_end || engine_is_replaced(p))
		return;
	m->break_end = heap_end(p->maps.bytes);
	if (!m->break_end)
		m->break_end = engine_whole_pages(engine_break_start(p));
	if (engine_is_replaced(p))
		m->break_end = 0;
}

/* ---- lives ---- */

static void inherit(cprof_process *p, const cprof_process *parent)
{
	const struct mapped *from = parent->own[ENGINE_FAMILY_MAPS];
	struct mapped *m = from ? mapped_of(p) : NULL;
	const struct piece *it;

	if (!m)
		return;
	m->break_end = from->break_end;
	cp_vec_for_each(&from->pieces, it)
		(void)cp_vec_push(&m->pieces, *it);
}

static void forget_removing(struct mapped *m, int32_t tid)
{
	size_t i;

	for (i = m->removing.count; i--;)
		if (m->removing.items[i] == tid) {
			m->removing.items[i] = m->removing.items[--m->removing.count];
			return;
		}
}

static void forget(cprof_process *p, int32_t tid)
{
	struct mapped *m = p->own[ENGINE_FAMILY_MAPS];

	if (!m)
		return;
	if (tid) {
		forget_removing(m, tid);
		return;
	}
	cp_vec_free(&m->pieces);
	cp_vec_free(&m->leaving);
	cp_vec_free(&m->removing);
	free(m);
	p->own[ENGINE_FAMILY_MAPS] = NULL;
}

static void free_process(cprof_process *p)
{
	forget(p, 0);
}

/* ---- events ---- */

/* A call that changes mappings, while it is told. */
struct change {
	cprof_session *session;
	struct mapped *mapped;
	const struct engine_map_call *call;
	bool told;
};

enum told { CREATED, REMOVED };

/* Tells of a piece; `previous`: see cprof_mapping. `by_call`: the call did it, else it
 * was noticed then. */
static void tell(struct change *c, enum told what, const struct piece *piece, uint64_t previous,
		 bool by_call)
{
	struct maps *m = maps_of(c->session);
	uint64_t size = piece->end - piece->start;

	m->current = (cprof_mapping){
		.function = by_call ? c->call->call->subject : NULL,
		.address = piece->start,
		.size = size,
		.previous = previous,
		.kind = piece->kind,
		.protection = piece->protection,
		.flags = piece->flags,
		.fd = piece->fd,
		.offset = piece->offset,
		.path = piece->path,
		.created_ns = piece->created_ns,
		.begin_ns = c->call->call->enter_ns,
	};
	m->has_current = true;
	if (what == CREATED)
		engine_raise(c->session, mapping_created, piece->start, size);
	else
		engine_raise(c->session, mapping_removed, piece->start, size);
	m->has_current = false;
	c->told = true;
}

static void tell_removed(struct change *c, struct pieces *taken, bool by_call)
{
	const struct piece *it;

	cp_vec_for_each(taken, it)
		tell(c, REMOVED, it, 0, by_call);
	cp_vec_free(taken);
}

/* Tells what the call has removed; *first_ret is its first piece. A range of which no
 * piece is known is told as one of unknown kind. */
static void remove_range(struct change *c, uint64_t start, uint64_t end, struct piece *first_ret)
{
	uint64_t until_ns = c->call->call->enter_ns;
	struct pieces taken = { 0 };

	take(c->mapped, start, end, until_ns, &taken);
	if (!taken.count)
		(void)cp_vec_push(&taken, (struct piece){ .start = start, .end = end, .fd = -1 });
	*first_ret = taken.count ? taken.items[0] : (struct piece){ .fd = -1 };
	tell_removed(c, &taken, true);
}

/* Removes the pieces where something new is mapped: at once, or when the call that
 * removes them returns. */
static void make_room(struct change *c, uint64_t start, uint64_t end, bool replaces)
{
	struct pieces taken = { 0 };
	const struct piece *it;

	take_all(c->mapped, start, end, &taken);
	if (replaces || !c->mapped->removing.count) {
		tell_removed(c, &taken, replaces);
		return;
	}
	cp_vec_for_each(&taken, it)
		(void)cp_vec_push(&c->mapped->leaving, *it);
	cp_vec_free(&taken);
}

static void create(struct change *c, struct piece *piece, uint64_t previous, bool replaces)
{
	if (piece->start >= piece->end)
		return;
	make_room(c, piece->start, piece->end, replaces);
	piece->created_ns = c->session->calls->now_ns;
	put(c->mapped, piece);
	tell(c, CREATED, piece, previous, true);
}

/* ---- calls ---- */

/* The session's copy of a path; NULL without memory. */
static const char *intern_path(struct maps *m, const char *path, size_t size)
{
	uint32_t number;
	bool fresh;

	if (!cp_vec_reserve(&m->paths, m->paths.count + 1) ||
	    !cp_intern(&m->path_numbers, path, size, &number, &fresh))
		return NULL;
	if (fresh)
		m->paths.items[m->paths.count++] = strndup(path, size);
	return m->paths.items[number];
}

/* The path of a descriptor's file, which is open still: the thread is held at the end
 * of its call. */
static const char *path_of(cprof_session *s, int fd)
{
	char link[64], path[4096];
	ssize_t n;

	if (fd < 0 || !s->current.thread)
		return NULL;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)s->current.thread->tid, fd);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || n == sizeof(path) || engine_is_replaced(s->current.process))
		return NULL;
	return intern_path(maps_of(s), path, (size_t)n);
}

static void on_mmap(struct change *c)
{
	const struct engine_map_call *call = c->call;
	struct piece made = {
		.start = call->address,
		.end = call->address + call->size,
		.kind = call->flags & MAP_ANONYMOUS ? CPROF_MAPPING_ANONYMOUS : CPROF_MAPPING_FILE,
		.protection = (int)call->protection,
		.flags = (int)call->flags,
		.fd = call->fd,
		.offset = call->flags & MAP_ANONYMOUS ? 0 : call->offset,
		.path = path_of(c->session, call->fd),
	};

	create(c, &made, 0, call->flags & MAP_FIXED);
}

static void on_munmap(struct change *c)
{
	struct piece first;

	remove_range(c, c->call->address, c->call->address + c->call->size, &first);
}

static void on_mremap(struct change *c)
{
	const struct engine_map_call *call = c->call;
	struct piece made = { .fd = -1 };

	if (call->moved_to == call->address && call->new_size == call->size)
		return;
	if (call->size && !(call->flags & MREMAP_DONTUNMAP)) {
		remove_range(c, call->address, call->address + call->size, &made);
	} else {
		size_t at = cp_vec_partition(&c->mapped->pieces, it, it->end <= call->address);

		if (at < c->mapped->pieces.count &&
		    c->mapped->pieces.items[at].start <= call->address)
			made = from_address(c->mapped->pieces.items[at], call->address);
	}
	made.start = call->moved_to;
	made.end = call->moved_to + call->new_size;
	create(c, &made, call->address, call->flags & MREMAP_FIXED);
}

static void on_brk(struct change *c)
{
	uint64_t before = c->mapped->break_end, now = engine_whole_pages(c->call->address);
	struct piece made = {
		.start = before,
		.end = now,
		.kind = CPROF_MAPPING_BREAK,
		.protection = PROT_READ | PROT_WRITE,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
		.fd = -1,
	};

	c->mapped->break_end = now;
	if (before && before < now)
		create(c, &made, 0, false);
	else if (now < before)
		remove_range(c, now, before, &made);
}

static bool removes(uint8_t role)
{
	return role == ENGINE_MAP_MUNMAP || role == ENGINE_MAP_MREMAP;
}

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	struct mapped *m = mapped_of(s->current.process);

	(void)ended;
	engine_map_entered(role, hit, call);
	if (m && removes(role))
		(void)cp_vec_push(&m->removing, hit->event->e.tid);
	return false;
}

static bool returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	static void (*const changes[ENGINE_MAP_ROLES])(struct change * c) = {
		[ENGINE_MAP_BRK] = on_brk,
		[ENGINE_MAP_MMAP] = on_mmap,
		[ENGINE_MAP_MUNMAP] = on_munmap,
		[ENGINE_MAP_MREMAP] = on_mremap,
	};
	struct engine_map_call made;
	struct change c = { s, mapped_of(s->current.process), &made, false };

	if (!c.mapped || !engine_map_returned(s, role, call, &made))
		return false;
	changes[role](&c);
	return c.told | engine_heap_size_follow(s, &made);
}

/* The call ended, by returning or not. */
static bool ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	struct mapped *m = s->current.process->own[ENGINE_FAMILY_MAPS];
	const struct engine_map_call made = { .call = call };
	struct change c = { s, m, &made, false };
	struct pieces left;

	(void)how;
	if (!m || !removes(s->calls->traced.items[call->function]->role))
		return false;
	forget_removing(m, call->tid);
	if (m->removing.count)
		return false;
	left = m->leaving;
	m->leaving = (struct pieces){ 0 };
	tell_removed(&c, &left, false);
	return c.told;
}

bool cprof_current_mapping(cprof_mapping *ret)
{
	const cprof_session *s = cprof_session_current();

	if (!s || !maps_of(s) || !maps_of(s)->has_current)
		return false;
	*ret = maps_of(s)->current;
	return true;
}

static const struct engine_role roles[ENGINE_MAP_ROLES] = {
	[ENGINE_MAP_BRK] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, true },
	[ENGINE_MAP_MUNMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MREMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
};

const struct engine_family engine_maps_family = {
	.name = "maps",
	.breakpoints = true,
	.enabled = is_enabled,
	.roles = roles,
	.in_c_library = true,
	.role_of = role_of,
	.found = note_found,
	.entered = entered,
	.returned = returned,
	.ended = ended,
	.mapped = find_break,
	.forked = inherit,
	.exited = forget,
	.free_process = free_process,
	.explain = explain,
	.free = free_maps,
};
