/* SPDX-License-Identifier: MIT
 *
 * A ring as a hostile program would fill it: the input is memory at 0x10000,
 * the root first. Each read of the root finds `head` moved a little, and every
 * third one all of it as it was.
 */
#include <stdint.h>
#include <string.h>

#include "probe/trace_ring.h"

#define BASE UINT64_C(0x10000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
	unsigned reads;
};

static size_t read_memory(void *ctx, uint64_t address, void *buffer, size_t size)
{
	struct memory *m = ctx;
	uint64_t at = address - BASE, head;
	size_t n = at < m->size ? m->size - (size_t)at : 0;

	n = n < size ? n : size;
	if (n)
		memcpy(buffer, m->data + at, n);
	if (at == 0 && n == sizeof(cprof_trace_root) && m->reads++ % 3) {
		memcpy(&head, (char *)buffer + offsetof(cprof_trace_root, head), sizeof(head));
		head += m->reads * 5;
		memcpy((char *)buffer + offsetof(cprof_trace_root, head), &head, sizeof(head));
	}
	return n;
}

static bool take(void *ctx, const cprof_trace_event *event)
{
	unsigned *taken = ctx;

	return ++*taken % 7 && event->type != 99;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size, 0 };
	const struct cp_reader reader = { read_memory, &memory };
	struct cp_trace_ring ring;
	unsigned taken = 0, i;

	if (!cp_trace_ring_init(&ring, &reader, BASE, size % 2))
		return 0;
	for (i = 0; i < 12; i++)
		cp_trace_ring_read(&ring, &reader, 1, i > 8, take, &taken);
	return 0;
}
