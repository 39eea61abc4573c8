/* SPDX-License-Identifier: MIT
 *
 * Walks the stack of each sample, and says of every frame in code made at run
 * time what its function is, one a line:
 *
 *     PID IP HANDLE NAME START SIZE FLAGS AGREED
 *
 * AGREED: cprof_function_from_ip() has the same one, and so has a second walk.
 * "- IP" where there is no function. Its arguments: the file to print to.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMES 16

struct cprof_profiler {
	FILE *out;
};
static cprof_profiler prof;

struct walk {
	const cprof_function *functions[FRAMES];
	cprof_addr ips[FRAMES];
	unsigned count;
};

static cprof_walk frame(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	const cprof_image *image = cprof_frame_info_image(info);
	struct walk *w = data;

	(void)size;
	(void)context;
	if (!image || strcmp(cprof_image_name(image), "[jit]") != 0)
		return CPROF_WALK_CONTINUE;
	w->functions[w->count] = f;
	w->ips[w->count++] = ip;
	return w->count < FRAMES ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

static void say(const struct walk *first, const struct walk *second, unsigned n)
{
	const cprof_function *f = first->functions[n];

	if (!f) {
		fprintf(prof.out, "- %" PRIx64 "\n", first->ips[n]);
		return;
	}
	fprintf(prof.out, "%d %" PRIx64 " %p %s %" PRIx64 " %" PRIx64 " %s %s\n",
		cprof_process_pid(cprof_current_process()), first->ips[n], (const void *)f,
		cprof_function_name(f), cprof_function_address(f), cprof_function_size(f),
		cprof_function_flags(f) == CPROF_FUNCTION_JIT ? "jit" : "no jit",
		cprof_function_from_ip(first->ips[n]) == f && second->functions[n] == f ? "agreed"
											: "not");
}

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	struct walk first = { .count = 0 }, second = { .count = 0 };
	unsigned i;

	(void)ip;
	(void)context;
	cprof_do_stack_snapshot(cprof_current_thread(), frame, CPROF_SNAPSHOT_ALL_FRAMES, &first,
				NULL, 0);
	cprof_do_stack_snapshot(cprof_current_thread(), frame, CPROF_SNAPSHOT_ALL_FRAMES, &second,
				NULL, 0);
	for (i = 0; i < first.count; i++)
		say(&first, &second, i);
	fflush(p->out);
}

CPROF_PROFILER_INIT(walks)
{
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	prof.out = fopen(desc[5] ? desc + 6 : "walks", "w");
	if (!prof.out) {
		cprof_profiler_fail(h, "walks: cannot write");
		return;
	}
	cprof_profiler_enable_sampling(h);
	cprof_profiler_set_sample_mode(h, CPROF_SAMPLE_MODE_PROCESS, 500);
	cprof_profiler_set_sample_hit_callback(h, hit);
}
