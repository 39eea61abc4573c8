/* SPDX-License-Identifier: MIT
 *
 * The session and what it knows. Private to src/engine.
 *
 *   session ──► processes ──► threads
 *      │            └──► images (mapped here, with a load bias)
 *      │                   └──► assembly (the ELF object, shared)
 *      ├──► assemblies, functions
 *      ├──► profilers (callbacks)
 *      └──► link to the tracer
 */
#ifndef CP_ENGINE_TARGET_STATE_H
#define CP_ENGINE_TARGET_STATE_H

#include <cprof/cprof.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/map.h"
#include "base/types.h"
#include "base/vec.h"
#include "engine/target/areas.h"
#include "engine/target/family.h"
#include "engine/target/live.h"
#include "engine/target/lives.h"
#include "engine/target/pieces.h"
#include "engine/target/profilers.h"
#include "image/image.h"
#include "inspect/inspect.h"
#include "link/link.h"
#include "unwind/unwind.h"

struct cp_event_sample;
struct cp_frame;
struct cp_image;
struct cp_perf_map;
struct cp_shadow;
struct cp_signature;
struct cp_unwind_cache;
struct cp_unwind_space;
struct cp_value_arena;
struct engine_above;
struct engine_cover;
struct engine_coverage;
struct engine_detours;
struct cp_shapes;
struct engine_places;
struct engine_templates;
struct engine_variables;
struct engine_plans;
struct engine_sources;

#define CP_MAX_FRAMES 16384

/* An ELF object, a process's run-time code, or neither. Lives as long as the
 * session; names may be asked for on any thread. */
struct cprof_assembly {
	char *path;
	struct cp_image *image; /* NULL: could not be opened, or no file */
	pthread_mutex_t lock; /* of jit, called */
	struct cp_perf_map *jit;
	uint64_t jit_next_ns; /* the map is not read again before that */
	bool made; /* at run time, and registered for debuggers (families/jit.c) */
	bool jit_asked; /* has_jit and jit_list are known */
	bool has_jit; /* it has the debuggers' list of such code, at jit_list */
	struct cp_vaddr jit_list;
	struct cp_map called; /* link-time address -> name of the ifunc by which it was asked for */
	struct cp_map callers; /* link-time return address -> processes (probes/callers.c) */
	struct cp_map plain; /* link-time return addresses that end no handler (calls/invoke.c) */
	struct engine_places *places; /* owned; NULL: nobody asked for values of frames */
	struct engine_plans *plans; /* owned; NULL: nothing of it is traced */
	struct engine_sources *sources; /* owned; NULL: not asked for */
	struct engine_cover *cover; /* owned; NULL: nothing of it is covered */
	struct engine_variables *variables; /* owned (target/variables.c); NULL: none yet */
	struct engine_templates *templates; /* owned (target/shapes.c); NULL: none yet */
	uint32_t shown; /* number of its images of which image_loaded was raised */
	struct engine_area_sizes areas; /* in the last process */
};

/* One mapping of an object in a process: all of its segments. */
struct cprof_image {
	cprof_process *process;
	cprof_assembly *assembly;
	uint64_t start, end; /* of the mapped segments */
	uint64_t bias; /* run-time address = link-time address + bias */
	uint64_t last; /* end of its last mapping, data too */
	bool mapped, armed; /* mapped: now; armed: its breakpoints were placed */
	bool noted; /* annotations were looked for */
	uint8_t anew; /* how often its breakpoints were placed once more */
	uint32_t look, unmapped; /* process's look that last found it mapped; how often it went */
	struct cp_map traced; /* number of a traced function -> cprof_function * */
	struct cp_map slots; /* link-time address of a site -> its slot (probes/batch.h) */
	struct cp_map detoured; /* number of a function with detours -> what stands of it; owned */
	CP_VEC(uint64_t) chunks; /* where their code is, each CP_DETOUR_CHUNK bytes */
	struct cp_map yielded; /* functions that had some: records may be left to tell */
	CP_VEC(struct engine_jump) jumps; /* where theirs are, sorted: no breakpoint may be there */
	uint64_t area, area_size; /* of its slots; 0: none yet */
	struct engine_ready_area ready; /* for its slots, once they are wanted */
	struct engine_image_cover cover;
	struct engine_image_life life;
};

