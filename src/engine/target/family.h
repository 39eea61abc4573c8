/* SPDX-License-Identifier: MIT
 *
 * Families of events: what is watched for one purpose, be it locks, exceptions or
 * allocations. A family is a file and a row in the list below, and says in a constant
 * structure what it wants; planning, arming, hits and the lives of processes go over
 * the table and name none of them.
 *
 *     asked, enabled ──► sites of its own: names, plan ──► armed ──► hit
 *                    └─► functions with a role: role_of ──► armed ──► entered, returned
 *
 * Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_FAMILY_H
#define CP_ENGINE_TARGET_FAMILY_H

#include <cprof/cprof.h>

#include "link/link.h"
#include "link/sites.h"
#include "probe/shadow.h"

struct cp_event_fault;
struct cp_event_opened;
struct cp_event_pause;
struct cp_heap_probe;
struct engine_text;

struct cp_call;
struct engine_hit;
struct engine_own;
struct engine_reach;
struct engine_ring;
struct engine_site;

/* All families. A function that two of them look for is the first one's. */
#define ENGINE_FAMILY_LIST(X) \
	X(LOADER, loader) \
	X(SIGNALS, signals) \
	X(STOPPING, stopping) \
	X(EXITS, exits) \
	X(DELIVERED, delivered) \
	X(OPENS, opens) \
	X(ANNOTATIONS, annotations) \
	X(FIBERS, fibers) \
	X(JIT, jit) \
	X(THROWS, throws) \
	X(LOCKS, locks) \
	X(HEAP, heap) \
	X(MAPS, maps) \
	X(HEAP_SIZE, heap_size) \
	X(FILEIO, fileio) \
	X(FINALIZING, finalizing) \
	X(IFUNCS, ifuncs) \
	X(ROOTS, roots) \
	X(PROBING, probing) \
	X(SERVING, serving) \
	X(COVERAGE, coverage)

enum engine_family_id {
	ENGINE_NO_FAMILY,
#define ENGINE_FAMILY_ID_(ID, name) ENGINE_FAMILY_##ID,
	ENGINE_FAMILY_LIST(ENGINE_FAMILY_ID_)
#undef ENGINE_FAMILY_ID_
		ENGINE_FAMILIES
};

/* A function that has a site of the family's where it begins. */
struct engine_watch {
	const char *name; /* of its symbol, without version */
	uint8_t what; /* the family's own number of the kind of site */
	uint16_t flags; /* CP_SITE_* */
	uint8_t often; /* 0: any number of times; n: n times --max-rate of globs */
};

/* Registers and stack: what a role captures where something is told. */
#define ENGINE_WITH_STACK (CP_SITE_REGS | CP_SITE_STACK)

/* What happens at a function with a role. Its calls have a place among the open ones,
 * but no profiler is told of them. */
struct engine_role {
	uint16_t entry, leave; /* CP_SITE_* of its sites; leave 0: only the entry is seen */
	bool holds_exit; /* the thread is held when it returns: memory has to be read */
	/* Arguments that are looked at, a bit each: with these, what is copied, the result and
	 * the stack a detour tells all. 0: a stop is needed. */
	uint8_t arguments;
	uint8_t often; /* as in struct engine_watch, but 0: as often as those that are named */
};

/* What ends a process's memory, or part of it: a family may read it before. */
#define ENGINE_END_UNLOAD 1u
#define ENGINE_END_EXEC 2u
#define ENGINE_END_EXIT 4u

/* What a family is; each member may be missing. */
struct engine_family {
	const char *name;
	/* Who wants it. */
	bool always; /* sites of its own are wherever there are breakpoints */
	bool breakpoints; /* wanting its events takes breakpoints */
	unsigned trace; /* CP_TRACE_* that wanting them takes */
	bool (*asked)(const cprof_session *s); /* by callbacks, before the target is traced? */
	bool (*enabled)(const cprof_session *s); /* by the API? At any time */
	void (*prepare)(cprof_session *s); /* before `asked` */

