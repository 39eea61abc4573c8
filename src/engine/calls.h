/* SPDX-License-Identifier: MIT
 *
 * Calls: from filters to breakpoints, from breakpoints to events. Private to
 * src/engine.
 *
 *   filters ──► traced functions ──► sites ──► armed in each mapping   (plans.c, arm.c)
 *                     ▲                ▲
 *   hit ── number of its site ─────────┘ ──► shadow stack ──► method_* (calls.c)
 *                                        └─► what was captured: values (context.c)
 *
 * A traced function and its sites belong to an ELF object and are planned
 * once, however often it is mapped; a hit tells by its pc which mapping it is.
 */
#ifndef CP_ENGINE_CALLS_H
#define CP_ENGINE_CALLS_H

#include "engine/internal.h"
#include "inspect/declared.h"
#include "inspect/inspect.h"
#include "link/sites.h"
#include "probe/match.h"
#include "probe/plan.h"
#include "probe/shadow.h"
#include "probe/spec.h"

struct engine_choice;

/* Numbers of sites, or of traced functions. */
struct engine_numbers {
	uint32_t *items;
	size_t count, capacity;
};

struct engine_ifuncs;

/* Sites of a family's own that go together: too many hits of one disarm the family. */
struct engine_own_group {
	uint32_t number; /* of the family's, in the session */
	uint8_t often; /* as in struct engine_watch */
	uint32_t first, count; /* in `sites` */
};

/* Sites of a family's own in an ELF object. */
struct engine_own {
	struct engine_numbers sites;
	CP_VEC(struct engine_own_group) groups;
	void *data; /* the family's, free()d; NULL: none */
};

/* What is known of one ELF object's functions. */
struct engine_plans {
	struct cp_probe_functions functions;
	bool read; /* `functions` were, or can't be */
	bool pads_read; /* functions.pads were */
	bool exports_read;
	struct cp_map exports; /* hash of a name that others may call -> number of its symbol */
	struct cp_map library_calls; /* where one is made -> traced function (stubs.c) */
	uint32_t *numbers; /* by function: traced function + 1; 0: not yet looked at */
	bool watched; /* the sites below were looked for */
	struct engine_own own[ENGINE_FAMILIES];
	struct engine_role_plan *roles; /* owned; roles.c; NULL: not looked at */
	struct engine_ifuncs *ifuncs; /* owned; ifuncs.c; NULL: not looked at */
	CP_VEC(struct engine_choice) choices; /* of functions here (ifuncs.h) */
	uint64_t hook_address; /* of the dynamic linker's, link-time; 0: none */
};

/* Beside CPROF_CALL_INSTRUMENTATION_*: what it does is told (roles.h). */
#define ENGINE_TRACED_ROLE 0x80000000u

/* A function that filters chose, or that has a role. */
struct engine_traced {
	cprof_assembly *assembly;
	struct cp_probe_function *function; /* of assembly->plans */
	unsigned flags; /* CPROF_CALL_INSTRUMENTATION_*, ENGINE_TRACED_ROLE */
	uint8_t family, role; /* what it is watched for: ENGINE_NO_FAMILY, 0: nothing */
	enum cp_probe_why why;
	uint32_t max_rate; /* 0: any */
	uint32_t first_site, site_count; /* the entry first; 0: can't be traced */
	uint32_t entry_count; /* of a library function, several */
	uint32_t return_site; /* for those whose exits are not known */
	struct cp_probe_range ranges[CP_GROUP_RANGES];
	bool by_return;
	bool disarmed; /* it was called too often */
	bool loops; /* see struct cp_probe_plan */
	struct cp_signature *signature; /* owned; NULL: no values asked for */
	bool type_anew; /* `signature` knows nothing, and there is more to know */
	const char *called; /* the name of an ifunc that it is asked for by; NULL */
};

/* What filters want of a function. */
struct engine_wish {
	unsigned flags; /* CPROF_CALL_INSTRUMENTATION_*, ENGINE_TRACED_ROLE */
	bool named; /* in full */
	const char *called; /* as in struct engine_traced */
};

enum engine_site_kind {
	ENGINE_SITE_ENTRY,
	ENGINE_SITE_EXIT,
	ENGINE_SITE_TAIL,
	ENGINE_SITE_RETURN, /* behind a call, wherever that is */
	ENGINE_SITE_OWN, /* no call: of a family's own */
};

#define ENGINE_NO_FUNCTION UINT32_MAX
/* Groups of sites that are no functions: the number is that of a family's own group. */
#define ENGINE_GROUP_OWN(family, number) (0xf0000000u | (uint32_t)(family) << 16 | (number))
#define ENGINE_GROUP_NUMBER 0xffffu
#define ENGINE_GROUP_RETURNS 0xfffffff1u
#define ENGINE_GROUP_COUNTING 0xfffffff2u

