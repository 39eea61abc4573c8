/* SPDX-License-Identifier: MIT
 *
 * A made-up program and its samples, for tests of recordings: what was put in
 * is known, so all that comes out can be compared.
 */
#ifndef CP_TEST_RECORD_MODEL_H
#define CP_TEST_RECORD_MODEL_H

#include "base/buf.h"
#include "record/record.h"

#define MODEL_THREADS 6
#define MODEL_IMAGES 3
#define MODEL_LOCATIONS 200
#define MODEL_CHUNK 50 /* samples between two flushes */

struct model_stack {
	uint32_t locations[24];
	size_t count;
	uint32_t flags;
};

struct model {
	uint64_t seed;
	size_t count;
	struct cp_record_sample *samples; /* .stack is a place in `stacks` */
	struct model_stack *stacks; /* one a sample; many are alike */
};

/* Calls of the resolver, with the thread they came from. */
struct model_calls {
	size_t count[MODEL_LOCATIONS];
	size_t unknown, same_thread;
	unsigned long thread; /* that writes, set by model_write() */
};

extern const struct cp_record_info model_info;

void model_make(struct model *m, uint64_t seed, size_t samples);
void model_free(struct model *m);
/* Records the model into `fd` (taken over). `pace` (may be NULL) is called
 * after each flush. Returns the writer's first error. */
struct cp_error *model_write_to(const struct model *m, int fd, struct model_calls *calls,
				void (*pace)(struct cp_record_writer *w, size_t samples));
/* Makes, records, frees; fails the program when that fails. */
void model_write(int fd, uint64_t seed, size_t samples);

/* All about sample `n` of a recording, in words. */
void record_text(const struct cp_record *r, size_t n, struct cp_buf *out);

/* Is each sample of `r` one of the model's, in order? Prints the first that
 * is not. */
bool model_contains(const struct model *m, const struct cp_record *r);

/* A file without a name, and what is in it. */
int scratch_file(void);
struct cp_buf file_bytes(int fd);
/* The recording in `fd`, which stays open; NULL (printed) when there is none. */
struct cp_record *load_file(int fd);

#endif