	/* Sites of its own, where functions with these names begin: in the C library, the
	 * dynamic linker and the program, or anywhere. */
	const struct engine_watch *watches;
	size_t watch_count;
	bool anywhere;
	/* What is captured at such a site: site->list. */
	void (*capture)(cprof_session *s, struct engine_site *site);
	/* Looks for further sites, once for an ELF object, after the watched functions
	 * were found. */
	void (*plan)(cprof_image *image, struct engine_own *own);
	/* A thread stopped at such a site. If `tells`, that is an event of the thread,
	 * beside its calls. */
	bool tells;
	void (*hit)(cprof_session *s, const struct engine_hit *hit);
	/* Such stops were too often, or calls of functions with a role, which is said as "THINGS were DONE more than ...", but
	 * of THINGS that are NULL.
	 * `disarmed` forgets what is going on, and answers the function that
	 * method_disarmed is raised of, or NULL. */
	const char *things, *done;
	const cprof_function *(*disarmed)(cprof_session *s);

	/* The exception that unwinds a call; NULL: none. Valid until the next one. */
	const cprof_object *(*unwinds)(cprof_session *s, const struct cp_call *call);

	/* Functions with a role, by number from 1. */
	const struct engine_role *roles;
	enum engine_family_id beside; /* wanted together with that one alone, if it is any */
	bool in_c_library; /* only exported functions of the C library have one */
	/* The role of code that functions with another one go on in, by a jump; 0: that is not
	 * looked for, and their return addresses have breakpoints. */
	uint8_t goes_on;
	bool waits; /* its calls are rare: where they come all at once, they wait for room */
	bool pauses; /* called too often it pauses, instead of not being watched any more */
	uint8_t (*role_of)(const char *image, const char *name, size_t length, bool local);
	void (*found)(cprof_session *s); /* a function with a role was found */
	/* What is copied at the entry (engine_fetches_of_role()), valid as long as the session;
	 * how many. */
	size_t (*copied)(cprof_session *s, uint8_t role, const struct cp_fetch **ret);
	/* Are stacks wanted that are deeper than what a detour copies? Without, always. */
	bool (*wants_whole)(const cprof_session *s);
	/* Is a sample of the calls enough? Then *ret is what the tracer has to know. */
	bool (*sampled)(const cprof_session *s, uint8_t role, struct cp_heap_probe *ret);
	/* A function with a role is entered: puts what has to be known at its end into
	 * the call. `ended` is the call that jumped there instead of returning; its
	 * subject is NULL when there is none. True, here and below: profilers were told
	 * something. */
	bool (*entered)(cprof_session *s, uint8_t role, const struct engine_hit *hit,
			struct cp_call *call, const struct cp_call *ended);
	bool (*returned)(cprof_session *s, uint8_t role, const struct cp_call *call);
	/* Records of a ring whose next one is of the family's, as many as say no more than is
	 * looked at by the thousand; how many. 0: the next one goes the way of hits. */
	size_t (*run)(cprof_session *s, struct engine_ring *ring, const struct engine_reach *reach);
	/* It ended, in whatever way. */
	bool (*ended)(cprof_session *s, const struct cp_call *call, enum cp_call_end how);
	/* The functions of a family that `pauses` pause in a process, or are watched
	 * again. */
	void (*pause)(const cprof_process *p, const struct cp_event_pause *e);
	/* A thread's calls between these times were not seen: too many for who reads. Said
	 * also when that begins, with the same time twice. */
	void (*lost)(const cprof_process *p, uint64_t from_ns, uint64_t to_ns);

