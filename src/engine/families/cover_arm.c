/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of coverage into a process. There may be a hundred thousand of them
 * before the first instruction of a program. They go to the plan area in pieces: while
 * the tracer enters one, the next is made. Pieces take turns in a few places, which
 * stay in the caches of both processes; one place for all would be thousands of pages,
 * to be had from the kernel first.
 *
 *     plan area │ piece 0, 3, 6 ... │ piece 1, 4, 7 ... │ piece 2, 5, 8 ...
 *     piece     │ batch │ sites ... │ group │ slot code ...
 *                         one after the other, by number; so slots follow each other
 */
#include "engine/families/cover_arm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/families/counting.h"
#include "engine/families/coverage.h"
#include "engine/families/frontier.h"
#include "engine/families/inferred.h"
#include "engine/probes/added.h"
#include "engine/probes/areas.h"
#include "engine/probes/arm.h"
#include "engine/probes/sites.h"
#include "engine/target/state.h"
#include "link/coverage.h"

#define PIECE 4096u /* sites */
#define TURNS 3u
#define PIECE_SIZE \
	((sizeof(struct cp_batch) + PIECE * (sizeof(struct cp_site) + CP_SLOT_SIZE) + \
	  sizeof(struct cp_site_group) + 63) & \
	 ~(size_t)63)
_Static_assert(CP_LINK_PLAN / PIECE_SIZE >= TURNS, "plan area");

struct filling {
	cprof_session *s;
	cprof_image *image;
	const struct engine_cover *cover;
	const struct engine_counted *counted; /* that need no breakpoint; NULL: all do */
	struct engine_cover_cursor cursor;
	struct engine_cover_site next; /* if there is `more` */
	bool more;
	uint8_t *plan; /* the piece's place */
	struct cp_site *sites; /* in the piece */
	uint8_t *code; /* in the piece: slot code */
	uint32_t count;
	uint32_t sent, answered; /* pieces */
	uint64_t serials[TURNS]; /* of the requests, by place */
};

static void add_site(struct filling *f, const struct engine_cover_site *from)
{
	uint64_t address = from->address + f->image->bias;
	struct cp_site *site = &f->sites[f->count];

	*site = (struct cp_site){
		.address = address,
		.id = from->counter,
		.flags = from->flags,
		.ways = { from->ways[0], from->ways[1] },
		.slot = from->slot,
	};
	if (!cp_step_prepare(f->s->calls->decoder, from->code, from->size, address,
			     cp_area_slot(f->image->area, f->image->area_size, from->slot),
			     f->code + (size_t)f->count * CP_SLOT_SIZE, &site->step)) {
		if (!engine_cover_is_later(from))
			engine_cover_refuse(f->s, from);
		return;
	}
	memcpy(site->original, from->code,
	       from->size < sizeof(site->original) ? from->size : sizeof(site->original));
	f->count++;
}

static void take_next(struct filling *f)
{
	do
		f->more = engine_cover_next(f->s, f->cover, &f->cursor, &f->next);
	while (f->more && engine_counted_has(f->counted, f->next.counter));
}

/* Fills the next piece and returns its size. None but the last can be empty. */
static uint64_t fill(struct filling *f)
{
	const struct cp_site_group group = {
		.id = ENGINE_GROUP_COUNTING,
		.max_rate = engine_cover_budget(f->s, f->cover),
	};
	struct cp_batch *head;
	uint8_t *code;

	f->plan = f->s->link.plan + f->sent % TURNS * PIECE_SIZE;
	head = (struct cp_batch *)(void *)f->plan;
	f->count = 0;
	f->sites = (struct cp_site *)(void *)(head + 1);
	f->code = (uint8_t *)(f->sites + PIECE) + sizeof(group);
	for (; f->more && f->count < PIECE; take_next(f))
		add_site(f, &f->next);
	code = (uint8_t *)(f->sites + f->count) + sizeof(group);
	if (code != f->code)
		memmove(code, f->code, (size_t)f->count * CP_SLOT_SIZE);
	memcpy(f->sites + f->count, &group, sizeof(group));
	*head = (struct cp_batch){
		.size = (uint64_t)(code - f->plan) + (uint64_t)f->count * CP_SLOT_SIZE,
		.area = f->image->area,
		.site_count = f->count,
		.group_count = 1,
	};
	return head->size;
}

