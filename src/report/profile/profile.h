/* SPDX-License-Identifier: MIT
 *
 * A profile: the samples of a recording that pass a filter, added up by
 * function, image, thread and process. Everything that is shown or exported
 * is made of one; nothing else in this room looks into samples and stacks.
 *
 *     recording          profile                         made of it
 *     sample ──┐
 *     sample ──┼─ filter ─> hits (thread, stack, cost) ─> tables, tree, exports
 *     sample ──┘
 *     location ───────────> frames (inlined ones too) ──> functions ─> images
 */
#ifndef CP_REPORT_PROFILE_H
#define CP_REPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/nettime.h"
#include "record/record.h"

#define CP_TRUNCATED_NAME "[truncated]" /* around a stack that does not reach the root */

/* An amount that was spent, in units of the profile (cp_unit): nanoseconds that samples stand for,
 * say, and ticks of the sampler. Of calls it is the most likely time, which is good for
 * shares and for what has to add up; what is shown is cp_cost_shown(). */
struct cp_cost {
	uint64_t weight, ticks;
	struct cp_net_sum sum; /* of calls */
};

static inline void cp_cost_add(struct cp_cost *to, const struct cp_cost *more)
{
	to->weight += more->weight;
	to->ticks += more->ticks;
	cp_net_add_sum(&to->sum, &more->sum);
}

/* How many of `costs` are not zero. */
static inline size_t cp_cost_used(const struct cp_cost *costs, size_t count)
{
	size_t n = 0, i;

	for (i = 0; i < count; i++)
		n += costs[i].weight || costs[i].ticks;
	return n;
}

/* The kinds of weights that costs are made of. */
enum cp_profile_of {
	CP_OF_TIME, /* samples, or calls when there are none */
	CP_OF_BYTES, /* allocations: their bytes */
	CP_OF_COUNT, /* how many there were */
	CP_OF_LIVE, /* bytes of those that were not freed */
	CP_OF_AUTO, /* time, or bytes when there are neither samples nor calls */
};

struct cp_unit; /* profile/unit.h */

/* The state of a thread when it was sampled, as far as the clock `wall` tells. */
enum cp_profile_state { CP_STATE_ANY, CP_STATE_RUNNING, CP_STATE_WAITING };

struct cp_profile;
struct cp_function;
struct cp_choice; /* profile/choice.h */
struct cp_heap; /* profile/heap.h */
struct cp_profile_beside; /* profile/callstacks.h */

/* Which single calls count, beside who makes them and when; all zero: every one does. */
struct cp_call_choice {
	/* Is `f` one of the functions that `spec`, one of those below, means? */
	bool (*matches)(void *spec, const struct cp_profile *p, const struct cp_function *f);
	void *under; /* these and what is called by them, at any depth; NULL: all. Borrowed until
			the profile is there, as those that follow */
	void *not_under; /* not these, nor what is called by them; NULL: none */
	void *paths_to; /* these, and the calls that lead to them; NULL: all */
	uint64_t levels; /* as deep among those that the first two leave; 0: all */
	uint64_t least_ns; /* as long */
};

static inline bool cp_call_choice_is_any(const struct cp_call_choice *c)
{
	return c->under || c->not_under || c->paths_to || c->levels || c->least_ns;
}

struct cp_profile_filter {
	enum cp_profile_of of;
	const char *thread; /* a tid, or a glob over names; NULL: all */
	int32_t pid; /* 0: all */
	const char *image; /* glob over the image that the innermost frame is in; NULL: all */
	uint64_t from_ns, to_ns; /* from the start of the recording; to_ns 0: the end */
	enum cp_profile_state state;
	bool no_costs; /* for who only asks for names: calls are not added up */
	/* Who else sees all calls where they are added up; static, or NULL. */
	const struct cp_profile_beside *beside;
	struct cp_call_choice calls; /* where it is any, samples don't count */
};

/* Is that the thread that a filter's `want` means? */
bool cp_thread_matches(const char *want, int32_t tid, const char *name);

