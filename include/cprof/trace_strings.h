/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_strings.h - strings that stay. Included by cprof/trace_impl.h.
 *
 * A hash table with open addressing, doubled when half full; the strings are
 * cut out of chunks of mapped memory and never move. Every step leaves a table
 * that a child of fork() can go on with; its lock is wiped with the page.
 */
#ifndef CPROF_TRACE_STRINGS_H
#define CPROF_TRACE_STRINGS_H

#include <cprof/trace_impl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size of a table is in its first entry, as a pointer that many bytes
 * after NULL. */
CPROF_TRACE_INLINE_ uint64_t cprof_trace_table_size_(const char *const *table)
{
	uint64_t size = 0;

	if (table)
		(void)memcpy(&size, table, sizeof(size));
	return size;
}

/* Where `s` is in the table, or belongs. */
CPROF_TRACE_SLOW_ const char **cprof_trace_string_place_(const char **table, const char *s)
{
	uint64_t hash = UINT64_C(14695981039346656037), mask = cprof_trace_table_size_(table) - 1;
	const char *c;

	for (c = s; *c; c++)
		hash = (hash ^ CPROF_TRACE_CAST_(unsigned char, *c)) * UINT64_C(1099511628211);
	hash ^= hash >> 32;
	while (table[1 + (hash & mask)] && strcmp(table[1 + (hash & mask)], s) != 0)
		hash++;
	return &table[1 + (hash & mask)];
}

/* A table of `size` with what is in `old`; NULL without memory. */
CPROF_TRACE_SLOW_ const char **cprof_trace_table_grow_(const char *const *old, uint64_t size)
{
	void *memory = cprof_trace_pages_((size + 1) * sizeof(*old));
	const char **table = CPROF_TRACE_CAST_(const char **, memory);
	uint64_t i;

	if (!table)
		return CPROF_TRACE_NULL_;
	(void)memcpy(memory, &size, sizeof(size));
	for (i = 0; i < cprof_trace_table_size_(old); i++)
		if (old[1 + i])
			*cprof_trace_string_place_(table, old[1 + i]) = old[1 + i];
	return table;
}

/* A copy of `n` bytes; NULL without memory. */
CPROF_TRACE_SLOW_ const char *cprof_trace_string_copy_(const char *s, size_t n)
{
	struct cprof_trace_state_ *state = &cprof_trace_state_v1;
	char *copy;

	if (n > state->chunk_left) {
		size_t size = n > 65536 ? (n + 4095) & ~CPROF_TRACE_CAST_(size_t, 4095) : 65536;
		void *chunk = cprof_trace_pages_(size);

		if (!chunk)
			return CPROF_TRACE_NULL_;
		__atomic_store_n(&state->chunk_left, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&state->chunk, CPROF_TRACE_CAST_(char *, chunk), __ATOMIC_SEQ_CST);
		__atomic_store_n(&state->chunk_left, size, __ATOMIC_SEQ_CST);
	}
	/* Taken first: a child forked just here wastes room, and nothing else. */
	copy = state->chunk;
	__atomic_store_n(&state->chunk_left, state->chunk_left - n, __ATOMIC_SEQ_CST);
	__atomic_store_n(&state->chunk, copy + n, __ATOMIC_SEQ_CST);
	(void)memcpy(copy, s, n);
	return copy;
}

CPROF_TRACE_SLOW_ const char *cprof_trace_intern_locked_(const char *s)
{
	struct cprof_trace_state_ *state = &cprof_trace_state_v1;
	const char **table = state->strings, **place, *copy;
	uint64_t size = cprof_trace_table_size_(table);

	if (state->used * 2 >= size) {
		table = cprof_trace_table_grow_(state->strings, size ? size * 2 : 1024);
		if (!table)
			return CPROF_TRACE_NULL_;
		if (state->strings) {
			void *old = state->strings;

			__atomic_store_n(&state->strings, table, __ATOMIC_SEQ_CST);
			(void)cprof_trace_munmap_(old, (size + 1) * sizeof(*table));
		} else {
			__atomic_store_n(&state->strings, table, __ATOMIC_SEQ_CST);
		}
	}
	place = cprof_trace_string_place_(table, s);
	if (*place)
		return *place;
	copy = cprof_trace_string_copy_(s, strlen(s) + 1);
	if (!copy)
		return CPROF_TRACE_NULL_;
	state->used++;
	__atomic_store_n(place, copy, __ATOMIC_SEQ_CST);
	return copy;
}

CPROF_TRACE_SLOW_ const char *cprof_trace_intern(const char *s)
{
	struct cprof_trace_page_ *page = cprof_trace_page_get_();
	uint32_t *lock = page ? &page->lock : &cprof_trace_state_v1.lock;
	const char *result;

	if (!s)
		return CPROF_TRACE_NULL_;
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		(void)cprof_trace_syscall_(SYS_sched_yield);
	result = cprof_trace_intern_locked_(s);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	return result;
}

#ifdef __cplusplus
}
#endif
#endif
