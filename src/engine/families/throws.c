/* SPDX-License-Identifier: MIT
 *
 * Exceptions. All languages that unwind stacks do it by the same routines,
 * those of libgcc, wherever it is linked:
 *
 *     __cxa_throw, __cxa_rethrow, std::rethrow_exception, rust_panic, ...
 *         └─► _Unwind_RaiseException(exception)           thrown, or thrown again
 *               └─► personality routine, frame by frame
 *                     └─► _Unwind_SetIP(context, pad)     caught, or cleaned up after
 *
 * So two functions have a role, not one for each language and each way to throw.
 * libgcc's context says in which frame the program goes on, and with which exception,
 * which unwinds the calls below that frame at that moment. The tables of the frame say
 * what is there. The context is libgcc's own structure; what it says is believed when
 * the exception in it is one that was seen thrown.
 *
 * An exception is in flight from when it is thrown until a catch clause has it.
 * More than one is when destructors, run by the first one, throw and catch
 * themselves, or a signal's handler while the first one's clause is looked for: the
 * oldest one that was thrown after a call began unwinds it.
 *
 * What is read here is copied when that happens, and is untrusted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/calls/calls.h"
#include "engine/calls/invoke.h"
#include "engine/calls/stacks.h"
#include "engine/probes/fetches.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/image.h"
#include "probe/functions.h"
#include "unwind/lsda.h"

#define FLIGHTS_MAX 4096 /* in flight at once; more: the oldest ones are forgotten */
#define PENDING_MAX 16 /* that a thread has thrown, and that never landed */
#define LANDINGS 8 /* landing pads for one throw, before they are too many */
#define NAME_MAX 512 /* bytes of a type's name, mangled */

enum { THROW = 1, LANDING, ROLES };

/* What is copied at their entries. */
enum {
	FETCH_HEADER,
	FETCH_FRONT,
	FETCH_TYPE,
	FETCH_PRIMARY,
	FETCH_NAME,
	FETCH_PRIMARY_TYPE,
	FETCH_PRIMARY_NAME,
	FETCH_THROWS
};
enum { FETCH_CONTEXT, FETCH_EXCEPTION, FETCH_SELECTOR, FETCH_LANDINGS };

/* An exception on its way. */
struct flight {
	const cprof_process *process;
	int32_t tid;
	uint64_t header; /* struct _Unwind_Exception: what tells exceptions apart */
	uint64_t ts_ns, sp; /* when and where it was thrown */
	cprof_object object;
	bool own; /* it was thrown on the thread's own stack, as far as known */
	bool seen; /* it came to a landing pad */
};

/* What the tables say of a landing pad, as long as the process has the same mappings. */
struct landing {
	const cprof_process *process; /* NULL: of none */
	uint64_t texts; /* process->texts_made */
	uint64_t lsda, function, pc, pad;
	bool known;
	struct cp_lsda_site site;
};
#define LANDINGS_KEPT 64

struct throws {
	bool clauses, stacks;
	bool again; /* the exception being told was caught before */
	const cprof_function *raise; /* the function that throws, once it was seen */
	CP_VEC(struct flight) flights;
	struct cp_interner names; /* of types, demangled */
	CP_VEC(char *) texts; /* owned */
	struct landing *landings; /* owned; LANDINGS_KEPT, by pc; NULL: not made yet */
	struct cp_fetch throw_fetches[FETCH_THROWS], landing_fetches[FETCH_LANDINGS];
};

/* ---- wanted ---- */

static struct throws *throws_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_THROWS];
}

static struct throws *throws_get(cprof_session *s)
{
	if (!throws_of(s) && engine_calls_get(s))
		s->own[ENGINE_FAMILY_THROWS] = calloc(1, sizeof(struct throws));
	return throws_of(s);
}

static bool is_enabled(const cprof_session *s)
{
	return throws_of(s) != NULL;
}

static void prepare(cprof_session *s)
{
	if (engine_has(s, exception_throw))
		throws_get(s);
}