/* A file that code came from; equal base names are one. All strings of a
 * profile are untrusted and live as long as it. */
struct cp_profile_image {
	const char *name; /* as cp_record_image_name() has it, or "[unknown]" */
	const char *path, *started_as; /* of the first image of that name */
	struct cp_cost self, total;
};

struct cp_function {
	const char *name; /* never NULL: "[libz.so]" or "libz.so+0x10" where unknown */
	const char *linkage; /* NULL: unknown */
	const char *file; /* NULL: unknown */
	uint32_t decl_line;
	uint32_t image;
	bool runtime; /* a language's or an allocator's own, as cp_name_is_runtime() has it */
	struct cp_cost
		self; /* innermost, or of the C library's wait, of Rust's inlined code, called by
			 it; of memory, who asked for it */
	struct cp_cost total; /* recursion counted once */
	uint32_t waits_in; /* function of the C library that it mostly waits in, +1; 0: none */
};

#define CP_FRAME_INLINED 1u
#define CP_FRAME_GUESSED 2u
#define CP_FRAME_SIGNAL 4u
#define CP_FRAME_KERNEL 8u

/* A function at a place. Each location has one or more, innermost first. */
struct cp_frame {
	uint32_t function;
	uint32_t location; /* CP_RECORD_NONE: of the frame that stands for no stack */
	uint32_t line; /* 0: unknown */
	uint32_t flags; /* CP_FRAME_* */
	const char *file; /* NULL: unknown */
};

/* A stack of traced calls: a call and those around it. */
struct cp_call_node {
	uint32_t parent; /* + 1; 0: none */
	uint32_t frame;
	uint32_t depth; /* frames, with this one */
};

/* The cost of one stack in one thread. */
struct cp_hit {
	uint32_t thread, stack;
	struct cp_cost cost;
	bool waits; /* the thread did not run: */
	bool ready; /* it would have, had there been a CPU, or cprof let it */
	uint32_t asked; /* function + 1 that asked for memory, whose own it is; 0: the innermost */
	struct cp_net_sum whole; /* of calls: of those that end in this stack, with all that
				    they called */
};

/* All that is known of allocations in one stack of a thread. */
struct cp_hit_heap {
	uint64_t blocks, bytes; /* allocated */
	uint64_t live_blocks, live_bytes; /* not freed */
};

/* Adds a hit to the total of something in its stack. By calls, that is the time of the
 * calls in it that `begins` says are of this very hit; those around them have their own. */
void cp_cost_add_total(struct cp_cost *to, const struct cp_hit *hit, bool by_calls, bool begins);

struct cp_profile {
	const struct cp_record *record; /* borrowed */
	struct cp_profile_filter filter; /* strings borrowed */
	struct cp_choice *choice; /* of calls; owned; NULL: all count */
	CP_VEC(struct cp_profile_image) images;
	CP_VEC(struct cp_function) functions;
	CP_VEC(struct cp_frame) frames;
	CP_VEC(struct cp_hit) hits; /* in the order of first sample */
	uint32_t *location_frames; /* by location: its first frame; one more at the end */
	struct cp_cost *threads, *processes; /* by number in the recording */
	struct cp_cost total;
	struct cp_cost waiting; /* of threads that did not run; */
	struct cp_cost ready; /* of it, of those that would have */
	struct cp_cost truncated; /* in stacks that don't reach the root */
	struct cp_cost guessed; /* in stacks with a guessed frame */
	enum cp_profile_of of; /* not AUTO */
	bool by_calls; /* of time, and there are no samples, but calls: weights are the time in
			  traced calls, ticks calls */
	bool by_sums; /* of these, and there are no single calls, so no hits */
	const struct cp_unit *unit; /* static */
	CP_VEC(struct cp_hit_heap) heap; /* by hit, when it is of allocations */
	/* then: */
	bool live_unknown; /* watching paused, so what was freed is not known */
	struct cp_buf sampling; /* it is a sample, in words; or empty */
	bool heap_cut; /* from some time on not all are told */
	struct cp_heap *allocations; /* owned; what they were added up to (heap.h); or NULL */
	/* private */
	void *beside; /* what filter.beside has made, owned; NULL: nothing */
	CP_VEC(struct cp_call_node) call_nodes; /* stacks beyond those of the recording */
	struct cp_interner function_names, image_names, files;
	struct cp_map wait_sums; /* function, function of the C library: ns */
	uint32_t *walk;
	uint32_t no_stack; /* the frame of samples without any */
	uint32_t cut; /* the frame around stacks that do not reach the root */
	size_t depth_max;
};

