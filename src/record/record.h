/* SPDX-License-Identifier: MIT
 *
 * The recording: one self-contained file, appended in checksummed chunks.
 * This header is the data model, shared by writer and reader; the format is
 * in cprof-recording(5) and in format.h.
 *
 * Dictionary entries (processes, threads, images, locations, stacks) have
 * dense numbers from 0, given by the writer in the order of first use.
 * Times are CLOCK_MONOTONIC nanoseconds. Readers skip what they don't know.
 */
#ifndef CP_RECORD_H
#define CP_RECORD_H

#include "base/error.h"
#include "base/types.h"
#include "record/totals.h"

#define CP_RECORD_NONE UINT32_MAX /* "no such entry" for any number */
#define CP_RECORD_NO_KEY UINT64_MAX /* the resolver's image_key of a location of no image */

/* The kinds of events that a file holds; in its header, so that a person can tell
 * before handing it on. */
#define CP_RECORD_HAS_SAMPLES 1u
#define CP_RECORD_HAS_CALLS 2u
#define CP_RECORD_HAS_ARGUMENTS 4u /* values and strings of the program */
#define CP_RECORD_HAS_COVERAGE 8u
#define CP_RECORD_HAS_ANNOTATIONS 16u
#define CP_RECORD_HAS_EXCEPTIONS 32u
#define CP_RECORD_HAS_LOCKS 64u
#define CP_RECORD_HAS_ALLOCATIONS 128u
#define CP_RECORD_HAS_MAPS 256u
#define CP_RECORD_HAS_CALL_SUMS 512u /* calls, of which no events are kept */
#define CP_RECORD_HAS_SOURCE 1024u /* source files (enclosed.h) */
#define CP_RECORD_HAS_CODE 2048u /* code of functions */
/* Of these, what happened. */
#define CP_RECORD_EVENTS(holds) ((holds) & ~(CP_RECORD_HAS_SOURCE | CP_RECORD_HAS_CODE))

enum cp_record_clock {
	CP_RECORD_CLOCK_NONE,
	CP_RECORD_CLOCK_CPU,
	CP_RECORD_CLOCK_WALL,
	CP_RECORD_CLOCK_EVENT, /* no time: how often `event` was */
};

struct cp_record_info {
	uint32_t holds; /* CP_RECORD_HAS_* */
	const char *cprof_version;
	const char *host, *machine, *kernel, *boot_id;
	char *const *command; /* argv of CMD or of the process attached to, NULL-terminated */
	bool attached;
	int32_t pid;
	enum cp_record_clock clock;
	uint32_t hz;
	const char *event; /* "page-faults"; "" where samples are of time */
	uint64_t event_period; /* so many of it made a sample */
	/* How samples are taken ("ptrace", "perf", ...), and why not without stops, where that
	 * was to be decided; "": unknown, or none are. */
	const char *capture, *capture_reason;
#define CP_RECORD_CAPTURE_USER "perf, user code alone"
	const char *test; /* what the recording is of, for coverage by test; "": nothing was said */
	uint64_t start_ns; /* monotonic */
	uint64_t start_real_ns; /* real time at start_ns */
	uint32_t cpus;
	uint32_t resolution_ns; /* samples' times are rounded to it, weights without
				   losing any; 1,000 saves about 3 bytes a sample; 0: exact */
	char *const *merged; /* the recordings merged into this one, a line each; or NULL */
};
/* From the reader no string is NULL (unknown ones are ""), nor is `command`.
 * Where merged recordings differ, strings are "(several)", numbers 0. */

/* The same pid and start_ns again is the same process; its last name and exe
 * count. */
struct cp_record_process {
	int32_t pid, ns_pid, ppid; /* ns_pid == pid where they don't differ */
	const char *name; /* comm */
	const char *exe;
	const char *started_as; /* another name of `exe`, which it was executed by; or "" */
	uint64_t start_ns;
};

struct cp_record_thread {
	uint32_t process;
	int32_t tid, ns_tid;
	const char *name; /* last one wins: added again with the same process, tid and
			     start_ns (or start_ns 0) renames it */
	uint64_t start_ns;
};

struct cp_record_image {
	const char *path; /* "[vdso]", "[jit]", "[unknown]" for what is no file */
	const char *build_id; /* hex, or "" */
	const char *debug_path;
	/* From the reader: what all processes that executed it, or that are known to
	 * have done so by another name, were started as; else "". */
	const char *started_as;
};
/* Of a path without its directories, or the name by which it was started. */
const char *cp_record_image_name(const struct cp_record_image *image);