bool cprof_profiler_enable_clauses(void)
{
	cprof_session *s = cprof_session_current();
	struct throws *t = engine_may_ask(s) ? throws_get(s) : NULL;

	if (!t)
		return false;
	t->clauses = true;
	return true;
}

bool cprof_profiler_enable_exception_stacks(void)
{
	cprof_session *s = cprof_session_current();
	struct throws *t = engine_may_ask(s) ? throws_get(s) : NULL;

	if (!t)
		return false;
	t->stacks = true;
	return true;
}

static bool wants_whole(const cprof_session *s)
{
	return throws_of(s)->stacks;
}

static void free_throws(cprof_session *s)
{
	struct throws *t = throws_of(s);
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->texts.count; i++)
		free(t->texts.items[i]);
	cp_vec_free(&t->texts);
	cp_vec_free(&t->flights);
	cp_interner_free(&t->names);
	free(t->landings);
	free(t);
	s->own[ENGINE_FAMILY_THROWS] = NULL;
}

/* ---- sites ---- */

/* Offsets from the header of a C++ exception: in front of it is struct __cxa_exception,
 * with its type, or the exception that it stands for (rethrow_exception), which has a
 * type in turn. */
#define CXX_TYPE 80 /* bytes before the header, of either */
#define CXX_HANDLERS (80 - 40) /* behind that: the number of its handlers */
#define CXX_OBJECT 32 /* behind it: the object */
#define CXX_PRIMARY 112 /* before the object: its type */

/* The first eight bytes of an exception's header: which language made it. */
#define CLASS_GNU UINT64_C(0x474e5543432b2b00) /* "GNUCC++\0" */
#define CLASS_GNU_DEPENDENT (CLASS_GNU | 1)
#define CLASS_CLANG UINT64_C(0x434c4e47432b2b00) /* "CLNGC++\0": libc++abi */
#define CLASS_RUST UINT64_C(0x54535552005a4f4d) /* "MOZ\0RUST", as bytes in a row */
#define CLASS_RUST_OLD UINT64_C(0x4d4f5a0052555354) /* as a number, of older compilers */

#define BEHIND(block) (CP_FETCH_BLOCK + (block))
/* All that these lead to is there if the header says so. */
#define OF_CXX .guard = (uint32_t)CLASS_GNU, .flags = CP_FETCH_SURE_IF_LIKE
#define PRIMARY_IF .guard = (uint32_t)CLASS_GNU, .flags = CP_FETCH_SURE_IF
#define DEPENDENT_IF .guard = (uint32_t)CLASS_GNU_DEPENDENT, .flags = CP_FETCH_SURE_IF

/* What is copied of a throw; `from` of the first argument is filled in later. */
static const struct cp_fetch thrown[FETCH_THROWS] = {
	[FETCH_HEADER] = { .size = 8, .flags = CP_FETCH_SURE },
	[FETCH_FRONT] = { .offset = -CXX_TYPE, .size = CXX_HANDLERS + sizeof(int32_t), OF_CXX },
	/* A type: its virtual table, its name. */
	[FETCH_TYPE] = { .from = BEHIND(FETCH_FRONT), .level = 1, .size = 16, PRIMARY_IF },
	[FETCH_PRIMARY] = { .from = BEHIND(FETCH_FRONT),
			    .level = 1,
			    .offset = -CXX_PRIMARY,
			    .size = 8,
			    DEPENDENT_IF },
	[FETCH_NAME] = { .from = BEHIND(FETCH_TYPE),
			 .at = 8,
			 .level = 2,
			 .size = NAME_MAX,
			 PRIMARY_IF | CP_FETCH_STRING },
	[FETCH_PRIMARY_TYPE] = { .from = BEHIND(FETCH_PRIMARY),
				 .level = 2,
				 .size = 16,
				 DEPENDENT_IF },
	[FETCH_PRIMARY_NAME] = { .from = BEHIND(FETCH_PRIMARY_TYPE),
				 .at = 8,
				 .level = 3,
				 .size = NAME_MAX,
				 DEPENDENT_IF | CP_FETCH_STRING },
};

