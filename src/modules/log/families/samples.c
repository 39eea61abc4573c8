/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for samples.
 *
 *   log:sample=HZ        samples of CPU time (99 unless told)
 *   log:sample-real=HZ   samples of elapsed time
 *   log:maxsamples=N     no more after so many; 0: any number
 */
#include <string.h>

#include "base/text.h"
#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"
#include "modules/settings.h"

struct samples {
	cprof_sample_mode mode;
	uint32_t hz;
	bool asked, done; /* done: there were as many as were wanted */
	uint64_t most; /* 0: any number */
	uint64_t count;
};

static struct samples *samples(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_samples);
}

/* False: it is one too many. */
static bool count_sample(cprof_profiler *log)
{
	struct samples *s = samples(log);

	if (s->most && s->count >= s->most)
		return false;
	s->done = ++s->count == s->most;
	if (s->done)
		cprof_profiler_set_sample_mode(log->handle, CPROF_SAMPLE_MODE_NONE, s->hz);
	return true;
}

static void on_sample(cprof_profiler *log, cprof_addr ip, const cprof_context *context)
{
	struct cp_record_sample r = { 0 };
	cprof_sample sample;
	uint64_t *entry;

	(void)context;
	if (!log->writer || !cprof_current_sample(&sample) || !count_sample(log))
		return;
	entry = cp_recorder_thread(log, cprof_current_thread());
	if (!entry)
		return;
	r.thread = (uint32_t)*entry;
	r.stack = (uint32_t)(*entry >> 32);
	if (!(sample.flags & CPROF_SAMPLE_REPEAT) || r.stack == CP_RECORD_NONE)
		r.stack = cp_recorder_stack(log, ip);
	*entry = r.thread | (uint64_t)r.stack << 32;
	r.ts_ns = sample.timestamp_ns;
	r.count = sample.count;
	r.weight_ns = sample.weight_ns;
	if (sample.flags & CPROF_SAMPLE_WAITED)
		r.flags = CP_RECORD_SAMPLE_READY;
	else if (sample.flags & CPROF_SAMPLE_REPEAT)
		r.flags = CP_RECORD_SAMPLE_REPEAT | CP_RECORD_SAMPLE_BLOCKED;
	else if (sample.flags & CPROF_SAMPLE_BLOCKED)
		r.flags = CP_RECORD_SAMPLE_BLOCKED;
	cp_record_sample(log->writer, &r);
}

static void init(void *state)
{
	*(struct samples *)state = (struct samples){ .mode = CPROF_SAMPLE_MODE_PROCESS, .hz = 99 };
}

static bool take(cprof_profiler *log, const char *key, const char *value)
{
	struct samples *s = samples(log);
	uint64_t hz;

	if (!strcmp(key, "maxsamples") && value)
		return cp_parse_u64(value, UINT64_MAX, &s->most);
	if (strcmp(key, "sample") != 0 && strcmp(key, "sample-real") != 0)
		return false;
	if (value) {
		if (!cp_parse_u64(value, CPROF_SAMPLE_MAX_FREQUENCY, &hz) || !hz)
			return false;
		s->hz = (uint32_t)hz;
	}
	s->asked = true;
	s->mode = key[6] ? CPROF_SAMPLE_MODE_REAL : CPROF_SAMPLE_MODE_PROCESS;
	cp_recorder_turn_on(log, &cp_recorder_samples);
	return true;
}

/* Another profiler may have asked for samples: then they are recorded, too. */
static void decide(cprof_profiler *log)
{
	cprof_profiler_set_sample_hit_callback(log->handle, on_sample);
}

static void start(cprof_profiler *log)
{
	struct samples *s = samples(log);

	settings_sample(log->handle, s->asked, &s->mode, &s->hz);
}

/* ---- while it runs ---- */

/* As it is to be now; false: the sampler is another profiler's, or there is none. */
static bool set_mode(const cprof_profiler *log)
{
	const struct samples *s = samples(log);
	bool owned = cprof_profiler_get_sample_mode(log->handle, NULL, NULL) ||
		     cprof_profiler_enable_sampling(log->handle);
	bool rests = log->paused || s->done || !cp_recorder_is_on(log, &cp_recorder_samples);

	return owned &&
	       cprof_profiler_set_sample_mode(log->handle, rests ? CPROF_SAMPLE_MODE_NONE : s->mode,
					      s->hz);
}

static void on_pause(cprof_profiler *log)
{
	set_mode(log);
}

static bool on_command(cprof_profiler *log, const char *name, const char *argument)
{
	struct samples *s = samples(log);
	uint64_t hz;

	if (strcmp(name, "sample") != 0)
		return false;
	if (!cp_parse_u64(argument, CPROF_SAMPLE_MAX_FREQUENCY, &hz)) {
		cprof_command_refuse(log->handle,
				     "sample takes a number of samples a second from 0, for none, "
				     "to %u",
				     CPROF_SAMPLE_MAX_FREQUENCY);
		return true;
	}
	if (*cprof_session_event(cprof_session_current()) && hz) {
		cprof_command_refuse(
			log->handle,
			"samples come with %s, not so often a second; pause and resume "
			"end them for a while",
			cprof_session_event(cprof_session_current()));
		return true;
	}
	s->hz = hz ? (uint32_t)hz : s->hz;
	s->done = false;
	cp_recorder_part(log, &cp_recorder_samples)->on = hz != 0;
	if (!set_mode(log))
		cprof_command_refuse(log->handle, "the sampler is another profiler's");
	else if (hz)
		cprof_command_answer(log->handle, "samples at %u Hz%s", s->hz,
				     log->paused ? ", when the recording goes on" : "");
	else
		cprof_command_answer(log->handle, "no samples any more");
	return true;
}

static void describe(const cprof_profiler *log, struct cp_record_info *info)
{
	const struct samples *s = samples(log);

	info->hz = *info->event ? 0 : s->hz;
	info->clock = *info->event			  ? CP_RECORD_CLOCK_EVENT
		      : s->mode == CPROF_SAMPLE_MODE_REAL ? CP_RECORD_CLOCK_WALL
							  : CP_RECORD_CLOCK_CPU;
}

const struct cp_recorder_family cp_recorder_samples = {
	.help = "  sample[=HZ]        samples of CPU time (99; unless other things are asked for)\n"
		"  sample-real[=HZ]   samples of elapsed time\n"
		"  maxsamples=N       no more after so many; 0: any number\n",
	.holds = CP_RECORD_HAS_SAMPLES,
	.state_size = sizeof(struct samples),
	.by_default = true,
	.follows_nodefaults = true,
	.init = init,
	.take = take,
	.decide = decide,
	.start = start,
	.describe = describe,
	.command = on_command,
	.pause = on_pause,
};
