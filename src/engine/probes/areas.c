/* SPDX-License-Identifier: MIT
 *
 * Room for slots in a process, near an image.
 *
 *      ... │ free │ area │  gap  │ image │ ...
 *                    └ within 2 GiB of all of the image: slots hold
 *                      instructions with operands relative to their place
 *
 * Areas stay mapped when cprof leaves. The next one takes those that were left a while
 * ago.
 */
#include "engine/probes/areas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/probes/roles.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"
#include "link/map.h"

#define PAGE UINT64_C(4096)
#define LOWEST UINT64_C(0x10000) /* mmap_min_addr */
/* What is left free behind the heap and before the stack, which grow into their gaps. A
 * program that has no heap yet gets one up to 1 GiB behind its data (32 MiB before Linux
 * 5.18), and /proc/PID/stat says where. */
#define HEAP_ROOM (UINT64_C(256) << 20)
#define HEAP_AWAY (UINT64_C(32) << 20)
#define STACK_ROOM (UINT64_C(64) << 20)
#define TRIES 16

/* The mappings as they are now, with areas that came since they were last read. Owned;
 * NULL, with a count of 0, when they can't be read. */
static struct cp_mapping *mappings_now(const cprof_process *p, size_t *count_ret)
{
	struct cp_mapping *maps = NULL;
	struct cp_buf text = { 0 };
	struct cp_error *err = NULL;

	*count_ret = 0;
	if (engine_read_maps(p, &text))
		err = cp_mappings_parse(text.bytes, text.size, &maps, count_ret);
	cp_buf_free(&text);
	cp_error_free(err);
	return maps;
}

/* How old what was read of the mappings may be for a first try: nothing is mapped over
 * what came since, it is refused. */
#define MAPS_OLD_NS (10 * CP_NS_PER_MS)

/* Those that were read a moment ago; else as they are now. */
static struct cp_mapping *mappings_lately(const cprof_process *p, size_t *count_ret)
{
	struct cp_mapping *maps = NULL;

	*count_ret = 0;
	if (p->maps_read && cp_now() - p->maps_ns < MAPS_OLD_NS)
		cp_error_free(cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, count_ret));
	return maps ? maps : mappings_now(p, count_ret);
}

bool engine_area_image_stands(const cprof_image *image)
{
	size_t count, i = 0;
	struct cp_mapping *maps = mappings_now(image->process, &count);
	bool stands;

	while (i < count && maps[i].end <= image->start)
		i++;
	stands = i < count && maps[i].start <= image->start &&
		 !strcmp(maps[i].path, image->assembly->path);
	cp_mappings_free(maps, count);
	return stands;
}

/* ---- a place ---- */

/* The nearest place for `size` bytes in a gap, or 0. */
static uint64_t place_in(struct engine_gap gap, uint64_t size, uint64_t low, uint64_t high)
{
	uint64_t reach = cp_arch_host()->reach, at;

	if (gap.end <= gap.start || gap.end - gap.start < size)
		return 0;
	at = gap.end <= low ? gap.end - size : gap.start;
	if (at < low ? high - at > reach : at + size - low > reach)
		return 0;
	return at;
}

/* Do the program's data end with the `n`th mapping? */
static bool ends_program(const cprof_process *p, const struct cp_mapping *maps, size_t n)
{
	if (n && !*maps[n].path && maps[n - 1].end == maps[n].start)
		n--; /* data that are not in the file */
	return p->exe && !strcmp(maps[n].path, p->exe);
}

/* Is the gap before the `n`th mapping the one in which a heap will begin? */
static bool is_for_heap(const cprof_process *p, const struct cp_mapping *maps, size_t count,
			size_t n)
{
	return n && ends_program(p, maps, n - 1) &&
	       (n == count || strcmp(maps[n].path, "[heap]") != 0);
}

/* As what is mapped for detours, or for slots. */
static bool is_code_without_file(const struct cp_mapping *m)
{
	return m->executable && !m->writable && !m->shared && !m->inode && !*m->path;
}