/* One function at a location: inlined ones innermost first. */
struct cp_record_frame {
	const char *function; /* demangled; NULL: unknown */
	const char *linkage; /* as in the symbol table */
	const char *file; /* NULL: unknown */
	uint32_t line, decl_line;
	bool inlined;
};

#define CP_RECORD_STACK_TRUNCATED 1u /* the walk did not reach the root */
#define CP_RECORD_LOC_GUESSED 1u
#define CP_RECORD_LOC_SIGNAL 2u /* the kernel's signal trampoline */
#define CP_RECORD_LOC_KERNEL 4u
#define CP_RECORD_LOC_ENTRY 8u /* a function that is entered: of what is inlined there nothing is */

/* A place in code: an address in an image (or of no image: JIT, unknown). */
struct cp_record_location {
	uint32_t image; /* CP_RECORD_NONE: none */
	uint64_t address; /* link-time address in the image, else run-time; already
				 stepped back into the call for return addresses */
	uint32_t flags; /* CP_RECORD_LOC_* */
	uint64_t function_start; /* link-time; 0 unknown */
	uint32_t frame_count;
	const struct cp_record_frame *frames;
};

/* Threads that did not run. */
#define CP_RECORD_SAMPLE_BLOCKED 1u
#define CP_RECORD_SAMPLE_REPEAT 2u /* the thread had not run since: the same stack again */
/* That alone, which readers before took for a thread that does not run: it waited for a CPU, or
 * for cprof that had stopped it. Earlier recordings have such as BLOCKED. */
#define CP_RECORD_SAMPLE_READY CP_RECORD_SAMPLE_REPEAT

struct cp_record_sample {
	uint64_t ts_ns;
	uint32_t thread;
	uint32_t stack;
	uint32_t count; /* ticks it stands for */
	uint64_t
		weight_ns; /* of an event: how often it was; else CPU time (clock cpu) or elapsed time (wall) it stands for */
	uint32_t flags; /* CP_RECORD_SAMPLE_* */
};

/* ---- writer ---- */

struct cp_record_writer;

/* Called on a thread of the writer's, once for each location, to name it.
 * It may be slow: samples reach the disk meanwhile, names follow.
 * `image_key` and `address` are as given to cp_record_image() and
 * cp_record_location(); fills frames through cp_record_name_*(). Not called
 * any more after an error. */
struct cp_record_names;
struct cp_record_code_builder;
struct cp_record_resolver {
	void (*resolve)(void *ctx, uint64_t image_key, uint64_t address,
			struct cp_record_names *names);
	void *ctx;
	/* Called at the end, once for each function whose code is kept (CP_RECORD_HAS_CODE):
	 * tells its instructions through cp_record_code_instruction(), if it has no more than
	 * `most` bytes. Answers how many bytes it has if that is more, else 0. NULL: none is
	 * kept. */
	uint64_t (*code)(void *ctx, uint64_t image_key, uint64_t address, uint64_t most,
			 struct cp_record_code_builder *builder);
};
/* To be called by `resolve`, innermost first; strings are copied. */
void cp_record_name_frame(struct cp_record_names *names, const struct cp_record_frame *frame);
void cp_record_name_start(struct cp_record_names *names, uint64_t function_start);

/* Starts a recording on `fd` (taken over, also when this fails; closed by
 * destroy; a file, pipe or socket). Strings of `info` are copied. `resolver`
 * (borrowed until destroy) may be NULL. */
CP_ERROR cp_record_writer_create(int fd, const struct cp_record_info *info,
				 const struct cp_record_resolver *resolver,
				 struct cp_record_writer **ret);
/* The same, followed by `tap` (tap.h); then `fd` may be -1: it is written nowhere. */
struct cp_record_tap;
CP_ERROR cp_record_writer_create_tapped(int fd, const struct cp_record_info *info,
					const struct cp_record_resolver *resolver,
					const struct cp_record_tap *tap,
					struct cp_record_writer **ret);

/* All of these answer CP_RECORD_NONE without memory, which they take, too. */
uint32_t cp_record_process(struct cp_record_writer *w, const struct cp_record_process *p);
uint32_t cp_record_thread(struct cp_record_writer *w, const struct cp_record_thread *t);
/* `key` identifies the image to the resolver. The same key again answers the
 * same number. */
