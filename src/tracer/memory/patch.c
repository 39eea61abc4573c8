/* SPDX-License-Identifier: MIT
 *
 * Breakpoints into text and out of it, some pages at a time.
 *
 * Other threads run meanwhile. Each breakpoint is written as one unit (a byte,
 * or an aligned word), and what lies between two of them is written with the
 * value it has, so that at no time any thread sees anything but the old
 * instruction or the new one. Where a page holds just a few changes they are
 * written alone: a page that the program itself writes to is then not put back
 * to what it was when it was read.
 */
#include "tracer/memory/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tracer/memory/space.h"

#define PAGE UINT64_C(4096)
#define FEW 4
#define PAGES 16 /* at once, of those that hold more */

static int by_address(const void *a, const void *b)
{
	const struct patch *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static size_t trap_size(void)
{
	size_t size;

	cp_trap_code(cp_arch_host(), &size);
	return size;
}

/* Applies the patches of a run of pages; `size` bytes each. */
static size_t patch_run(const struct space *space, struct patch *patches, size_t count, size_t size)
{
	uint64_t start = patches[0].address;
	size_t length = patches[count - 1].address + size - start, i, done = 0;
	CP_FREE uint8_t *text = malloc(length); /* more than some stacks have */

	if (!text || !space_read(space, start, text, length))
		return 0;
	for (i = 0; i < count; i++) {
		struct patch *p = &patches[i];
		uint8_t *at = text + (p->address - start);

		if (i && p->address == p[-1].address) { /* two sites at one address */
			p->done = p[-1].done;
			continue;
		}
		p->done = !memcmp(at, p->expect, size);
		if (!p->done)
			continue;
		memcpy(at, p->bytes, size);
		if (count <= FEW)
			p->done = space_write(space, p->address, p->bytes, size);
		done += p->done;
	}
	if (count <= FEW || !done || space_write(space, start, text, length))
		return done;
	for (i = 0; i < count; i++)
		patches[i].done = false;
	return 0;
}

/* How many of the patches, by address, are in the same page as the first. */
static size_t in_page(const struct patch *patches, size_t count)
{
	size_t n = 1;

	while (n < count && patches[n].address / PAGE == patches[0].address / PAGE)
		n++;
	return n;
}

/* How many of them are patched together. */
static size_t in_run(const struct patch *patches, size_t count)
{
	uint64_t page = patches[0].address / PAGE;
	size_t n = in_page(patches, count), more, pages;

	for (pages = 1; n > FEW && n < count && pages < PAGES; pages++, n += more) {
		if (patches[n].address / PAGE != page + pages)
			break;
		more = in_page(patches + n, count - n);
		if (more <= FEW)
			break;
	}
	return n;
}

size_t patch_apply(const struct space *space, struct patch *patches, size_t count)
{
	size_t first, i, n, done = 0, size = trap_size();

	if (!count)
		return 0;
	for (i = 1; i < count && patches[i - 1].address <= patches[i].address; i++)
		;
	if (i < count)
		qsort(patches, count, sizeof(*patches), by_address);
	for (first = 0; first < count; first += n) {
		size_t some;

		n = in_run(patches + first, count - first);
		some = patch_run(space, patches + first, n, size);
		/* One of the pages may be none. */
		if (!some && in_page(patches + first, n) != n) {
			n = in_page(patches + first, n);
			some = patch_run(space, patches + first, n, size);
		}
		done += some;
	}
	return done;
}