/* The gap before the `n`th mapping. */
static struct engine_gap gap_before(const cprof_process *p, const struct cp_mapping *maps,
				    size_t count, size_t n)
{
	const struct cp_mapping *before = n ? &maps[n - 1] : NULL;
	const struct cp_mapping *after = n < count ? &maps[n] : NULL;
	uint64_t end = cp_arch_host()->user_end;
	struct engine_gap gap = { before ? before->end + PAGE : LOWEST,
				  after ? after->start - PAGE : end, 0, false };
	size_t next = n;

	if (before && !strcmp(before->path, "[heap]"))
		gap.start += HEAP_ROOM;
	else if (is_for_heap(p, maps, count, n))
		gap.start += HEAP_AWAY + HEAP_ROOM;
	if (after && !strncmp(after->path, "[stack", 6))
		gap.end = after->start > STACK_ROOM ? after->start - STACK_ROOM : 0;
	while (next < count && is_code_without_file(&maps[next]))
		next++;
	gap.until = next == n ? gap.end : next < count ? maps[next].start : end;
	/* Behind the stack there is [vsyscall], and nothing can be mapped before it. */
	gap.end = gap.end < end ? gap.end : end;
	gap.until = gap.until < end ? gap.until : end;
	return gap;
}

#define START_BRK 47 /* field of /proc/PID/stat */

/* Where the heap begins that there is not yet; 0: not known. */
static uint64_t heap_begins(const cprof_process *p)
{
	char word[32];

	return cp_file_stat_field(p->pid, START_BRK, word, sizeof(word)) ? strtoull(word, NULL, 10)
									 : 0;
}

/* The gap in which a heap will begin: what is below that, and what is above it. */
static bool each_around_heap(struct engine_gap whole, uint64_t begins,
			     bool (*each)(void *ctx, const struct engine_gap *gap), void *ctx)
{
	struct engine_gap below = { whole.start, begins - PAGE, begins - PAGE, false };

	if (begins < whole.start || begins >= whole.end) { /* it is not known */
		whole.start += HEAP_AWAY;
		begins = whole.start;
	} else if (below.end > below.start && !each(ctx, &below)) {
		return false;
	}
	whole.start = begins + HEAP_ROOM;
	whole.above_heap = true;
	return whole.start >= whole.end || each(ctx, &whole);
}

bool engine_area_gaps(const cprof_process *p, bool (*each)(void *ctx, const struct engine_gap *gap),
		      void *ctx)
{
	size_t count, i;
	struct cp_mapping *maps = mappings_now(p, &count);
	bool ok = count != 0, asked = false;
	uint64_t begins = 0;

	for (i = 0; ok && i <= count; i++) {
		struct engine_gap gap = gap_before(p, maps, count, i);

		if (is_for_heap(p, maps, count, i)) {
			gap.start -= HEAP_AWAY + HEAP_ROOM;
			begins = asked ? begins : heap_begins(p);
			asked = true;
			ok = each_around_heap(gap, begins, each, ctx);
			continue;
		}
		gap.above_heap = i && !strcmp(maps[i - 1].path, "[heap]");
		if (gap.end > gap.start)
			ok = each(ctx, &gap);
	}
	cp_mappings_free(maps, count);
	return ok;
}

static uint64_t distance(uint64_t at, uint64_t low, uint64_t high)
{
	return at < low ? low - at : at - high;
}

/* The `nth` nearest place for `size` bytes to [low, high); 0: none, or, with
 * ESRCH, the memory is gone: the process ends or executes another program. */
static uint64_t find_place(const cprof_process *p, uint64_t size, uint64_t low, uint64_t high,
			   unsigned nth, int *errnum_ret)
{
	uint64_t best = 0, floor = 0;
	size_t count, i;
	struct cp_mapping *maps = nth ? mappings_now(p, &count) : mappings_lately(p, &count);

	if (!count) {
		*errnum_ret = ESRCH;
		return 0;
	}
	do {
		uint64_t nearest = UINT64_MAX;

		best = 0;
		for (i = 0; i <= count; i++) {
			uint64_t at = place_in(gap_before(p, maps, count, i), size, low, high);
			uint64_t far = at ? distance(at, low, high) : 0;

			if (at && far > floor && far < nearest) {
				nearest = far;
				best = at;
			}
		}
		floor = nearest;
	} while (best && nth--);
	cp_mappings_free(maps, count);
	return best;
}

