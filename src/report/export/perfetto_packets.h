/* SPDX-License-Identifier: MIT
 *
 * Packets and tracks of Perfetto's writer, which its parts share.
 */
#ifndef CP_REPORT_PERFETTO_PACKETS_H
#define CP_REPORT_PERFETTO_PACKETS_H

#include "report/events/annotations.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"

/* protobuf-c's, of what the build makes of perfetto.proto. */
typedef struct Cprof__Perfetto__TracePacket packet_t;

struct cp_perfetto {
	const struct cp_profile *p;
	struct cp_sink *sink;
	struct cp_annotations annotations;
	struct cp_heap heap; /* as far as its events were written */
	struct cp_map heap_tracks; /* of it that were begun, by their number */
	struct cp_interner names; /* of values */
	struct cp_buf text;
	bool *functions, *images; /* interned as event names and categories */
	bool *frame_names, *mappings, *frames, *stacks; /* likewise, for samples */
	bool started, failed;
};

/* Numbers of tracks, by number of the recording. */
static inline uint64_t cp_perfetto_thread(uint32_t thread)
{
	return (uint64_t)thread + 1;
}

static inline uint64_t cp_perfetto_process(uint32_t process)
{
	return (UINT64_C(1) << 32) + process;
}

void cp_perfetto_put(struct cp_perfetto *w, packet_t *packet);
/* Text of the program as UTF-8; good until the next one. */
char *cp_perfetto_clean(struct cp_perfetto *w, const char *raw);

/* A track of a process; of values when `counter`. */
void cp_perfetto_track(struct cp_perfetto *w, uint64_t uuid, uint64_t parent, const char *name,
		       bool counter);
/* A value on such a track. */
void cp_perfetto_value(struct cp_perfetto *w, uint64_t uuid, uint64_t ns, int64_t value);

#endif