struct engine_site {
	uint64_t address; /* link-time; 0: RETURN */
	uint32_t traced; /* number, or ENGINE_NO_FUNCTION */
	uint8_t kind; /* enum engine_site_kind */
	uint8_t family, what; /* of OWN: whose, and which of its kinds */
	uint8_t size; /* of the instruction */
	uint8_t code[16];
	struct cp_capture_list list;
};

struct cprof_callspec {
	struct cp_spec *spec;
	unsigned references;
};

/* A SPEC and what its functions get. */
struct engine_trace {
	cprof_callspec *spec; /* a reference */
	unsigned flags;
};

/* The call event being delivered. */
struct engine_hit {
	const struct cp_event_hit *event;
	uint32_t site; /* number */
	uint8_t what; /* of a family's own site */
	const cprof_image *image; /* where it is mapped; NULL: not known */
	struct cp_regs regs; /* known 0: not captured */
	const struct cp_hit_vector *vector;
	const uint8_t *fetched, *stack; /* NULL: none */
};

struct engine_calls {
	/* settings */
	CP_VEC(struct engine_trace) traces;
	bool filters; /* some profiler has a filter of its own */
	uint32_t rate_named, rate_globbed;
	struct cp_condition *condition;
	bool rate_warned; /* of functions called too often */
	bool introspection, cpu_time; /* cpu_time: of each call */
	struct cp_value_limits limits;
	struct cp_declared *declared; /* owned; NULL: not asked for, or not there */
	bool declared_tried;
	/* plans */
	struct cp_decoder *decoder;
	CP_VEC(struct engine_traced *) traced; /* owned */
	CP_VEC(struct engine_site) sites;
	uint32_t own_groups[ENGINE_FAMILIES]; /* that families have, by number */
	CP_VEC(cprof_image *) refilters; /* asked for; NULL: of all images */
	uint64_t chosen; /* functions that filters chose */
	bool by_return; /* some of them are watched by return address */
	/* the event being delivered */
	cprof_call current;
	bool has_current;
	int32_t inherited_from; /* tid of who entered the call, in another process; 0: none */
	struct engine_callers *callers; /* known ones (invoke.c); owned; NULL: none */
	const struct cp_call *entering; /* of which an enter is delivered; else NULL */
	bool exiting; /* open calls end because their thread or process does */
	bool unsure_warned; /* of calls that may not be over */
	uint64_t now_ns; /* when what is being delivered happened */
	struct cp_value_arena *arena;
	CP_VEC(uint64_t) chain;
	/* counts */
	uint64_t late; /* hits of functions that are disarmed */
	uint64_t hooks; /* stops that are no events: the dynamic linker's hook, ... */
	uint64_t events, rejected_inside, rejected_condition, unmatched;
	uint64_t told, untold; /* calls of which the condition could be told, or not */
	uint64_t armed_functions, armed_sites;
};

/* trace.c: settings */
struct engine_calls *engine_calls_get(cprof_session *s); /* made when it isn't there; or NULL */
void engine_calls_free(cprof_session *s);
bool engine_calls_wanted(const cprof_session *s); /* breakpoints, for whatever: */
bool engine_probes_wanted(const cprof_session *s);
/* At the end: what can be told about filters that chose nothing. */
void engine_calls_warn(cprof_session *s);
void engine_plans_free(struct engine_plans *plans);

/* declared.c: what the system's headers declare; NULL: not there, which was said */
const struct cp_declared *engine_declared(cprof_session *s);
/* What a stub's call takes and gives: by debug information of what it leads to, else
 * as below. */
bool engine_target_signature(const cprof_process *p, const char *symbol, unsigned want,
			     struct cp_signature **ret);
/* What a call of the function with that symbol takes and gives, by its
 * declaration; the result is the caller's. False: none is known. */
bool engine_declared_signature(cprof_session *s, const char *symbol,
			       unsigned want /* CP_SIGNATURE_* */, struct cp_signature **ret);

/* plans.c */
/* Made when it isn't there; NULL: it can't be written to. */
struct engine_plans *engine_plans_of(cprof_assembly *a);
/* Fills plans->functions once. False: there are none. */
bool engine_plans_read(cprof_assembly *a, struct engine_plans *plans);
/* Reads functions.pads, once. Without memory they are missed. */
void engine_plans_pads(const cprof_assembly *a, struct engine_plans *plans);
/* Do exceptions come to link-time `address`? Then nothing returns there. */
bool engine_plans_is_pad(cprof_assembly *a, uint64_t address);
struct cp_decoder *engine_decoder(struct engine_calls *c); /* NULL: no memory */
bool engine_is_program(const cprof_image *image);
/* What filters want of the functions of `image` goes to *numbers (numbers of
 * traced functions). False: nothing. */
