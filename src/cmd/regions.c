/* SPDX-License-Identifier: MIT
 *
 * Code is left out, files that are only read and are no objects, and devices, which may
 * mind being read. Of large mappings most pages were never touched, which the kernel says
 * (/proc/PID/pagemap): those are not read, for reading would make them. Since Linux 6.7 it
 * says where there are some (PAGEMAP_SCAN), before that page by page.
 */
#include "cmd/regions.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#define PAGE 4096u
#define PAGES 1024u /* at a time */
#define SCAN_MAX (UINT64_C(64) << 30) /* bytes; without PAGE_SCAN, of addresses */
#define MAPS_MAX (64u << 20)
#define THERE (UINT64_C(3) << 62) /* of a page, in memory or swapped out */

static CP_ERROR add(struct cp_regions *to, uint64_t start, uint64_t end, const char *name)
{
	struct cp_region r = { start, end, strdup(name) };

	if (r.name && cp_vec_push(&to->list, r))
		return NULL;
	free(r.name);
	return cp_error_nomem();
}

static bool is_object(const struct cp_inspected *in, const char *path)
{
	const struct cp_object *o;

	cp_vec_for_each(&in->objects.list, o)
		if (!strcmp(o->path, path))
			return true;
	return false;
}

static bool holds_pointers(const struct cp_inspected *in, const struct cp_mapping *m)
{
	if (!m->readable || m->executable || cp_starts_with(m->path, "/dev/") ||
	    cp_starts_with(m->path, "[v"))
		return false;
	return m->writable || !*m->path || *m->path == '[' ||
	       (!m->shared && is_object(in, m->path));
}

static CP_ERROR regions_of_process(const struct cp_inspected *in, struct cp_regions *ret)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_mapping *maps = NULL;
	struct cp_error *err = NULL;
	size_t count = 0, n;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)in->pid);
	CP_TRY(cp_file_read(AT_FDCWD, path, MAPS_MAX, &text));
	CP_TRY(cp_mappings_parse(text.bytes, text.size, &maps, &count));
	for (n = 0; !err && n < count; n++)
		if (holds_pointers(in, &maps[n]))
			err = add(ret, maps[n].start, maps[n].end, maps[n].path);
	cp_mappings_free(maps, count);
	return err;
}

static CP_ERROR regions_of_core(const struct cp_core *core, struct cp_regions *ret)
{
	const struct cp_core_mapping *m;
	const struct cp_core_file *f;
	const char *name;

	cp_vec_for_each(&core->mappings, m) {
		name = "";
		cp_vec_for_each(&core->files, f)
			if (m->start >= f->start && m->start < f->end)
				name = f->path;
		if (!m->executable)
			CP_TRY(add(ret, m->start, m->end, name));
	}
	return NULL;
}

CP_ERROR cp_regions_read(const struct cp_inspected *in, struct cp_regions *ret)
{
	return in->core ? regions_of_core(in->core, ret) : regions_of_process(in, ret);
}

void cp_regions_free(struct cp_regions *regions)
{
	struct cp_region *r;

	cp_vec_for_each(&regions->list, r)
		free(r->name);
	cp_vec_free(&regions->list);
}

const struct cp_region *cp_region_at(const struct cp_regions *regions, uint64_t address)
{
	const size_t n = cp_vec_partition(&regions->list, it, it->end <= address);

	if (n == regions->list.count || address < regions->list.items[n].start)
		return NULL;
	return &regions->list.items[n];
}

/* ---- reading all ---- */

/* <linux/fs.h> of Linux 6.7; Debian 12's is older. */
struct page_range {
	uint64_t start, end, categories;
};
struct page_scan {
	uint64_t size, flags, start, end, walk_end, ranges, count, max_pages;
	uint64_t inverted, all_of, any_of, told;
};
#define PAGE_SCAN _IOWR('f', 16, struct page_scan)
#define PAGE_PRESENT (UINT64_C(1) << 3)
#define PAGE_SWAPPED (UINT64_C(1) << 4)
#define PAGE_ZERO (UINT64_C(1) << 5)
#define RANGES 256

struct scan {
	const struct cp_inspected *in;
	int pagemap; /* -1: not told */
	bool asks; /* PAGE_SCAN goes */
	uint64_t left; /* bytes */
	uint64_t lacking; /* bytes that were more */
	uint8_t *bytes; /* of PAGES */
	void (*chunk)(void *ctx, uint64_t address, const uint8_t *bytes, size_t size);
	void *ctx;
};

