/* SPDX-License-Identifier: MIT
 *
 * A thread that asks the resolver for the names of locations. The first
 * question about a large image can take seconds, while what was sampled must
 * reach the disk; so the writer waits for names a little, and no longer.
 */
#ifndef CP_RECORD_NAMER_H
#define CP_RECORD_NAMER_H

#include <pthread.h>

#include "base/vec.h"
#include "record/record.h"

/* An answer: what the resolver said of a location. */
struct cp_record_names {
	uint32_t location;
	uint64_t start;
	CP_VEC(struct cp_record_frame) frames; /* innermost first; strings owned */
	bool no_memory;
};

struct cp_record_question {
	uint32_t location;
	uint64_t key, address;
	bool entry; /* CP_RECORD_LOC_ENTRY */
};

struct cp_record_answers {
	CP_VEC(struct cp_record_names) list;
};

struct cp_record_namer {
	struct cp_record_resolver resolver;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t asked, answered;
	CP_VEC(struct cp_record_question) questions;
	size_t next; /* question */
	struct cp_record_answers answers; /* not collected yet */
	size_t open; /* questions without an answer */
	bool stopping, running;
};

/* Without a resolver every question is answered with no names. */
CP_ERROR cp_record_namer_start(struct cp_record_namer *n,
			       const struct cp_record_resolver *resolver);
/* Leaves out what was not asked yet. */
void cp_record_namer_stop(struct cp_record_namer *n);
/* False without memory. */
bool cp_record_namer_ask(struct cp_record_namer *n, const struct cp_record_question *q);
/* Forgets what was asked and not begun to be answered. */
void cp_record_namer_drop(struct cp_record_namer *n);
/* Waits until all is answered, but no longer than this, and takes the answers
 * so far, in the order of the questions. */
struct cp_record_answers cp_record_namer_collect(struct cp_record_namer *n, uint64_t wait_ns);
void cp_record_names_free(struct cp_record_names *names);
void cp_record_answers_free(struct cp_record_answers *answers);

#endif