struct cprof_thread {
	cprof_process *process;
	int32_t tid, ns_tid;
	char name[32];
	uint64_t start_ns, end_ns, cpu_ns; /* end: 0 not yet; cpu: at the end */
	int wait_status; /* -1: not ended */
	uint64_t named_ns; /* when the name was last read */
	uint32_t slot;
	bool told, ask_again; /* of a snapshot: it was captured; its stack not whole */
	uint64_t stack_low, stack_end; /* its own stack, once a call showed it; 0 unknown */
	uint64_t born_sp, root_sp; /* where on it the thread began, and walks end; 0 unknown */
	uint64_t held_ns; /* since when, by a stop of which no other told; 0: it isn't */
	bool root_asked, held_straight; /* straight: to the record that it was held before */
	bool blind; /* of a call it could not be told which stack it is on: nor of others */
	struct cp_account account; /* at its last stop, with what such a hold took since */
	uint64_t accounted_ns; /* up to when the tracer has told what it lost */
	uint64_t told_ns, before_ns; /* of the last call told by itself, and of the one before */
	CP_VEC(struct engine_kept_frame) kept; /* of its last sample (wall clock) */
	enum cp_unwind_end kept_end;
	struct engine_thread_life life;
};

struct cprof_process {
	cprof_session *session;
	int32_t pid, ns_pid, parent;
	int32_t live_tid; /* a thread that was alive when last heard of */
	char name[32];
	char *exe, *started_as; /* owned; the second: see engine_started_as() */
	struct cp_buf auxv; /* what the kernel told the program; addresses are random */
	uint64_t start_ns, exec_ns, end_ns; /* the last two: 0 not yet */
	int wait_status; /* -1: not ended */
	int memory_fd; /* from the tracer; -1: not asked for yet */
	bool memory_failed, memory_over, started_known; /* over: it has none any more */
	struct cp_reader memory;
	struct cp_reader code; /* what does not change, from the file where memory is gone */
	struct cp_unwind_space *space; /* engine_unwind_space() */
	bool space_old; /* the mappings were read since */
	struct cp_buf maps; /* the text of the maps file when last read */
	uint64_t maps_ns;
	bool forked; /* and no exec since: its memory began as its parent's */
	bool maps_read, loaded, stacks_within; /* the last: some lie in frames of others */
	unsigned maps_forced; /* how often the maps were read before their time */
	CP_VEC(struct engine_text) texts; /* sorted */
	uint32_t texts_made; /* how often they were */
	struct engine_stacks stacks;
	CP_VEC(cprof_image *) images; /* owned; never freed before the session */
	cprof_assembly *jit, *unknown;
	void *own[ENGINE_FAMILIES]; /* what families know of it; NULL: nothing */
	uint32_t look; /* how often the mappings were read */
	struct cp_shadow *shadow; /* open calls; NULL: none yet */
	bool arm_again; /* the tracer could not place all breakpoints at the time */
	struct engine_detours *detours; /* owned; NULL: it has none */
	struct engine_areas areas;
	struct cp_shapes *shapes; /* owned (target/shapes.c); NULL: none yet */
	struct engine_process_life life;
};

struct cprof_function {
	const cprof_image *image;
	const char *linkage_name;
	bool planned; /* known from src/probe */
	_Atomic(char *) name; /* demangled, owned; NULL: nobody has asked for it */
	uint64_t start, size;
	bool unnamed; /* known by its call frame information alone: fn_<hex> */
	struct cp_signature *signature; /* owned; for frames of walks */
	bool signature_read;
};

/* What was captured of a thread: what a walk starts from. */
struct engine_capture {
	struct cp_regs regs; /* of the leaf: all, or only pc and sp of a blocked thread */
	uint64_t pc, ts_ns;
	uint64_t stack_base;
	const uint8_t *stack; /* NULL: not copied */
	size_t stack_size;
	uint64_t below_base; /* of the stack below a signal handler's */
	const uint8_t *below;
	size_t below_size;
	const uint8_t *xstate;
	uint32_t xstate_size;
	const uint8_t *raw; /* the register set as the kernel has it, or NULL */
	uint32_t slot; /* of the thread in the hints */
	bool held; /* the thread stands still */
	bool recorded; /* by a detour: this is all that there is to walk */
};

/* The event that is being delivered. */
struct engine_current {
	cprof_process *process;
	cprof_thread *thread;
	const struct cp_event_sample *sample; /* NULL: no sample */
	bool repeat;
	bool cut_below; /* the walk lacked the stack below a signal handler's */
	const struct engine_hit *hit; /* NULL: no call event */
	struct engine_capture capture;
	bool walkable; /* there is a capture to walk */
};