/* Waits for the oldest answer that is missing; an errno, or 0. */
static int take_answer(struct filling *f)
{
	struct cp_answer answer;
	struct cp_error *err =
		cp_link_wait(&f->s->link, f->serials[f->answered++ % TURNS], &answer, NULL);

	if (err) {
		cp_error_free(err);
		f->answered = f->sent; /* the other answers will not come either */
		return ESRCH;
	}
	f->s->coverage->sites += answer.threads;
	/* ESTALE: sites with other bytes than in the file, which the tracer has noted
	 * in their counters. */
	return answer.errnum == ESTALE ? 0 : answer.errnum;
}

static int send(struct filling *f, uint64_t size)
{
	struct cp_request rq = {
		.type = CP_REQUEST_ARM,
		.pid = f->image->process->pid,
		.flags = (f->sent ? CP_ARM_NEXT : 0) | (f->more ? CP_ARM_MORE : 0) | CP_ARM_COUNTS,
		.first = (uint64_t)(f->plan - f->s->link.plan),
		.size = size,
	};
	struct cp_error *err = cp_link_send(&f->s->link, &rq, &f->serials[f->sent % TURNS]);

	if (err) {
		cp_error_free(err);
		return ESRCH;
	}
	f->sent++;
	return 0;
}

/* Sends all pieces; the first error of any. */
static int send_all(struct filling *f)
{
	int errnum = 0, err;
	uint64_t size;

	while (!errnum && f->more) {
		if (f->sent - f->answered == TURNS)
			errnum = take_answer(f);
		size = errnum ? 0 : fill(f);
		if (size && (f->count || f->sent))
			errnum = send(f, size);
	}
	/* The tracer must be done with the plan area before it is used again. */
	while (f->answered != f->sent) {
		err = take_answer(f);
		errnum = errnum ? errnum : err;
	}
	return errnum;
}

/* ---- ahead of where the process is ---- */

/* So many times the rest of a function is placed alone; then that of all. One takes as long,
 * with its stop and two ways between processes, as a few hundred breakpoints. */
#define OPENED_MIN 12
#define OPENED_SHARE 192 /* of the blocks */

/* NULL without memory. */
static struct engine_counting *list_of(const struct engine_cover_sites *sites)
{
	size_t count = sites->items.count, i;
	struct engine_counting *list = calloc(count + 1, sizeof(*list));

	for (i = 0; list && i < count; i++) {
		const struct engine_cover_site *from = &sites->items.items[i];

		list[i] = (struct engine_counting){
			.address = from->address,
			.counter = from->counter,
			.flags = from->flags,
			.size = from->size,
			.code = from->code,
		};
	}
	return list;
}

static void count_armed(cprof_session *s, const struct engine_cover_sites *sites,
			const struct engine_counting *list, uint32_t armed, int errnum)
{
	size_t i;

	for (i = 0; !errnum && i < sites->items.count; i++)
		if (list[i].refused)
			engine_cover_refuse(s, &sites->items.items[i]);
	s->coverage->sites += armed;
}

/* Places sites as others are, in slots by address. */
static int arm_some(cprof_image *image, const struct engine_cover_sites *sites)
{
	cprof_session *s = image->process->session;
	uint32_t budget = engine_cover_budget(s, image->assembly->cover);
	size_t count = sites->items.count;
	struct engine_counting *list = list_of(sites);
	uint32_t armed = 0;
	int errnum;

	if (!list)
		return ENOMEM;
	errnum = count ? engine_arm_counting(image, list, count, budget, &armed) : 0;
	count_armed(s, sites, list, armed, errnum);
	free(list);
	return errnum == ESTALE ? 0 : errnum;
}

/* Sites that are on their way. */
struct engine_cover_made {
	cprof_image *image;
	const struct engine_cover_sites *sites; /* the frontier's */
	struct engine_counting *list; /* owned; of each */
	struct engine_added added;
};

void engine_cover_forget_made(struct engine_cover *cover)
{
	if (!cover->made)
		return;
	engine_added_free(&cover->made->added);
	free(cover->made->list);
	free(cover->made);
	cover->made = NULL;
}

/* Another process gets its sites, once. */
static void begin(const cprof_image *image, struct engine_cover *cover)
{
	if (cover->begun != image)
		engine_cover_begin(cover);
	cover->begun = image;
}