	/* Breakpoints that the family places in an image itself: are any needed; place
	 * them (an errno, or 0); that failed for good; a forked process has those of
	 * its parent. */
	bool (*places)(cprof_image *image);
	void (*make)(cprof_image *image); /* gets ready what place() sends, and asks nobody */
	int (*place)(cprof_image *image);
	void (*refused)(cprof_image *image);
	void (*inherited)(cprof_image *image);
	/* Something else has to stand in a link-time range: jumps that the family placed there
	 * give way to breakpoints. */
	void (*yield)(cprof_image *image, uint64_t start, uint64_t size);
	/* Is one of these breakpoints at a link-time address, or was one there? */
	bool (*has)(const cprof_image *image, uint64_t address);
	void (*fault)(cprof_session *s, cprof_process *p, const struct cp_event_fault *e);
	/* One was hit that holds: more is to be placed. */
	void (*opened)(cprof_session *s, cprof_process *p, const struct cp_event_opened *e);

	/* A process's mappings were read: called before breakpoints are placed, after,
	 * and after profilers were told of images. */
	void (*mapped)(cprof_process *p);
	void (*armed)(cprof_process *p);
	void (*told)(cprof_process *p);
	/* A frame is at `pc`, or returns there, which may be code made at run time. */
	void (*met)(cprof_process *p, uint64_t pc);
	const struct engine_text *(*text_at)(const cprof_process *p, uint64_t pc);

	/* Lives. */
	void (*forked)(cprof_process *p, const cprof_process *parent);
	void (*began)(cprof_thread *t, const cprof_process *parent); /* NULL: it was not forked */
	void (*thread_started)(cprof_thread *t); /* and profilers were told */
	void (*thread_stops)(const cprof_thread *t);
	void (*image_loaded)(const cprof_image *image);
	void (*images_loaded)(cprof_process *p); /* one or more */
	void (*image_unloads)(const cprof_image *image);
	void (*ends)(cprof_process *p, unsigned end, bool last); /* ENGINE_END_* is near */
	void (*end)(cprof_process *p, unsigned end); /* ENGINE_END_* has come */
	void (*thread_ended)(cprof_thread *t);
	void (*exited)(cprof_process *p, int32_t tid); /* 0: the process, or its program */
	void (*dropped)(cprof_process *p); /* profilers were told that its images are gone */
	void (*forget)(cprof_process *p); /* its memory is gone */
	void (*free_process)(cprof_process *p);
	void (*free_assembly)(cprof_assembly *a);

	/* The session. */
	void (*poll)(cprof_session *s, uint64_t now); /* between events */
	int (*wait)(const cprof_session *s, int ms); /* ms until `poll` is due, at most */
	void (*delivered)(cprof_process *p); /* an event of it was handled */
	void (*second)(cprof_session *s); /* once a second */
	void (*look)(cprof_process *p); /* once a second, at each process that runs */
	void (*restore)(cprof_session *s); /* the tracer was killed */
	void (*last)(cprof_session *s); /* no more events come */
	void (*explain)(cprof_session *s); /* at the end: what could not be told */
	void (*free)(cprof_session *s);
};

#define ENGINE_FAMILY_EXTERN_(ID, name) extern const struct engine_family engine_##name##_family;
ENGINE_FAMILY_LIST(ENGINE_FAMILY_EXTERN_)
#undef ENGINE_FAMILY_EXTERN_

/* Does anybody want the family's events? */
bool engine_family_wanted(const cprof_session *s, enum engine_family_id id);
/* Are the family's own sites to be placed? Not any more once stops there were too
 * often. */
bool engine_family_placed(const cprof_session *s, enum engine_family_id id);
/* Is any family wanted that takes breakpoints? */
bool engine_families_break(const cprof_session *s);

/* The families, by number; the one of ENGINE_NO_FAMILY has no members. */
extern const struct engine_family *const engine_families[ENGINE_FAMILIES];

/* For each family that has `hook`, in order: struct engine_family *f. */
#define engine_each_family(session, f, hook) \
	for (const struct engine_family *const *ef_at = (session)->families, \
					       *const *ef_end = ef_at + ENGINE_FAMILIES, *f; \
	     (f = __extension__({ \
		      while (++ef_at < ef_end && !(*ef_at)->hook) \
			      ; \
		      ef_at < ef_end ? *ef_at : NULL; \
	      })) != NULL;)

#endif