/* Takes up to `size` bytes off what may still be looked at; how many. */
static uint64_t spend(struct scan *s, uint64_t size)
{
	const uint64_t got = size < s->left ? size : s->left;

	s->left -= got;
	s->lacking += size - got;
	return got;
}

static void read_range(struct scan *s, uint64_t start, uint64_t end)
{
	const struct cp_reader *memory = &s->in->memory;
	size_t size, got;

	for (; start < end; start += size) {
		size = end - start < (uint64_t)PAGES * PAGE ? (size_t)(end - start)
							    : (size_t)PAGES * PAGE;
		got = memory->read(memory->ctx, start, s->bytes, size);
		if (got)
			s->chunk(s->ctx, start, s->bytes, got);
	}
}

/* False: the kernel does not know how. */
static bool scan_by_ranges(struct scan *s, uint64_t start, uint64_t end)
{
	struct page_range ranges[RANGES];
	struct page_scan scan = {
		.size = sizeof(scan),
		.start = start,
		.end = end,
		.ranges = (uintptr_t)ranges,
		.count = RANGES,
		.inverted = PAGE_ZERO,
		.all_of = PAGE_ZERO,
		.any_of = PAGE_PRESENT | PAGE_SWAPPED,
		.told = PAGE_PRESENT,
	};
	int count, n;

	while (scan.start < end) {
		count = ioctl(s->pagemap, PAGE_SCAN, &scan);
		if (count < 0)
			return scan.start != start;
		for (n = 0; n < count && n < RANGES; n++)
			read_range(s, ranges[n].start,
				   ranges[n].start + spend(s, ranges[n].end - ranges[n].start));
		if (scan.walk_end <= scan.start)
			break;
		scan.start = scan.walk_end;
	}
	return true;
}

static void scan_by_pages(struct scan *s, uint64_t address, size_t count)
{
	uint64_t map[PAGES];
	ssize_t got;
	size_t n, run;
	bool there;

	got = pread64(s->pagemap, map, count * sizeof(*map),
		      (off64_t)(address / PAGE * sizeof(*map)));
	count = got > 0 ? (size_t)got / sizeof(*map) : 0;
	for (n = 0; n < count; n += run) {
		there = map[n] & THERE;
		for (run = 1; n + run < count && there == !!(map[n + run] & THERE);)
			run++;
		if (there)
			read_range(s, address + n * PAGE, address + (n + run) * PAGE);
	}
}

static void scan_region(struct scan *s, const struct cp_region *r)
{
	uint64_t end, at;

	if (s->asks && scan_by_ranges(s, r->start, r->end))
		return;
	s->asks = false;
	end = r->start + spend(s, r->end - r->start);
	if (s->pagemap < 0) {
		read_range(s, r->start, end);
		return;
	}
	for (at = r->start; at < end; at += (uint64_t)PAGES * PAGE)
		scan_by_pages(s, at,
			      (size_t)(end - at < (uint64_t)PAGES * PAGE ? (end - at) / PAGE
									 : PAGES));
}

static int by_size(const void *a, const void *b)
{
	const struct cp_region *const *x = a, *const *y = b;
	uint64_t m = (*x)->end - (*x)->start, n = (*y)->end - (*y)->start;

	return m != n ? m < n ? -1 : 1 : *x < *y ? -1 : *x > *y;
}

/* Pointers to all, the smallest first; NULL without memory. */
static const struct cp_region **order(const struct cp_regions *regions)
{
	const struct cp_region **list = calloc(regions->list.count + 1, sizeof(*list));
	size_t i;

	for (i = 0; list && i < regions->list.count; i++)
		list[i] = &regions->list.items[i];
	if (list)
		cp_sort(list, regions->list.count, sizeof(*list), by_size);
	return list;
}

uint64_t cp_regions_scan(const struct cp_inspected *in, const struct cp_regions *regions,
			 void (*chunk)(void *ctx, uint64_t address, const uint8_t *bytes,
				       size_t size),
			 void *ctx)
{
	char path[64];
	size_t n;
	CP_FREE const struct cp_region **list = order(regions);
	CP_FREE uint8_t *bytes = malloc((size_t)PAGES * PAGE);

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)in->pid);
	CP_CLOSE int pagemap = in->core ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	struct scan s = { .in = in,
			  .pagemap = pagemap,
			  .asks = pagemap >= 0,
			  .left = SCAN_MAX,
			  .bytes = bytes,
			  .chunk = chunk,
			  .ctx = ctx };

	for (n = 0; list && bytes && n < regions->list.count; n++)
		scan_region(&s, list[n]);
	return s.lacking;
}
