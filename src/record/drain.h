/* SPDX-License-Identifier: MIT
 *
 * The writer's own thread: takes batches from a queue, has their new
 * locations named, encodes and writes them. Handing a batch over waits for
 * none of that, unless calls pile up.
 *
 *   recording thread --batch--> cprof-record --chunk--> file
 *                                |        ^
 *                            question   answer
 *                                v        |
 *                                cprof-names --> resolver
 *
 * A location whose names don't come in time is written without, and again
 * once they are there.
 */
#ifndef CP_RECORD_DRAIN_H
#define CP_RECORD_DRAIN_H

#include <pthread.h>

#include "record/batch.h"
#include "record/encode.h"
#include "record/namer.h"

struct cp_record_drain {
	struct cp_record_preamble preamble;
	struct cp_buf info;
	struct cp_record_sink sink;
	struct cp_record_encoder encoder;
	struct cp_record_namer namer;
	size_t unnamed; /* locations that the namer was asked for */
	CP_VEC(uint64_t) image_keys; /* by number, of images that have locations; else 0 */
	struct cp_record_totals totals; /* the last ones */
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake, taken;
	struct cp_record_batch *head, *tail;
	size_t length; /* of the queue */
	size_t samples, annotations, call_bytes; /* in it */
	size_t call_bytes_most;
	bool stuck; /* there was no room for calls for long, and nothing was taken since */
	bool closing;
	/* Room of events that were written, for those to come: fresh pages cost more than what is
	 * written there. */
	CP_VEC(struct cp_record_heap) spare[2];
};

/* Takes `fd` over, also when it fails. */
CP_ERROR cp_record_drain_start(struct cp_record_drain *d, int fd, const struct cp_record_info *info,
			       const struct cp_record_resolver *resolver,
			       const struct cp_record_tap *tap);
/* Room for events of the heap, for a batch that has none; left as it is where there is none
 * to spare. */
void cp_record_drain_room(struct cp_record_drain *d, struct cp_record_batch *batch);
struct cp_record_lost {
	uint64_t samples, calls, annotations;
	uint64_t recorded; /* of annotations: those that a program recorded */
};
/* Takes `batch`. What there is no room for is left out and returned: samples
 * and annotations at once, calls after waiting for room. */
struct cp_record_lost cp_record_drain_put(struct cp_record_drain *d, struct cp_record_batch *batch);
/* Writes what is left, ends the recording, ends the thread. Returns the first
 * error. */
struct cp_error *cp_record_drain_stop(struct cp_record_drain *d);

#endif
