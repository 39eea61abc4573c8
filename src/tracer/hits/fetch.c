/* SPDX-License-Identifier: MIT
 *
 * What the controller wants to have read at a hit.
 */
#include "tracer/hits/fetch.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "tracer/memory/remote.h"

uint32_t fetch_vector(pid_t tid, struct cp_hit_vector *to)
{
	uint8_t fp[CP_ARCH_FP_MAX];
	struct iovec v = { fp, sizeof(fp) };

	if (ptrace(PTRACE_GETREGSET, tid, (long)cp_arch_fp_note(), &v))
		return 0;
	cp_arch_fp_values(fp, v.iov_len, to->v, to->x87);
	return sizeof(*to);
}

/* ---- first arguments ---- */

void fetch_keep_first(struct thread *t, uint64_t sp, uint64_t value)
{
	while (t->first_count && t->firsts[t->first_count - 1].sp <= sp)
		t->first_count--;
	if (t->first_count == THREAD_FIRSTS)
		memmove(t->firsts, t->firsts + 1, --t->first_count * sizeof(t->firsts[0]));
	t->firsts[t->first_count].sp = sp;
	t->firsts[t->first_count++].value = value;
}

/* The first argument of the call whose stack pointer at the entry was `sp`; 0: it was
 * not kept. */
static uint64_t kept_first(const struct thread *t, uint64_t sp)
{
	uint32_t i;

	for (i = t->first_count; i; i--)
		if (t->firsts[i - 1].sp == sp)
			return t->firsts[i - 1].value;
	return 0;
}

/* ---- where fetches read ---- */

static uint64_t kept_at(const struct at *at, const struct site *site)
{
	bool returned = site->flags & CP_SITE_RETURN;

	return kept_first(at->t, at->sp - (returned ? cp_arch_host()->ret_size : 0));
}

/* The address that a fetch reads at; 0: its pointer was not read. */
static uint64_t fetch_address(const struct at *at, const struct site *site,
			      const struct cp_fetch *f, struct cp_fetched *const *blocks)
{
	const struct cp_fetched *block;
	uint64_t pointer;

	if (f->flags & CP_FETCH_KEPT) {
		pointer = kept_at(at, site);
	} else if (f->from < CP_FETCH_BLOCK) {
		pointer = at->regs.r[f->from];
	} else {
		bool beside = f->flags & CP_FETCH_BESIDE;
		uint32_t where = beside ? 0 : f->at;

		block = blocks[f->from - CP_FETCH_BLOCK];
		if (block->size < where + sizeof(pointer))
			return 0;
		memcpy(&pointer, (const uint8_t *)(block + 1) + where, sizeof(pointer));
		pointer += beside ? blocks[f->at]->address : 0;
	}
	return pointer ? pointer + (uint64_t)(int64_t)f->offset : 0;
}

static uint32_t fetched_size(const struct cp_fetch *f, const struct cp_fetched *block)
{
	const uint8_t *end;

	if (!(f->flags & CP_FETCH_STRING))
		return block->size;
	end = memchr(block + 1, 0, block->size);
	return end ? (uint32_t)(end - (const uint8_t *)(block + 1)) + 1 : block->size;
}

/* Reads the fetches of one level, from *next on, and with the first of them a return
 * address. */
static void fetch_level(const struct at *at, const struct site *site,
			const struct cp_fetch *fetches, size_t *next, struct cp_fetched **blocks,
			struct slot_read caller)
{
	size_t count = site->fetch_count;
	struct iovec to[SITE_FETCHES + 1], from[SITE_FETCHES + 1];
	uint32_t got[SITE_FETCHES + 1] = { 0 };
	size_t which[SITE_FETCHES + 1], n = 0, i;
	unsigned level = *next < count ? fetches[*next].level : 0;

	if (caller.to) {
		which[n] = SIZE_MAX;
		to[n] = (struct iovec){ caller.to, sizeof(*caller.to) };
		from[n++] = (struct iovec){ (void *)(uintptr_t)caller.address, sizeof(*caller.to) };
	}
	for (; *next < count && fetches[*next].level == level && n < SITE_FETCHES; (*next)++) {
		struct cp_fetched *b = blocks[*next];

		b->address = fetch_address(at, site, &fetches[*next], blocks);
		if (b->address < 4096 || !fetches[*next].size)
			continue;
		which[n] = *next;
		to[n] = (struct iovec){ b + 1, fetches[*next].size };
		from[n++] = (struct iovec){ (void *)(uintptr_t)b->address, fetches[*next].size };
	}
	remote_read(at->space, at->t->tid, to, from, got, n);
	for (i = 0; i < n; i++) {
		if (which[i] == SIZE_MAX)
			continue;
		blocks[which[i]]->size = got[i];
		blocks[which[i]]->size = fetched_size(&fetches[which[i]], blocks[which[i]]);
	}
}

uint32_t fetch(const struct at *at, const struct site *site, uint8_t *to, struct slot_read caller)
{
	const struct cp_fetch *fetches =
		site->fetch_count ? &at->space->table->fetches.items[site->first_fetch] : NULL;
	struct cp_fetched *blocks[SITE_FETCHES];
	size_t i, next = 0, count = site->fetch_count;
	uint8_t *end = to;

	for (i = 0; i < count; i++) {
		blocks[i] = (struct cp_fetched *)end;
		*blocks[i] = (struct cp_fetched){ .index = (uint32_t)i };
		end += sizeof(*blocks[i]) + cp_align8(fetches[i].size);
	}
	do {
		fetch_level(at, site, fetches, &next, blocks, caller);
		caller.to = NULL;
	} while (next < count);
	for (end = to, i = 0; i < count; i++) {
		size_t size = sizeof(*blocks[i]) + cp_align8(blocks[i]->size);

		memmove(end, blocks[i], size);
		end += size;
	}
	return (uint32_t)(end - to);
}
