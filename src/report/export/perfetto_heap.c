/* SPDX-License-Identifier: MIT
 *
 * The heap as Perfetto has it: counters of each process, what it has allocated and
 * not freed, and what its allocator has from the kernel.
 */
#include "report/export/perfetto_heap.h"

#include "report/export/perfetto_packets.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"

/* Added to twice the number of a process. */
#define HEAP_UUID (UINT64_C(5) << 32)

struct cp_error *cp_perfetto_heap(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct cp_perfetto *w = ctx;
	uint32_t process = cp_profile_process(w->p, thread);
	bool held = call->kind == CP_RECORD_HEAP_SIZE;
	uint64_t uuid = HEAP_UUID + 2 * (uint64_t)process + held;

	CP_TRY(cp_heap_follow(&w->heap, thread, function, call));
	if (!cp_profile_accepts_thread(w->p, thread))
		return NULL;
	if (!cp_map_get(&w->heap_tracks, uuid)) {
		cp_perfetto_track(w, uuid, cp_perfetto_process(process),
				  held ? "heap held" : "heap in use", true);
		if (!cp_map_put(&w->heap_tracks, uuid, 1))
			return cp_error_nomem();
	}
	cp_perfetto_value(w, uuid, cp_profile_ns(w->p, call->ts_ns),
			  (int64_t)(held ? cp_heap_size(call) : cp_heap_in_use(&w->heap, process)));
	return w->failed ? cp_error_nomem() : NULL;
}