/* ---- areas that were left ---- */

static bool is_near(uint64_t at, uint64_t size, const cprof_image *image)
{
	uint64_t reach = cp_arch_host()->reach;

	return at < image->start ? image->end - at <= reach : at + size - image->start <= reach;
}

static bool ask(cprof_process *p, const struct cp_request *rq, struct cp_answer *answer)
{
	struct cp_error *err = cp_link_call(&p->session->link, rq, answer, NULL);

	if (err)
		answer->errnum = ESRCH;
	cp_error_free(err);
	return !answer->errnum;
}

/* Asks for a left area in the mapping, in which areas lie side by side. True: the image
 * has one now. */
static bool take_in(cprof_image *image, const struct cp_mapping *m, uint64_t size)
{
	cprof_process *p = image->process;
	struct cp_request rq = { .type = CP_REQUEST_MAP, .flags = CP_MAP_LEFT, .pid = p->pid };
	struct cp_answer answer = { 0 };
	struct cp_area_header header;

	for (rq.address = m->start; rq.address < m->end; rq.address += rq.size) {
		if (p->memory.read(p->memory.ctx, rq.address, &header, sizeof(header)) !=
			    sizeof(header) ||
		    header.magic != CP_AREA_MAGIC || header.size < PAGE || header.size % PAGE ||
		    header.size > m->end - rq.address)
			return false;
		rq.size = header.size;
		if (!header.left_ns || rq.size < size || !is_near(rq.address, rq.size, image) ||
		    !ask(p, &rq, &answer))
			continue;
		image->area = rq.address;
		image->area_size = rq.size;
		return true;
	}
	return false;
}

static bool take_left(cprof_image *image, uint64_t size)
{
	struct cp_mapping *maps;
	bool taken = false;
	size_t count, i;

	/* Nobody left any in memory that began with an exec which we saw. */
	if (image->process->exec_ns || !engine_open_memory(image->process))
		return false;
	maps = mappings_now(image->process, &count);
	for (i = 0; i < count && !taken; i++)
		taken = is_code_without_file(&maps[i]) && take_in(image, &maps[i], size);
	cp_mappings_free(maps, count);
	return taken;
}

/* ---- a new area ---- */

static int map_new(cprof_image *image, uint64_t size)
{
	cprof_process *p = image->process;
	struct cp_request rq = { .type = CP_REQUEST_MAP, .pid = p->pid, .size = size };
	struct cp_answer answer = { .errnum = ENOMEM };
	unsigned nth;

	for (nth = 0; nth < TRIES; nth++) {
		rq.address = find_place(p, size, image->start, image->end, nth, &answer.errnum);
		if (!rq.address || ask(p, &rq, &answer) || answer.errnum != EEXIST)
			break;
	}
	if (!answer.errnum) {
		image->area = answer.address;
		image->area_size = size;
		cp_debug("an area in %d for %s", p->pid, image->assembly->path);
	}
	return answer.errnum;
}

/* ---- ahead ---- */

/* More than the last process needed: another one is placed a little further. */
static uint64_t with_spare(uint64_t size)
{
	return (size + size / 4 + PAGE - 1) & ~(PAGE - 1);
}

static cprof_assembly *program_of(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && engine_is_program(p->images.items[i]))
			return p->images.items[i]->assembly;
	return NULL;
}

/* An area of that size was needed. `late`: behind the exec, by an image that had none. */
static void learn(const cprof_image *image, uint64_t size, bool late)
{
	cprof_process *p = image->process;
	cprof_assembly *program = late ? program_of(p) : NULL;

	image->assembly->areas.own = with_spare(size);
	if (program && p->areas.late_count < ENGINE_LATE_AREAS)
		program->areas.late[p->areas.late_count++] = with_spare(size);
}

static bool take(cprof_image *image, struct engine_ready_area *ready, uint64_t size)
{
	if (ready->size < size || !is_near(ready->address, ready->size, image))
		return false;
	image->area = ready->address;
	image->area_size = ready->size;
	*ready = (struct engine_ready_area){ 0 };
	return true;
}