static uint8_t role_of(const char *image, const char *name, size_t length, bool local)
{
	static const struct engine_role_name functions[] = {
		{ "_Unwind_RaiseException", THROW },
		{ "_Unwind_SetIP", LANDING },
	};

	(void)image;
	(void)local;
	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

static void set_fetches(struct throws *t)
{
	const struct cp_arch_unwind_context *context = &cp_arch_host()->unwind_context;
	uint8_t first = cp_arch_host()->args[0];
	size_t i;

	memcpy(t->throw_fetches, thrown, sizeof(thrown));
	for (i = 0; i <= FETCH_FRONT; i++)
		t->throw_fetches[i].from = first;
	t->landing_fetches[FETCH_CONTEXT] =
		(struct cp_fetch){ .from = first, .size = context->size, .flags = CP_FETCH_OWN };
	t->landing_fetches[FETCH_EXCEPTION] = (struct cp_fetch){ .from = BEHIND(FETCH_CONTEXT),
								 .at = context->exception,
								 .level = 1,
								 .size = 8,
								 .flags = CP_FETCH_OWN };
	t->landing_fetches[FETCH_SELECTOR] = (struct cp_fetch){ .from = BEHIND(FETCH_CONTEXT),
								.at = context->selector,
								.level = 1,
								.size = 8,
								.flags = CP_FETCH_OWN };
}

static size_t copied(cprof_session *s, uint8_t role, const struct cp_fetch **ret)
{
	struct throws *t = throws_of(s);

	set_fetches(t);
	*ret = role == THROW ? t->throw_fetches : t->landing_fetches;
	if (role == THROW)
		return FETCH_THROWS;
	return cp_arch_host()->unwind_context.size ? FETCH_LANDINGS : 0;
}

/* ---- what was copied ---- */

static size_t fetched(const struct engine_hit *hit, unsigned index, const uint8_t **ret)
{
	return engine_fetches_of_role(cprof_session_current(), hit, index, ret);
}

static uint64_t word(const struct engine_hit *hit, unsigned index, size_t offset)
{
	const uint8_t *bytes;
	uint64_t v;

	if (fetched(hit, index, &bytes) < offset + sizeof(v))
		return 0;
	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

/* ---- types ---- */

static char *demangle_type(const char *name)
{
	static const char front[] = "typeinfo name for ";
	CP_FREE char *symbol = malloc(strlen(name) + 5), *text = NULL;

	if (!symbol)
		return NULL;
	sprintf(symbol, "_ZTS%s", name);
	text = cp_demangle(symbol);
	if (!text || strncmp(text, front, sizeof(front) - 1) != 0)
		return strdup(name);
	return strdup(text + sizeof(front) - 1);
}

/* A text that lives as long as the session; NULL without memory. */
static const char *keep_name(struct throws *t, const char *name, bool mangled)
{
	uint32_t number;
	bool fresh;
	char *text;

	if (!cp_intern(&t->names, name, strlen(name), &number, &fresh))
		return NULL;
	if (!fresh)
		return number < t->texts.count ? t->texts.items[number] : NULL;
	text = mangled ? demangle_type(name) : strdup(name);
	if (!cp_vec_push(&t->texts, text)) {
		free(text);
		return NULL;
	}
	return text;
}

static const char *cxx_type(struct throws *t, const struct engine_hit *hit, unsigned index)
{
	char name[NAME_MAX + 1];
	const uint8_t *bytes;
	size_t size = fetched(hit, index, &bytes), skip;

	if (!size)
		return NULL;
	memcpy(name, bytes, size);
	name[size] = 0;
	skip = *name == '*'; /* '*': a type that is compared by address */
	return name[skip] ? keep_name(t, name + skip, true) : NULL;
}

static bool is_cxx(uint64_t class)
{
	return (class & ~UINT64_C(1)) == CLASS_GNU || (class & ~UINT64_C(1)) == CLASS_CLANG;
}

static void read_object(struct throws *t, const struct engine_hit *hit, uint64_t header,
			cprof_object *ret)
{
	uint64_t class = word(hit, FETCH_HEADER, 0), front;
	char text[] = "foreign exception ........";
	unsigned i;

	*ret = (cprof_object){ .address = header };
	if (is_cxx(class)) {
		ret->address = header + CXX_OBJECT;
		front = word(hit, FETCH_FRONT, 0);
		if (class == CLASS_GNU_DEPENDENT && front)
			ret->address = front;
		ret->type_name =
			cxx_type(t, hit,
				 class == CLASS_GNU_DEPENDENT ? FETCH_PRIMARY_NAME : FETCH_NAME);
		return;
	}
	if (class == CLASS_RUST || class == CLASS_RUST_OLD) {
		ret->type_name = keep_name(t, "panic", false);
		return;
	}
	for (i = 0; i < 8; i++) {
		char c = (char)(class >> (56 - 8 * i));

		text[sizeof(text) - 9 + i] = c >= ' ' && c <= '~' ? c : '.';
	}
	ret->type_name = class ? keep_name(t, text, false) : NULL;
}

/* Does a handler throw again what it caught? In C++ __cxa_rethrow() makes the
 * exception's number of handlers negative until the next one has it. Exceptions of
 * other languages have no such number, and are thrown again by
 * _Unwind_Resume_or_Rethrow(), too. What std::rethrow_exception() throws is an
 * exception of its own, which any thread may throw at any time: it counts as thrown. */
static bool is_rethrown(cprof_session *s, const struct engine_hit *hit)
{
	const cprof_process *p = s->current.process;
	uint64_t caller = hit->event->caller;
	const struct engine_text *text;
	const cprof_function *from;
	const uint8_t *front;
	int32_t handlers;

	if (is_cxx(word(hit, FETCH_HEADER, 0))) {
		if (fetched(hit, FETCH_FRONT, &front) < CXX_HANDLERS + sizeof(handlers))
			return false;
		memcpy(&handlers, front + CXX_HANDLERS, sizeof(handlers));
		return handlers < 0;
	}
	text = caller ? engine_find_text(p, caller - 1) : NULL;
	from = text ? engine_function_at(s, text->image, caller - 1 - text->image->bias) : NULL;
	return from && cp_starts_with(cprof_function_name(from), "_Unwind_Resume_or_Rethrow");
}

bool cprof_current_exception_rethrown(void)
{
	const cprof_session *s = cprof_session_current();
	const struct throws *t = s ? throws_of(s) : NULL;

	return t && t->again;
}

/* ---- in flight ---- */

static struct flight *find_flight(struct throws *t, const cprof_process *p, int32_t tid,
				  uint64_t header)
{
	size_t i;

	for (i = t->flights.count; i--;) {
		struct flight *f = &t->flights.items[i];

		if (f->process == p && f->tid == tid && f->header == header)
			return f;
	}
	return NULL;
}

/* Is an exception that has not landed in flight no more, when its thread throws another
 * one? It is where that comes from where the frame was that threw it, or from further out.
 * From further in, or on another stack, comes what a signal's handler throws. */
static bool is_over(const struct flight *f, const struct flight *fresh)
{
	return f->own && fresh->own && f->sp <= fresh->sp;
}

/* An exception is thrown: those of its thread that are in flight no more are forgotten. */
static void prune(struct throws *t, const struct flight *fresh)
{
	unsigned pending = 0;
	size_t i;

	for (i = t->flights.count; i--;) {
		const struct flight *f = &t->flights.items[i];

		if (f->process != fresh->process || f->tid != fresh->tid)
			continue;
		if (f->header == fresh->header ||
		    (!f->seen && (is_over(f, fresh) || ++pending > PENDING_MAX)))
			cp_vec_remove(&t->flights, i);
	}
	if (t->flights.count >= FLIGHTS_MAX)
		cp_vec_remove(&t->flights, 0);
}

static const cprof_object *unwinds(cprof_session *s, const struct cp_call *call)
{
	struct throws *t = throws_of(s);
	size_t i;

	for (i = 0; t && i < t->flights.count; i++) {
		const struct flight *f = &t->flights.items[i];

		if (f->process == s->current.process && f->tid == call->tid &&
		    f->ts_ns > call->enter_ns && f->sp < call->sp)
			return &f->object;
	}
	return NULL;
}

static void forget(cprof_process *p, int32_t tid)
{
	struct throws *t = throws_of(p->session);
	size_t i;

	if (t && t->landings && !tid)
		memset(t->landings, 0, LANDINGS_KEPT * sizeof(*t->landings));

	for (i = t ? t->flights.count : 0; i--;) {
		const struct flight *f = &t->flights.items[i];

		if (f->process == p && (!tid || f->tid == tid))
			cp_vec_remove(&t->flights, i);
	}
}

/* ---- events ---- */

static bool on_own_stack(cprof_thread *t, uint64_t sp)
{
	engine_thread_stack(t);
	return !t->stack_end || (sp >= t->stack_low && sp < t->stack_end);
}

static bool on_thrown(cprof_session *s, const struct engine_hit *hit)
{
	struct throws *t = throws_of(s);
	const struct cp_event_hit *e = hit->event;
	struct flight f = {
		.process = s->current.process,
		.tid = e->e.tid,
		.header = hit->regs.r[cp_arch_host()->args[0]],
		.ts_ns = e->e.ts_ns,
		.sp = e->sp,
		.own = on_own_stack(s->current.thread, e->sp),
	};
	cprof_object object;

	if (!t->raise && hit->image)
		t->raise = engine_function_at(s, hit->image, e->pc - hit->image->bias);
	engine_calls_reach(s, e, e->sp);
	read_object(t, hit, f.header, &f.object);
	prune(t, &f);
	object = f.object;
	cp_vec_push(&t->flights, f);
	t->again = is_rethrown(s, hit);
	engine_raise(s, exception_throw, &object);
	t->again = false;
	return true;
}

/* In what `memory` has at `bias` less. */
static bool find_in(const struct cp_reader *memory, uint64_t bias, struct landing *l)
{
	if (!cp_lsda_find(memory, l->lsda - bias, l->function - bias, l->pc - bias, &l->site))
		return false;
	l->site.landing_pad += l->site.landing_pad ? bias : 0;
	return l->site.landing_pad == l->pad;
}

/* Of code that is no file's, nothing is kept: it may be written anew. Of a process that has
 * ended, the file says what its memory had. */
static void find_site(cprof_process *p, struct landing *l)
{
	const struct engine_text *text = engine_find_text(p, l->function);
	struct cp_image *file = text ? text->image->assembly->image : NULL;
	struct cp_reader reader;

	if (!file)
		l->process = NULL;
	l->known = engine_open_memory(p) && find_in(&p->memory, 0, l);
	if (l->known || !file)
		return;
	reader = cp_probe_file_reader(file);
	l->known = find_in(&reader, text->image->bias, l);
}

/* NULL: nothing is known of the landing pad. */
static const struct cp_lsda_site *site_of(cprof_session *s, const struct engine_hit *hit)
{
	const struct cp_arch *arch = cp_arch_host();
	struct landing asked = {
		.process = s->current.process,
		.texts = s->current.process->texts_made,
		.lsda = word(hit, FETCH_CONTEXT, arch->unwind_context.lsda),
		.function = word(hit, FETCH_CONTEXT, arch->unwind_context.function),
		.pc = word(hit, FETCH_CONTEXT, arch->unwind_context.pc),
		.pad = hit->regs.r[arch->args[1]],
	}, *at;
	struct throws *t = throws_of(s);

	if (!t->landings)
		t->landings = calloc(LANDINGS_KEPT, sizeof(*t->landings));
	if (!t->landings)
		return NULL;
	at = &t->landings[cp_hash_u64(asked.pc) % LANDINGS_KEPT];
	if (memcmp(at, &asked, offsetof(struct landing, known)) != 0) {
		*at = asked;
		find_site(s->current.process, at);
	}
	return at->known ? &at->site : NULL;
}

/* The clause at the landing pad, and its number among the frame's clauses for the call;
 * UINT32_MAX: not known. */
static cprof_exception_clause_type clause(cprof_session *s, const struct engine_hit *hit,
					  uint32_t *index_ret)
{
	int64_t selector = (int32_t)word(hit, FETCH_SELECTOR, 0);
	const struct cp_lsda_site *site = site_of(s, hit);
	uint32_t i;

	*index_ret = UINT32_MAX;
	for (i = 0; site && i < site->count && *index_ret == UINT32_MAX; i++)
		if (site->filters[i] == selector)
			*index_ret = i;
	if (selector > 0)
		return CPROF_EXCEPTION_CLAUSE_CATCH;
	if (selector < 0)
		return CPROF_EXCEPTION_CLAUSE_FILTER;
	/* Rust's handlers are given no selector. In C++ no exception passes by a clause
	 * that catches everything. */
	if (site && site->catches_all) {
		*index_ret = 0;
		return CPROF_EXCEPTION_CLAUSE_CATCH;
	}
	if (site && !site->count)
		*index_ret = 0;
	return CPROF_EXCEPTION_CLAUSE_FINALLY;
}

static bool on_landing(cprof_session *s, const struct engine_hit *hit)
{
	const struct cp_arch *arch = cp_arch_host();
	struct throws *t = throws_of(s);
	const struct cp_event_hit *e = hit->event;
	uint64_t header = word(hit, FETCH_EXCEPTION, 0);
	uint64_t sp = word(hit, FETCH_CONTEXT, arch->unwind_context.sp);
	uint64_t at = word(hit, FETCH_CONTEXT, arch->unwind_context.function);
	struct flight *f = find_flight(t, s->current.process, e->e.tid, header);
	const struct engine_text *text;
	cprof_exception_clause_type type;
	const cprof_function *method = NULL;
	cprof_object object;
	uint32_t index;
	bool told;

	/* It is not libgcc's context, or unwinding without an exception. */
	if (!f || sp <= e->sp)
		return false;
	f->seen = true;
	object = f->object;
	/* A personality routine that is traced itself has yet to return: then the next
	 * event shows which calls were left. */
	if (engine_invoked(s, e->caller))
		engine_calls_reach(s, e, sp);
	type = clause(s, hit, &index);
	text = engine_find_text(s->current.process, at);
	if (text)
		method = engine_function_at(s, text->image, at - text->image->bias);
	told = t->clauses && method;
	if (told)
		engine_raise(s, exception_clause, method, index, type, &object);
	f = type == CPROF_EXCEPTION_CLAUSE_FINALLY
		    ? NULL
		    : find_flight(t, s->current.process, e->e.tid, header);
	if (f)
		cp_vec_remove(&t->flights, (size_t)(f - t->flights.items));
	return told;
}

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	(void)call;
	(void)ended;
	if (!hit->regs.known)
		return false;
	return role == THROW ? on_thrown(s, hit) : on_landing(s, hit);
}

static const cprof_function *on_disarmed(cprof_session *s)
{
	struct throws *t = throws_of(s);

	t->flights.count = 0;
	return t->raise;
}

static const struct engine_role roles[ROLES] = {
	[THROW] = { .entry = ENGINE_WITH_STACK, .arguments = 1, .often = 1 },
	[LANDING] = { .entry = CP_SITE_REGS, .arguments = 3, .often = LANDINGS },
};

const struct engine_family engine_throws_family = {
	.name = "throws",
	.breakpoints = true,
	.enabled = is_enabled,
	.prepare = prepare,
	.roles = roles,
	.waits = true,
	.role_of = role_of,
	.copied = copied,
	.wants_whole = wants_whole,
	.entered = entered,
	.unwinds = unwinds,
	.things = "exceptions",
	.done = "thrown",
	.disarmed = on_disarmed,
	.exited = forget,
	.free = free_throws,
};