void engine_cover_make(cprof_image *image, struct engine_cover *cover)
{
	cprof_session *s = image->process->session;
	const struct engine_cover_sites *sites;
	struct engine_cover_made *made;
	size_t count;

	/* Where exact counts or detours have to give way, the tracer is asked for that. */
	if (!image->cover.ahead || cover->counting || image->detoured.count || cover->made)
		return;
	begin(image, cover);
	sites = engine_frontier(s, cover);
	count = sites ? sites->items.count : 0;
	if (!count || !engine_area_has(image, image->slots.count + count))
		return;
	cover->made = made = calloc(1, sizeof(*made));
	if (!made)
		return;
	*made = (struct engine_cover_made){ .image = image,
					    .sites = sites,
					    .list = list_of(sites) };
	if (!made->list || engine_added_make(image, made->list, count,
					     engine_cover_budget(s, cover), &made->added))
		engine_cover_forget_made(cover);
}

static int arm_made(cprof_image *image, struct engine_cover_made *made)
{
	uint32_t armed = 0;
	int errnum = engine_added_send(&made->added, &armed);

	count_armed(image->process->session, made->sites, made->list, armed, errnum);
	return errnum == ESTALE ? 0 : errnum;
}

static int arm_ahead(cprof_image *image, struct engine_cover *cover)
{
	const struct engine_cover_sites *sites;

	if (cover->made && cover->made->image == image)
		return arm_made(image, cover->made);
	sites = engine_frontier(image->process->session, cover);
	return sites ? arm_some(image, sites) : ENOMEM;
}

static void open_rest(cprof_image *image, const struct engine_cover *cover, uint32_t block)
{
	cprof_session *s = image->process->session;
	struct engine_cover_sites sites = { 0 };
	bool all = image->cover.opened >= OPENED_MIN &&
		   image->cover.opened >= cover->blocks.count / OPENED_SHARE;
	bool ok = true;
	const struct engine_covered *f;
	int errnum;
	size_t i;

	image->cover.opened++;
	cp_vec_for_each(&cover->functions, f)
		if (all || block - f->first_block < f->block_count)
			ok = ok && engine_frontier_open(s, cover, f, block, &sites);
	errnum = ok ? arm_some(image, &sites) : ENOMEM;
	cp_debug("%s: %zu more breakpoints of coverage in %d", image->assembly->path,
		 sites.items.count, image->process->pid);
	for (i = 0; errnum && errnum != ESRCH && i < sites.items.count; i++)
		engine_cover_refuse(s, &sites.items.items[i]);
	cp_vec_free(&sites.items);
}

void engine_cover_opened(cprof_session *s, cprof_process *p, const struct cp_event_opened *e)
{
	size_t i;

	for (i = 0; s->coverage && i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];
		const struct engine_cover *cover = image->assembly->cover;

		if (image->mapped && image->armed && cover &&
		    e->counter - cover->first_counter < cover->blocks.count)
			open_rest(image, cover, e->counter - cover->first_counter);
	}
}

/* ---- all at once ---- */

static int arm_all(cprof_image *image, struct engine_cover *cover)
{
	cprof_session *s = image->process->session;
	struct engine_counted *counted = engine_counting_make(image, cover);
	struct filling f = { .s = s, .image = image, .cover = cover, .counted = counted };
	int errnum, placed;

	if (engine_cover_budget(s, cover))
		engine_cover_await(cover);
	take_next(&f);
	errnum = send_all(&f);
	placed = errnum || !counted ? 0 : engine_counted_place(counted, &s->coverage->sites);
	if (placed && placed != ESRCH) {
		cp_info("%s: nothing counts without stops: %s", image->assembly->path,
			strerror(placed));
		engine_counting_yield(image, 0, UINT64_MAX);
	}
	engine_counted_free(counted);
	return errnum;
}

int engine_cover_arm(cprof_image *image, struct engine_cover *cover)
{
	cprof_session *s = image->process->session;
	uint64_t began = cp_now(), before = s->coverage->sites;
	int errnum;

	begin(image, cover);
	cover->begun = NULL;
	errnum = image->cover.ahead ? arm_ahead(image, cover) : arm_all(image, cover);
	engine_cover_forget_made(cover);
	if (errnum && errnum != EAGAIN && errnum != ESRCH)
		engine_cover_refuse_all(s, cover);
	s->coverage->placing_ns += cp_now() - began;
	cp_debug("%s: %" PRIu64 " breakpoints of coverage in %d", image->assembly->path,
		 s->coverage->sites - before, image->process->pid);
	return errnum;
}