struct cprof_session {
	cprof_session *outer; /* created before this one, on this thread; NULL: none is left */
	struct cp_link link;
	pid_t tracer; /* 0: reaped */
	bool tracer_left; /* the tracer said that nothing is traced any more */
	bool behind; /* there was more in the ring than could be handled at once */
	_Atomic bool stop_asked;
	int stop_fd; /* eventfd */
	bool started, ended;
	bool probes; /* the tracer was told that the target gets breakpoints */
	unsigned flags;
	/* launch.c */
	pid_t child;
	int child_go, child_error; /* -1: closed */
	bool ignores_children; /* the child, SIGCHLD */
	int wait_status, exec_errno; /* wait_status: -1: running */
	char **command; /* owned, NULL-terminated */
	int32_t target;
	bool attached;
	/* settings */
	cprof_unwinder unwinder;
	const char *const *debug_dirs;
	struct cp_debuginfod debuginfod;
	const char *const *plugin_dirs;
	/* sampler */
	struct engine_capturing capturing;
	cprof_profiler_handle sampling_owner;
	bool nameless_failed; /* cprof_profiler_fail() of no handle */
	bool sampling, vector_state;
	bool memory_late; /* of processes: opened when somebody reads it; few sessions do */
	bool ask_again; /* of a snapshot: a thread's stack was not whole */
	uint64_t settled_until_ns; /* of a snapshot: threads that ran stay held; 0: none */
	_Atomic cprof_sample_mode mode;
	_Atomic uint32_t hz;
	_Atomic bool sampling_changed; /* the tracer has to be told */
	/* tables */
	struct cp_map by_pid, by_tid;
	CP_VEC(cprof_process *) processes; /* all there ever were */
	CP_VEC(cprof_thread *) gone_threads;
	struct cp_interner assembly_keys;
	CP_VEC(cprof_assembly *) assemblies; /* by number of their key */
	CP_VEC(cprof_assembly *) jits;
	CP_VEC(cprof_function *) functions;
	struct cp_interner function_keys;
	struct cp_unwind_cache *unwind_cache;
	struct engine_kept *kept; /* owned; NULL: nothing of other runs is used */
	struct cprof_profiler_desc *profilers; /* newest first */
	CP_VEC(struct engine_counter) counters;
	CP_VEC(char *) loaded; /* descriptions of loaded profilers */
	struct engine_calling calling;
	struct engine_current current;
	struct engine_lives live;
	struct engine_calls *calls; /* NULL: calls are not traced */
	struct engine_coverage *coverage; /* NULL: not asked for */
	struct cp_frame *frames; /* CP_MAX_FRAMES */
	struct engine_walked walked;
	uint64_t stack_keys; /* that were given to processes */
	unsigned walking; /* walks that are being told, one within the other */
	bool snapshotting; /* the tracer captures all threads */
	bool introspection; /* some profiler wants values */
	bool detours; /* calls may be seen by them */
	cprof_on_full on_full;
	struct cp_value_limits limits;
	struct cp_value_arena *frame_arena; /* of values of frames; NULL: none asked for */
	struct cp_value_arena *object_arena; /* of the last object's value; NULL: none yet */
	uint64_t heartbeat_ns, beat_ns, armed_ns, begin_ns; /* beat: to detours; begin: of run() */
	uint64_t run_ns; /* how long run() looked; 0: it does yet */
	uint64_t placing_ns; /* of it, until breakpoints were placed; 0: they are not yet */
	uint64_t left_ns; /* when we began to let go what still runs; 0: not yet, or nothing did */
	uint64_t last_ns; /* later records are not taken: without a tracer they never end */
	size_t recorded; /* what detours had recorded when it was last looked at */
	struct engine_session_life life;
	const struct engine_family *const *families; /* by number */
	const struct engine_above *above;
	uint32_t asked, disarmed; /* families: bit n is number n */
	void *own[ENGINE_FAMILIES]; /* what families know; NULL: nothing */
	struct cp_error *error; /* the last failure */
	CP_VEC(char *) warnings;
	struct engine_steered steered;
	uint64_t cpu_at_start_ns; /* cprof's own */
};

/* The newest session of a thread is its current one. */
void engine_make_current(cprof_session *s);
/* The session is destroyed: the newest of those that are left is current. */
void engine_make_past(const cprof_session *s);
/* Tells the user of the session something; each text once. */
void engine_warn(cprof_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remembers `err` as the session's last failure; answers the API's code. */
cprof_status engine_fail(cprof_session *s, struct cp_error *err);

/* May what needs breakpoints still be asked for? Yes until the session runs; where the
 * target came first, only if the tracer was told of breakpoints by then. */
bool engine_may_ask(const cprof_session *s);

#endif
