/* SPDX-License-Identifier: MIT */
#include "report/export/perfetto_packets.h"

#include "perfetto.pb-c.h"
#include "report/look/sink.h"
#include "report/look/table.h"

#define PACKET_TAG (1u << 3 | 2 /* length-delimited */) /* field 1 of a Trace */
#define SEQUENCE 1
#define STATE_CLEARED 1u
#define NEEDS_STATE 2u

void cp_perfetto_put(struct cp_perfetto *w, packet_t *packet)
{
	size_t size;
	char *bytes;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags = w->started ? NEEDS_STATE : STATE_CLEARED;
	w->started = true;
	size = protobuf_c_message_get_packed_size(&packet->base);
	cp_buf_uleb(&w->sink->buf, PACKET_TAG);
	cp_buf_uleb(&w->sink->buf, size);
	bytes = cp_buf_take(&w->sink->buf, size);
	if (!bytes) {
		w->failed = true;
		return;
	}
	protobuf_c_message_pack(&packet->base, (uint8_t *)bytes);
	cp_sink_spill(w->sink);
}

char *cp_perfetto_clean(struct cp_perfetto *w, const char *raw)
{
	cp_buf_clear(&w->text);
	cp_add_name(&w->text, raw);
	w->failed |= w->text.failed;
	return w->text.bytes && !w->text.failed ? w->text.bytes : (char *)(uintptr_t) "";
}

/* ---- tracks of processes ---- */

void cp_perfetto_track(struct cp_perfetto *w, uint64_t uuid, uint64_t parent, const char *name,
		       bool counter)
{
	Cprof__Perfetto__CounterDescriptor counts = CPROF__PERFETTO__COUNTER_DESCRIPTOR__INIT;
	Cprof__Perfetto__TrackDescriptor track = CPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	track.has_uuid = track.has_parent_uuid = true;
	track.uuid = uuid;
	track.parent_uuid = parent;
	track.name = cp_perfetto_clean(w, name);
	track.counter = counter ? &counts : NULL;
	packet.track_descriptor = &track;
	cp_perfetto_put(w, &packet);
}

void cp_perfetto_value(struct cp_perfetto *w, uint64_t uuid, uint64_t ns, int64_t value)
{
	Cprof__Perfetto__TrackEvent event = CPROF__PERFETTO__TRACK_EVENT__INIT;
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	event.has_type = event.has_track_uuid = event.has_counter_value = true;
	event.type = CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event.track_uuid = uuid;
	event.counter_value = value;
	packet.has_timestamp = true;
	packet.timestamp = ns;
	packet.track_event = &event;
	cp_perfetto_put(w, &packet);
}
