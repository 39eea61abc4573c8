/* SPDX-License-Identifier: MIT
 *
 * Before a thread has its system calls filtered, or serves faults itself: detours that
 * follow pointers ask the kernel about pages (arch/x86_64/detour_reach.c). A filter may
 * end the program for that, and a missing page of a range that userfaultfd(2) watches
 * waits for a thread that serves it, which may wait for the one that asks. Its way there
 * is prctl() or syscall() of its C library, or ioctl() of /dev/userfaultfd; where that has
 * no such symbols, nothing is asked (calls/reading.c).
 * But a static program that has other symbols of its C library's has no such functions where
 * it has no such symbols.
 */
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "engine/calls/reading.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "image/image.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum { PRCTL, SYSCALL };

/* A program that calls syscall() all the time costs more stops than it is worth. */
#define SYSCALL_OFTEN 1

static const struct engine_watch watches[] = {
	{ "prctl", PRCTL, CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS, 0 },
	{ "syscall", SYSCALL, CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS, SYSCALL_OFTEN },
};

static bool filters(uint64_t option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_SYSCALL_USER_DISPATCH;
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	const uint8_t *args = cp_arch_host()->args;
	uint64_t first = hit->regs.r[args[0]];

	if (!hit->regs.known ||
	    (hit->what == PRCTL ? filters(first)
				: first == SYS_seccomp || first == SYS_userfaultfd ||
					  (first == SYS_prctl && filters(hit->regs.r[args[1]]))))
		engine_reading_forbid(s->current.process);
}

/* Any request to a descriptor of userfaultfd: it comes before a range is watched. */
static void on_ioctl(cprof_session *s, const struct engine_hit *hit)
{
	uint64_t request = hit->regs.r[cp_arch_host()->args[1]];

	if (!hit->regs.known || (request >> _IOC_TYPESHIFT & _IOC_TYPEMASK) == UFFDIO)
		engine_reading_forbid(s->current.process);
}

static const cprof_function *disarmed(cprof_session *s)
{
	size_t i;

	for (i = 0; i < s->processes.count; i++)
		engine_reading_forbid(s->processes.items[i]);
	return NULL;
}

/* Is the C library linked in, with its symbols, and these functions are not? */
static void plan(cprof_image *image, struct engine_own *own)
{
	const struct cp_symbol *symbols;
	struct cp_error *err;
	size_t count, i;

	if (own->sites.count || own->data)
		return;
	err = cp_image_symbols(image->assembly->image, &symbols, &count);
	cp_error_free(err);
	for (i = 0; !err && i < count && !own->data; i++)
		if (symbols[i].kind == CP_SYMBOL_FUNCTION &&
		    !strcmp(symbols[i].name, "__libc_start_main"))
			own->data = calloc(1, 1); /* that there is one says it */
}

static bool is_enabled(const cprof_session *s)
{
	return s->detours &&
	       (s->introspection || (s->calls && (s->calls->condition || s->calls->fetches.count)));
}

const struct engine_family engine_probing_family = {
	.name = "probing",
	.enabled = is_enabled,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.plan = plan,
	.armed = engine_reading_watched,
	.hit = on_hit,
	.disarmed = disarmed,
};

/* A family of its own: who makes such calls all the time (of a terminal, of a virtual
 * machine's) is not watched for it any more, and no worse off for that. */
static const struct engine_watch serving[] = {
	{ "ioctl", 0, CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS, SYSCALL_OFTEN },
};

const struct engine_family engine_serving_family = {
	.name = "serving",
	.enabled = is_enabled,
	.watches = serving,
	.watch_count = CP_ARRAY_SIZE(serving),
	.hit = on_ioctl,
};
