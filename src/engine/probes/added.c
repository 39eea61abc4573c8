/* SPDX-License-Identifier: MIT
 *
 * Return addresses are found while the program runs, and what counts is chosen by what is
 * known then: such breakpoints come one by one, or in batches of their own. Forked processes
 * share their slots.
 */
#include "engine/probes/added.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "engine/probes/areas.h"
#include "engine/probes/batch.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

static void share_with(cprof_image *other, const cprof_image *image, const struct cp_site *sites,
		       size_t count)
{
	const uint64_t *slot;
	uint64_t address;
	size_t i;

	for (i = 0; i < count; i++) {
		address = sites[i].address - image->bias;
		slot = cp_map_get(&image->slots, address);
		if (slot && !cp_map_get(&other->slots, address))
			cp_map_put(&other->slots, address,
				   (uint64_t)other->unmapped << 32 | (uint32_t)*slot);
	}
}

/* A forked process has the areas of its parent, and between vfork and exec even its
 * memory: the slots that are new since there were `before` are these addresses' in all
 * images of the area from now on. */
static void share_slots(const struct engine_batch *b, size_t before)
{
	const cprof_image *image = b->image;
	const cprof_session *s = image->process->session;
	size_t i, k;

	for (i = 0; image->slots.count != before && i < s->processes.count; i++) {
		const cprof_process *p = s->processes.items[i];

		for (k = 0; k < p->images.count; k++) {
			cprof_image *other = p->images.items[k];

			if (other != image && other->assembly == image->assembly &&
			    other->area == image->area && other->bias == image->bias &&
			    other->slots.count == before)
				share_with(other, image, b->sites.items, b->sites.count);
		}
	}
}

/* Numbers of groups beside those of sites.h. */
#define ENGINE_GROUP_SAMPLED_RETURNS 0xffffffe0u
#define ENGINE_GROUP_PAUSING_RETURNS 0xffffffe1u

/* The group of a return address. A sampled function's return is seen only if its call
 * was chosen; the return addresses of functions that pause do so with them. */
static struct cp_site_group returns_group(const cprof_session *s, uint32_t site)
{
	const struct engine_calls *c = s->calls;
	struct cp_site_group group = { .id = ENGINE_GROUP_RETURNS };
	const struct engine_traced *t;

	if (site >= c->sites.count || c->sites.items[site].traced == ENGINE_NO_FUNCTION)
		return group;
	t = c->traced.items[c->sites.items[site].traced];
	if (engine_role_sampled(s, t, &group.heap) && !group.heap.others) {
		group.id = ENGINE_GROUP_SAMPLED_RETURNS;
		group.flags = CP_GROUP_SAMPLED;
	} else if (engine_role_pauses(s, t)) {
		group.id = ENGINE_GROUP_PAUSING_RETURNS;
		group.flags = CP_GROUP_PAUSES;
	}
	return group;
}

void engine_arm_return(cprof_process *p, uint32_t site, uint64_t address)
{
	const struct engine_text *text = engine_find_text(p, address);
	const struct cp_site_group group = returns_group(p->session, site);
	struct engine_batch b = { .calls = p->session->calls };
	uint8_t code[16];
	struct cp_insn insn;
	uint32_t armed;
	size_t size, before;
	int errnum;

	/* A call right before a landing pad never returns. */
	if (!text || !text->image->assembly->image ||
	    engine_plans_is_pad(text->image->assembly, address - text->image->bias) ||
	    !cp_vec_push(&b.groups, group))
		return;
	b.image = text->image;
	before = b.image->slots.count;
	/* The code is read from the file: in memory there may be a breakpoint. */
	struct cp_reader file = cp_probe_file_reader(b.image->assembly->image);
	size = file.read(file.ctx, address - b.image->bias, code, sizeof(code));
	errnum = !cp_decode(b.calls->decoder, code, size, address, &insn) ||
				 engine_area_map(b.image, b.image->slots.count + 1) ||
				 !engine_batch_site(&b, site, address, code, insn.size)
			 ? EINVAL
			 : engine_batch_send(&b, &armed);
	share_slots(&b, before);
	if (b.image->assembly->plans)
		cp_map_put(&b.image->assembly->plans->returns, address - b.image->bias, 1);
	if (errnum)
		cp_debug("return address %" PRIx64 ": %s", address, strerror(errnum));
	engine_batch_free(&b);
}

/* Sites ahead of the one that is made: the code of each is elsewhere, and in no cache. */
#define EXPECT 8u

int engine_added_make(cprof_image *image, struct engine_counting *sites, size_t count,
		      uint32_t max_rate, struct engine_added *ret)
{
	const struct cp_site_group group = { .id = ENGINE_GROUP_COUNTING, .max_rate = max_rate };
	struct engine_batch *b = &ret->b;
	int errnum = engine_area_map(image, image->slots.count + count);
	size_t i;

	*ret = (struct engine_added){
		.b = { .image = image, .calls = image->process->session->calls, .counts = true },
		.before = image->slots.count, /* in a new area no address has its slot yet */
	};
	if (!errnum && (!cp_vec_push(&b->groups, group) || !cp_vec_reserve(&b->sites, count) ||
			!cp_vec_reserve(&b->code, count * CP_SLOT_SIZE) ||
			!cp_map_reserve(&image->slots, count)))
		errnum = ENOMEM;
	for (i = 0; !errnum && i < count; i++) {
		struct cp_site out = {
			.address = sites[i].address + image->bias,
			.id = sites[i].counter,
			.flags = sites[i].flags,
			.slot = engine_batch_slot(image, sites[i].address),
		};

		if (i + EXPECT < count)
			__builtin_prefetch(sites[i + EXPECT].code);
		sites[i].refused = !engine_batch_put(b, &out, sites[i].code, sites[i].size);
	}
	return errnum;
}

int engine_added_send(struct engine_added *added, uint32_t *armed_ret)
{
	return added->b.sites.count ? engine_batch_send(&added->b, armed_ret) : 0;
}

void engine_added_free(struct engine_added *added)
{
	engine_batch_free(&added->b);
}

int engine_arm_counting(cprof_image *image, struct engine_counting *sites, size_t count,
			uint32_t max_rate, uint32_t *armed_ret)
{
	struct engine_added added;
	int errnum = engine_added_make(image, sites, count, max_rate, &added);

	*armed_ret = 0;
	if (!errnum)
		errnum = engine_added_send(&added, armed_ret);
	if (!image->process->life.beginning) /* else nobody has this memory yet */
		share_slots(&added.b, added.before);
	engine_added_free(&added);
	return errnum;
}