/* Did anything pass the filter that costs are made of? */
static inline bool cp_profile_has_costs(const struct cp_profile *p)
{
	return p->total.ticks || p->total.weight;
}
/* Is it of allocations? */
static inline bool cp_profile_of_heap(const struct cp_profile *p)
{
	return p->of == CP_OF_BYTES || p->of == CP_OF_COUNT || p->of == CP_OF_LIVE;
}
/* Is it of single samples of time, in an order? */
static inline bool cp_profile_of_samples(const struct cp_profile *p)
{
	return p->of == CP_OF_TIME && !p->by_calls;
}
/* Is it a sample of a thread that did not run? */
static inline bool cp_sample_waits(const struct cp_record_sample *s)
{
	return s->flags & (CP_RECORD_SAMPLE_BLOCKED | CP_RECORD_SAMPLE_REPEAT);
}
/* ... that would have run? */
static inline bool cp_sample_is_ready(const struct cp_record_sample *s)
{
	return s->flags == CP_RECORD_SAMPLE_READY;
}

/* True when the filter lets `s` through. */
bool cp_profile_accepts(const struct cp_profile *p, const struct cp_record_sample *s);
/* True when the filter lets events of `thread` through, whenever they were. */
bool cp_profile_accepts_thread(const struct cp_profile *p, uint32_t thread);
/* True when the filter lets events of `thread` in `function` through, whenever they were. */
bool cp_profile_accepts_call(const struct cp_profile *p, uint32_t thread, uint32_t function);
/* True when the filter lets an event of memory through that is told just now, by a walk
 * (spans.h); whenever it is. */
bool cp_profile_accepts_memory(const struct cp_profile *p, uint32_t thread, uint32_t function);
/* The function that a location's address is in, whatever is inlined there. */
static inline uint32_t cp_profile_outermost(const struct cp_profile *p, uint32_t location)
{
	return p->frames.items[p->location_frames[location + 1] - 1].function;
}

/* The function that takes a lock or memory at a location: the outermost one there or, where
 * that only does so for others, the innermost inlined one that does not. */
uint32_t cp_profile_taker(const struct cp_profile *p, uint32_t location);

/* Numbers of the frames of `stack`, outermost first, inlined calls as frames
 * of their own. Never none: an empty stack is one frame "[no stack]". Good
 * until the next walk. */
const uint32_t *cp_profile_walk(const struct cp_profile *p, uint32_t stack, size_t *count_ret);

/* As cp_profile_walk(), with [truncated] around a stack that does not reach the root: for
 * formats that have no other word for it. */
const uint32_t *cp_profile_walk_marked(const struct cp_profile *p, uint32_t stack,
				       size_t *count_ret);
bool cp_profile_truncated(const struct cp_profile *p, uint32_t stack);

static inline const struct cp_function *cp_profile_function(const struct cp_profile *p,
							    uint32_t frame)
{
	return &p->functions.items[p->frames.items[frame].function];
}

/* A time of the recording, from its start. */
uint64_t cp_profile_ns(const struct cp_profile *p, uint64_t ts_ns);
const char *cp_profile_image_name(const struct cp_profile *p, const struct cp_function *f);
bool cp_profile_is_program(const struct cp_profile *p, const struct cp_profile_image *image);
/* The number of the process of `thread`; CP_RECORD_NONE when unknown. */
uint32_t cp_profile_process(const struct cp_profile *p, uint32_t thread);

#endif