/* What they want of it by its own names. */
struct engine_wish engine_asked(cprof_session *s, cprof_image *image, struct cp_probe_function *f);
bool engine_plan_near(const cprof_session *s, const char *entry, struct cp_buf *out);
/* The watches must be planned before the image that they are in. */
enum engine_plan_what { ENGINE_PLAN_ALL, ENGINE_PLAN_STUBS, ENGINE_PLAN_OTHERS };
bool engine_plan_image(cprof_image *image, enum engine_plan_what what,
		       struct engine_numbers *numbers);
/* The filters once more, of an image that was planned: functions that are not
 * wanted any more, those that are and were not, or for something else, and all
 * that are wanted. False: no memory, or nothing can be traced there. */
struct engine_refilter {
	struct engine_numbers off, changed, all;
};
bool engine_plan_again(cprof_image *image, struct engine_refilter *r);
const cprof_function *engine_probe_function(cprof_session *s, cprof_image *image,
					    struct cp_probe_function *f);
/* The other way round; NULL: it is in no file, or not known to src/probe. */
struct cp_probe_function *engine_function_probe(const cprof_function *f);
struct cp_probe_image engine_probe_image(const cprof_image *image);
/* Is the code at a link-time address of the image part of a function that is
 * traced? */
bool engine_traced_at(const cprof_session *s, const cprof_image *image, uint64_t address);
const cprof_function *engine_traced_function(cprof_session *s, const cprof_image *image,
					     uint32_t number);

/* arm.c */
/* After the mappings were read: arms what is new, forgets what is gone. */
void engine_arm_process(cprof_process *p);
/* All processes; and those where that could not be done before. */
void engine_arm_all(cprof_session *s);
void engine_arm_again(cprof_session *s);
/* Functions in an image that has breakpoints: `changed` ones; all that are there,
 * when they don't fit beside the others. */
void engine_arm_changed(cprof_image *image, const struct engine_numbers *changed,
			const struct engine_numbers *all);
/* Puts the original bytes into what was read of the process at `address`. */
void engine_hide_breakpoints(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size);
/* Takes out the breakpoints that a killed tracer left: in one process, in all. */
void engine_restore(int32_t pid);
void engine_arm_restore(cprof_session *s);
/* A forked process has the breakpoints of its parent. */
void engine_arm_inherit(cprof_process *p, const cprof_process *parent);
/* A breakpoint at a return address. */
void engine_arm_return(cprof_process *p, uint32_t site, uint64_t address);
/* A site that makes no events but counts. */
struct engine_counting {
	uint64_t address; /* link-time */
	uint32_t counter;
	uint32_t max_rate; /* hits of a branch in a process before it is given up; 0: any */
	uint16_t flags; /* CP_SITE_* */
	uint8_t size; /* of the instruction there */
	const uint8_t *code;
};
/* Places it in an image that has breakpoints; an errno, or 0. */
int engine_arm_counting(cprof_image *image, const struct engine_counting *counting);

/* refilter.c: what callbacks have asked for is done */
void engine_refilter(cprof_session *s);

/* calls.c */
void engine_disarm(cprof_session *s, uint32_t number); /* traced no more, in no process */
void engine_on_hit(cprof_session *s, const struct cp_event_hit *e);
void engine_on_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
/* Open calls end: of a thread, or with tid 0 of the whole process. */
void engine_calls_exit(cprof_process *p, int32_t tid, uint64_t ts_ns);
/* The session is over: nothing is said of the calls that are still open. */
void engine_calls_end(cprof_session *s);
/* Reads what is mapped now, and arms what is new. */
void engine_calls_look(cprof_process *p);

void engine_elt_free(struct engine_elt *elt); /* elt.c */
/* launch.c: CP_TRACE_* for launch and attach */
unsigned engine_trace_flags(const cprof_session *s);
/* session.c: something that the user of the session should know; each once */
void engine_warn(cprof_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* images.c: the image of an assembly at a place, made when there is none */
cprof_image *engine_image_add(cprof_process *p, cprof_assembly *a, uint64_t start, uint64_t end,
			      uint64_t bias);
/* images.c: the copy that a forked process has of its parent's */
cprof_image *engine_image_inherit(cprof_process *p, const cprof_image *from);
void engine_image_free(cprof_image *image);
/* images.c: appends the text of the process's maps file; false when it is gone */
bool engine_read_maps(const cprof_process *p, struct cp_buf *out);
/* process.c: the stack pointer of a thread that is in a system call; 0 */
uint64_t engine_thread_sleeps_at(const cprof_thread *t);

#endif
