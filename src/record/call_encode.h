/* SPDX-License-Identifier: MIT
 *
 * Calls of the chunk under way, and how they are written. What readers need
 * of it is here, too.
 */
#ifndef CP_RECORD_CALL_ENCODE_H
#define CP_RECORD_CALL_ENCODE_H

#include "record/call_state.h"
#include "record/format.h"

enum {
	CP_CALL_TS,
	CP_CALL_HOW, /* see cp_record_call_how() */
	CP_CALL_THREAD,
	CP_CALL_DEPTH, /* less the expected one, zigzag */
	CP_CALL_FUNCTION, /* + 1; 0: of the call that is left */
	CP_CALL_LAYOUT, /* of the values, + 1; 0: no values */
	CP_CALL_EXTRA, /* kinds with a stack: stack + 1, LEAVE, UNWIND: uncertain_ns, TAIL_CALL:
			  target + 1, uncertain_ns << 32, DISARMED: count,
			  CATCH: clause + 1 */
	CP_CALL_DURATION, /* less the time since its enter; if that isn't known, as it is */
	CP_CALL_OVERHEAD, /* ENTER: caller + 1, or the signal, by its flags */
	CP_CALL_CPU,
	CP_CALL_COLUMNS
};

/* kind | flags << 3; above the flags the kind's other bits, in a WIDE section. */
#define CP_CALL_KIND_BITS 3
#define CP_CALL_KINDS_NARROW (1u << CP_CALL_KIND_BITS)
#define CP_CALL_FLAG_BITS 8
static inline uint64_t cp_record_call_how(unsigned kind, unsigned flags)
{
	return (kind & (CP_CALL_KINDS_NARROW - 1)) | (uint64_t)flags << CP_CALL_KIND_BITS |
	       (uint64_t)(kind >> CP_CALL_KIND_BITS) << (CP_CALL_KIND_BITS + CP_CALL_FLAG_BITS);
}

static inline uint64_t cp_record_call_kind(uint64_t how)
{
	return (how & (CP_CALL_KINDS_NARROW - 1)) | how >> (CP_CALL_KIND_BITS + CP_CALL_FLAG_BITS)
								    << CP_CALL_KIND_BITS;
}

/* A node of a layout is four numbers. */
enum {
	CP_NODE_SHAPE, /* row of the shapes */
	CP_NODE_COUNT, /* of its items */
	CP_NODE_FLAGS, /* CP_NODE_HAS_* */
	CP_NODE_REPEATS,
	CP_NODE_WIDTH
};
#define CP_NODE_CUT 1u
#define CP_NODE_HAS_ADDRESS 2u
#define CP_NODE_HAS_SYMBOL 4u
#define CP_NODE_ENTRY 8u /* of a map: a key with its value, or all of them */

#define CP_RECORD_VALUES_MAX 4096 /* nodes of an event's values; beyond: "depth" */
#define CP_RECORD_VALUE_DEPTH 32 /* levels of items; beyond: "depth" */
#define CP_RECORD_VALUES_TEXT ((size_t)1 << 20) /* bytes of its texts; beyond: "depth" */

/* Does a value of this kind have items? */
bool cp_record_has_items(unsigned kind);
/* Numbers that are written for the content of a value of this kind, without
 * address and symbol: 0 to 2. A text is one: its number. */
unsigned cp_record_value_numbers(unsigned kind);
bool cp_record_is_text(unsigned kind);

/* Values of the same layout; the numbers of one after those of another. */
struct cp_record_layout {
	CP_VEC(uint64_t) data;
	size_t first_node, nodes;
	uint32_t roots, roles; /* 1: the first is the result; 2 for each of the last that changed */
	uint32_t width; /* numbers of one event */
};

struct cp_record_encoder;

struct cp_record_calls {
	CP_VEC(uint64_t) columns[CP_CALL_COLUMNS];
	size_t count;
	uint32_t part;
	bool wide; /* some event's kind is not one of the first */
	struct cp_record_call_state state;
	struct cp_interner layout_keys, texts;
	CP_VEC(struct cp_record_layout) layouts;
	CP_VEC(uint64_t) nodes; /* of all layouts */
	/* of the event being encoded */
	CP_VEC(uint64_t) key; /* roots, roles, then the nodes */
	CP_VEC(uint64_t) numbers;
	CP_VEC(const cprof_value *) queue;
	CP_VEC(uint8_t) depths; /* of the queue */
	size_t text_left;
	uint64_t last_layout; /* + 1 of the last event's values; 0: it has none */
	uint64_t heap_layouts[3]; /* + 1: ALLOCATED, MOVED, FREED; 0: none in this chunk yet */
};

void cp_record_calls_free(struct cp_record_encoder *e);
/* The call's thread, function, target and stack must exist. */
void cp_record_encode_call(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_call *call);
/* The section for the chunk under way, into e->payload. */
void cp_record_put_calls(struct cp_record_encoder *e);

#endif