/* What an image had that is gone. */
static bool take_given_back(cprof_image *image, uint64_t size)
{
	struct engine_areas *areas = &image->process->areas;
	struct engine_ready_area *left;

	cp_vec_for_each(&areas->left, left)
		if (take(image, left, size)) {
			*left = areas->left.items[--areas->left.count];
			return true;
		}
	return false;
}

static bool take_ready(cprof_image *image, uint64_t size)
{
	size_t i;

	if (take(image, &image->ready, size) || take_given_back(image, size))
		return true;
	for (i = 0; i < ENGINE_LATE_AREAS; i++)
		if (take(image, &image->process->areas.spare[i], size))
			return true;
	return false;
}

struct expected {
	struct cp_map_piece pieces[CP_MAP_PIECES];
	struct engine_ready_area *to[CP_MAP_PIECES];
	size_t count;
};

static void add_piece(struct expected *e, uint64_t address, uint64_t size, bool joined,
		      struct engine_ready_area *to)
{
	e->to[e->count] = to;
	e->pieces[e->count++] =
		(struct cp_map_piece){ .address = address, .size = size, .joined = joined };
}

static bool is_taken(const struct expected *e, uint64_t at, uint64_t size)
{
	size_t i;

	for (i = 0; i < e->count; i++)
		if (at < e->pieces[i].address + e->pieces[i].size &&
		    e->pieces[i].address < at + size)
			return true;
	return false;
}

/* What the program loads lies where the dynamic linker does. What is not taken this time
 * is not expected the next. */
static void expect(struct expected *e, cprof_image *image)
{
	cprof_process *p = image->process;
	cprof_assembly *a = image->assembly,
		       *program = engine_is_linker(cp_basename(a->path)) ? program_of(p) : NULL;
	uint64_t size = a->areas.own, at;
	int errnum;
	size_t i;

	for (i = 0; program && i < ENGINE_LATE_AREAS; i++)
		size += program->areas.late[i];
	at = find_place(p, size, image->start, image->end, 0, &errnum);
	if (!at || is_taken(e, at, size))
		return;
	add_piece(e, at, a->areas.own, false, &image->ready);
	for (i = 0, at += a->areas.own; program && i < ENGINE_LATE_AREAS; i++) {
		if (!program->areas.late[i])
			continue;
		add_piece(e, at, program->areas.late[i], true, &p->areas.spare[i]);
		at += program->areas.late[i];
		program->areas.late[i] = 0;
	}
	a->areas.own = 0;
}

void engine_areas_expect(cprof_process *p)
{
	struct cp_request rq = { .type = CP_REQUEST_MAP, .flags = CP_MAP_MANY, .pid = p->pid };
	struct cp_answer answer = { 0 };
	struct expected e = { .count = 0 };
	size_t i;

	if (p->areas.asked || p->areas.late || !p->exec_ns || !p->life.beginning)
		return;
	p->areas.asked = true;
	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && p->images.items[i]->assembly->areas.own &&
		    e.count + 1 + ENGINE_LATE_AREAS <= CP_MAP_PIECES)
			expect(&e, p->images.items[i]);
	rq.size = e.count * sizeof(*e.pieces);
	memcpy(p->session->link.plan, e.pieces, rq.size);
	if (e.count < 2 || !ask(p, &rq, &answer))
		return;
	cp_debug("%zu areas at once in %d", e.count, p->pid);
	for (i = 0; i < e.count; i++)
		if (answer.threads >> i & 1)
			*e.to[i] =
				(struct engine_ready_area){ e.pieces[i].address, e.pieces[i].size };
}

bool engine_area_has(const cprof_image *image, uint64_t slots)
{
	return image->area && cp_area_slot_count(image->area_size) >= slots + image->cover.reserved;
}

int engine_area_map(cprof_image *image, uint64_t slots)
{
	bool late = image->process->areas.late && !image->area;
	uint64_t size;
	int errnum = 0;

	if (engine_area_has(image, slots))
		return 0;
	size = cp_area_size(slots + image->cover.reserved);
	if (!take_ready(image, size) && !take_left(image, size))
		errnum = map_new(image, size);
	if (errnum)
		return errnum;
	cp_map_clear(&image->slots);
	learn(image, size, late);
	return 0;
}
