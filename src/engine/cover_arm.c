/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of coverage into a process. There may be a hundred thousand of
 * them before the first instruction of a program, so they are written where
 * the tracer reads them, in one go:
 *
 *     batch │ sites ...      │ group │ slot code ...
 *             one after the other, by number; so slots follow each other
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/calls.h"
#include "engine/coverage.h"

/* Sites of one batch. */
#define AT_ONCE \
	((CP_LINK_PLAN - sizeof(struct cp_batch) - sizeof(struct cp_site_group)) / \
	 (sizeof(struct cp_site) + CP_SLOT_SIZE) / 2)

struct filling {
	cprof_session *s;
	cprof_image *image;
	const struct engine_cover *cover;
	struct engine_cover_cursor cursor;
	struct cp_site *sites; /* in the plan area */
	uint8_t *code; /* the same */
	uint32_t count;
};

static void add_site(struct filling *f, const struct engine_cover_site *from)
{
	uint64_t address = from->address + f->image->bias;
	struct cp_site *site = &f->sites[f->count];

	*site = (struct cp_site){
		.address = address,
		.id = from->counter,
		.flags = from->flags,
		.slot = from->slot,
	};
	if (!cp_step_prepare(f->s->calls->decoder, from->code, from->size, address,
			     cp_area_slot(f->image->area, f->image->area_size, from->slot),
			     f->code + (size_t)f->count * CP_SLOT_SIZE, &site->step)) {
		engine_cover_refuse(f->s, from);
		return;
	}
	memcpy(site->original, from->code,
	       from->size < sizeof(site->original) ? from->size : sizeof(site->original));
	f->count++;
}

/* Fills the plan area with as many sites as there are, or fit. Returns the
 * size of the batch; 0: there are no more. */
static uint64_t fill(struct filling *f, uint32_t most)
{
	uint8_t *plan = f->s->link.plan, *code;
	const struct cp_site_group group = {
		.id = ENGINE_GROUP_COVERAGE,
		.max_rate = engine_cover_budget(f->s),
	};
	struct engine_cover_site site;
	struct cp_batch *head = (struct cp_batch *)(void *)plan;

	f->count = 0;
	f->sites = (struct cp_site *)(void *)(head + 1);
	f->code = (uint8_t *)(f->sites + most) + sizeof(group);
	while (f->count < most && engine_cover_next(f->s, f->cover, &f->cursor, &site))
		add_site(f, &site);
	if (!f->count)
		return 0;
	code = (uint8_t *)(f->sites + f->count) + sizeof(group);
	if (code != f->code)
		memmove(code, f->code, (size_t)f->count * CP_SLOT_SIZE);
	memcpy(f->sites + f->count, &group, sizeof(group));
	*head = (struct cp_batch){
		.size = (uint64_t)(code - plan) + (uint64_t)f->count * CP_SLOT_SIZE,
		.area = f->image->area,
		.site_count = f->count,
		.group_count = 1,
	};
	return head->size;
}

/* How many sites there are still to be placed. */
static uint32_t needed(const cprof_session *s, const struct engine_cover *cover)
{
	struct engine_cover_site site;
	struct engine_cover_cursor cursor = { 0 };
	uint32_t n = 0;

	while (engine_cover_next(s, cover, &cursor, &site))
		n++;
	return n;
}

static int send(struct filling *f, uint64_t size)
{
	struct cp_request rq = {
		.type = CP_REQUEST_ARM,
		.pid = f->image->process->pid,
		.size = size,
	};
	struct cp_answer answer;
	struct cp_error *err = cp_link_call(&f->s->link, &rq, &answer, NULL);

	if (err) {
		cp_error_free(err);
		return ESRCH;
	}
	f->s->coverage->sites += answer.threads;
	/* Where other bytes were, the tracer has said so in the counters. */
	return answer.errnum == ESTALE ? 0 : answer.errnum;
}

int engine_cover_arm(cprof_image *image, const struct engine_cover *cover)
{
	cprof_session *s = image->process->session;
	struct filling f = { .s = s, .image = image, .cover = cover };
	uint64_t began = cp_now(), size;
	uint32_t most = needed(s, cover);
	int errnum = 0;

	while (!errnum && most && (size = fill(&f, most < AT_ONCE ? most : AT_ONCE)))
		errnum = send(&f, size);
	if (errnum && errnum != EAGAIN && errnum != ESRCH)
		engine_cover_refuse_all(s, cover);
	s->coverage->placing_ns += cp_now() - began;
	cp_debug("%s: %u breakpoints of coverage in %d", image->assembly->path, most,
		 image->process->pid);
	return errnum;
}