uint32_t cp_record_image(struct cp_record_writer *w, uint64_t key,
			 const struct cp_record_image *image);
/* Interned by (image, address, flags). */
uint32_t cp_record_location(struct cp_record_writer *w, uint32_t image, uint64_t address,
			    uint32_t flags);
/* Leaf first. Interned. */
uint32_t cp_record_stack(struct cp_record_writer *w, const uint32_t *locations, size_t count,
			 uint32_t flags);
void cp_record_sample(struct cp_record_writer *w, const struct cp_record_sample *s);
void cp_record_totals(struct cp_record_writer *w, const struct cp_record_totals *t);
/* Seals the chunk under way and hands it to the writer's thread; called at
 * least once a second while anything happens. Waits for the disk only where
 * calls pile up. */
void cp_record_flush(struct cp_record_writer *w);
/* The first error so far (disk full, broken pipe), or NULL; borrowed. After
 * one nothing more is written; what was written is a valid recording. */
const struct cp_error *cp_record_error(struct cp_record_writer *w);
/* Bytes in the file so far. */
uint64_t cp_record_bytes(struct cp_record_writer *w);
/* Flushes, waits until all is named and written, marks the end, closes. NULL is
 * allowed. *err_ret (may be NULL) gets the first error. */
void cp_record_writer_destroy(struct cp_record_writer *w, struct cp_error **err_ret);

/* ---- reader ---- */

struct cp_record;

/* What was found missing or broken; a reader shows these, never hides them. */
struct cp_record_damage {
	bool no_end; /* not closed: cprof was killed, or still runs */
	uint64_t bad_chunks; /* checksum or content wrong */
	uint64_t missing_bytes; /* of a cut last chunk, at least */
	uint64_t dropped; /* events that referred to entries lost with a chunk */
	uint64_t lost; /* events in chunks that are missing, as far as can be known */
};

/* Reads a whole recording into memory ("-": standard input). Fails only when
 * there is nothing of a recording in it. */
CP_ERROR cp_record_load(const char *path, struct cp_record **ret);
/* True when the file begins as one does. */
bool cp_record_is(int fd);
void cp_record_destroy(struct cp_record *r);

/* All of these live as long as the recording. */
const struct cp_record_info *cp_record_info(const struct cp_record *r);
const struct cp_record_totals *cp_record_final(const struct cp_record *r);
const struct cp_record_damage *cp_record_damage(const struct cp_record *r);
size_t cp_record_process_count(const struct cp_record *r);
const struct cp_record_process *cp_record_get_process(const struct cp_record *r, uint32_t n);
size_t cp_record_thread_count(const struct cp_record *r);
const struct cp_record_thread *cp_record_get_thread(const struct cp_record *r, uint32_t n);
size_t cp_record_image_count(const struct cp_record *r);
const struct cp_record_image *cp_record_get_image(const struct cp_record *r, uint32_t n);
size_t cp_record_location_count(const struct cp_record *r);
const struct cp_record_location *cp_record_get_location(const struct cp_record *r, uint32_t n);
size_t cp_record_stack_count(const struct cp_record *r);
/* Locations leaf first. */
const uint32_t *cp_record_get_stack(const struct cp_record *r, uint32_t n, size_t *count_ret,
				    uint32_t *flags_ret);
/* In the order recorded; of merged recordings, one after the other. */
size_t cp_record_sample_count(const struct cp_record *r);
/* Until `each` returns false. What it is given is good until it returns. */
typedef bool (*cp_record_sample_fn)(void *ctx, const struct cp_record_sample *sample);
CP_ERROR cp_record_each_sample(const struct cp_record *r, cp_record_sample_fn each, void *ctx);
/* Has all in memory, as an array; without the first the second may be NULL. */
CP_ERROR cp_record_need_samples(const struct cp_record *r);
const struct cp_record_sample *cp_record_samples(const struct cp_record *r);
/* When the last of them was taken; 0: there is none. */
uint64_t cp_record_samples_end(const struct cp_record *r);

/* The recordings that this one was merged from; of one that was not, itself. */
struct cp_record_part {
	char id[33]; /* random when it was made, in hex */
	const struct cp_record_info *info;
	const struct cp_record_totals *totals;
	const struct cp_record_damage *damage;
};
size_t cp_record_part_count(const struct cp_record *r);
const struct cp_record_part *cp_record_get_part(const struct cp_record *r, uint32_t n);

#endif
