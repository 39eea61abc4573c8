/* SPDX-License-Identifier: MIT */
#include "record_model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"

static char arg0[] = "./p", arg1[] = "", arg2[] = "a b\n\xff";
static char *const command[] = { arg0, arg1, arg2, NULL };

const struct cp_record_info model_info = {
	.holds = CP_RECORD_HAS_SAMPLES,
	.cprof_version = "0.1.0-test",
	.host = "h\xc3\xb6st",
	.machine = "x86_64",
	.kernel = "6.18.0",
	.boot_id = "c0ffee",
	.command = command,
	.attached = true,
	.pid = 4711,
	.clock = CP_RECORD_CLOCK_CPU,
	.hz = 99,
	.start_ns = UINT64_C(1000000000000),
	.start_real_ns = UINT64_C(1700000000000000000),
	.cpus = 2,
};

static uint64_t next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return cp_hash_u64(*state);
}

/* Stacks go in and out of functions, as those of programs do. */
void model_make(struct model *m, uint64_t seed, size_t samples)
{
	struct model_stack stack = { .count = 1 };
	uint64_t state = seed, ts = model_info.start_ns;
	size_t i, n;

	*m = (struct model){ .seed = seed, .count = samples };
	m->samples = calloc(samples + 1, sizeof(*m->samples));
	m->stacks = calloc(samples + 1, sizeof(*m->stacks));
	for (i = 0; i < samples; i++) {
		uint64_t r = next(&state);

		ts += 9000000 + r % 2000000;
		if (r % 4 == 0) { /* leave some functions, enter others */
			n = r / 4 % stack.count;
			memmove(stack.locations, stack.locations + n,
				(stack.count - n) * sizeof(stack.locations[0]));
			stack.count -= n;
			n = stack.count < 20 ? r / 64 % 4 : 0;
			memmove(stack.locations + n, stack.locations,
				stack.count * sizeof(stack.locations[0]));
			stack.count += n;
			while (n--)
				stack.locations[n] = (uint32_t)(next(&state) % MODEL_LOCATIONS);
		}
		stack.flags = r % 31 == 0 ? CP_RECORD_STACK_TRUNCATED : 0;
		m->stacks[i] = stack;
		if (r % 97 == 0)
			m->stacks[i].count = 0;
		m->samples[i] = (struct cp_record_sample){
			.ts_ns = ts - (r % 13 == 0 ? 20000000 : 0),
			.thread = (uint32_t)(r / 256 % MODEL_THREADS),
			.stack = (uint32_t)i,
			.count = r % 17 == 0 ? 3 : 1,
			.weight_ns = r % 5 ? 10000000 + r % 1000 : r % 100000,
			.flags = r % 19 == 0 ? CP_RECORD_SAMPLE_REPEAT : 0,
		};
	}
}

void model_free(struct model *m)
{
	free(m->samples);
	free(m->stacks);
}

/* ---- what the made-up program is made of ---- */

static uint64_t address_of(uint32_t location)
{
	return 0x401000 + (uint64_t)location * 13;
}

static uint32_t image_of(uint32_t location)
{
	return location % (MODEL_IMAGES + 1); /* the last one is none */
}

static struct cp_record_process process(uint32_t n)
{
	static const char *const names[] = { "p", "q;\n" };

	return (struct cp_record_process){
		.pid = 4711 + (int32_t)n,
		.ns_pid = (int32_t)n + 1,
		.ppid = 1,
		.name = names[n % 2],
		.exe = n % 2 ? "/usr/bin/q" : "/home/p",
		.start_ns = 900 + n,
	};
}

static struct cp_record_thread thread(uint32_t n)
{
	static const char *const names[] = { "main", "worker", "", "worker", "x", "y" };

	return (struct cp_record_thread){
		.process = n % 2,
		.tid = 4711 + (int32_t)n,
		.ns_tid = (int32_t)n + 1,
		.name = names[n % 6],
		.start_ns = 1000 + n,
	};
}

static const struct cp_record_image images[MODEL_IMAGES] = {
	{ "/home/p", "0123456789abcdef", "/usr/lib/debug/p.debug" },
	{ "/lib/libc.so.6", "", "" },
	{ "[vdso]", "ff00", "" },
};

struct names {
	char function[3][32], linkage[3][32], file[32];
	struct cp_record_frame frames[3];
	size_t count;
	uint64_t start;
};

static void name(uint64_t address, struct names *n)
{
	size_t i;

	n->count = address % 4;
	n->start = address % 3 ? address - address % 16 : 0;
	snprintf(n->file, sizeof(n->file), "src/%d.c", (int)(address % 7));
	for (i = 0; i < n->count; i++) {
		bool same = i + 1 == n->count; /* the outermost: shared by many */

		snprintf(n->function[i], sizeof(n->function[i]), "f%d<%d>(int)",
			 same ? (int)(address % 11) : (int)(address % 1000), (int)i);
		snprintf(n->linkage[i], sizeof(n->linkage[i]), "_Z%d", (int)(address % 1000));
		n->frames[i] = (struct cp_record_frame){
			.function = n->function[i],
			.linkage = address % 2 ? n->linkage[i] : NULL,
			.file = address % 5 ? n->file : NULL,
			.line = (uint32_t)(address % 100 + i),
			.decl_line = (uint32_t)(address % 3),
			.inlined = !same,
		};
	}
}

static void text_of(struct cp_buf *out, const struct cp_record_location *l,
		    const struct cp_record_image *image)
{
	uint32_t i;

	cp_buf_printf(out, " | %s %s %s %#llx+%#llx %x", image ? image->path : "none",
		      image ? image->build_id : "", image ? image->debug_path : "",
		      (unsigned long long)l->address, (unsigned long long)l->function_start,
		      l->flags);
	for (i = 0; i < l->frame_count; i++) {
		const struct cp_record_frame *f = &l->frames[i];

		cp_buf_printf(out, " {%s %s %s %u %u %d}", f->function,
			      f->linkage ? f->linkage : "-", f->file ? f->file : "-", f->line,
			      f->decl_line, f->inlined);
	}
}

static void text_of_sample(struct cp_buf *out, const struct cp_record_sample *s,
			   const struct cp_record_process *p, const struct cp_record_thread *t,
			   uint32_t stack_flags)
{
	cp_buf_printf(out, "%llu %u %llu %x | %d %d %d %s %s %llu | %d %d %s %llu | %x",
		      (unsigned long long)s->ts_ns, s->count, (unsigned long long)s->weight_ns,
		      s->flags, p->pid, p->ns_pid, p->ppid, p->name, p->exe,
		      (unsigned long long)p->start_ns, t->tid, t->ns_tid, t->name,
		      (unsigned long long)t->start_ns, stack_flags);
}

void record_text(const struct cp_record *r, size_t n, struct cp_buf *out)
{
	const struct cp_record_sample *s = &cp_record_samples(r)[n];
	const struct cp_record_thread *t = cp_record_get_thread(r, s->thread);
	const uint32_t *stack;
	uint32_t flags;
	size_t count, i;

	cp_buf_clear(out);
	stack = cp_record_get_stack(r, s->stack, &count, &flags);
	text_of_sample(out, s, cp_record_get_process(r, t->process), t, flags);
	for (i = 0; i < count; i++) {
		const struct cp_record_location *l = cp_record_get_location(r, stack[i]);

		text_of(out, l, cp_record_get_image(r, l->image));
	}
}

/* The model's text of each location, made once. */
static const char *location_text(uint32_t l)
{
	static struct cp_buf texts[MODEL_LOCATIONS];
	struct cp_record_location location;
	struct names names;

	if (texts[l].size)
		return texts[l].bytes;
	name(address_of(l), &names);
	location = (struct cp_record_location){
		.address = address_of(l),
		.flags = l % 3,
		.function_start = names.start,
		.frame_count = (uint32_t)names.count,
		.frames = names.frames,
	};
	text_of(&texts[l], &location, image_of(l) < MODEL_IMAGES ? &images[image_of(l)] : NULL);
	return texts[l].bytes;
}

/* Is everything about the recording's locations as in the model? */
static bool locations_right(const struct cp_record *r)
{
	struct cp_buf got = { 0 };
	bool right = true;
	uint32_t i;

	for (i = 0; right && i < cp_record_location_count(r); i++) {
		const struct cp_record_location *l = cp_record_get_location(r, i);
		uint64_t n = (l->address - 0x401000) / 13;

		cp_buf_clear(&got);
		text_of(&got, l, cp_record_get_image(r, l->image));
		right = n < MODEL_LOCATIONS && !strcmp(got.bytes, location_text((uint32_t)n));
		if (!right)
			fprintf(stderr, "location %u should not be: %s\n", i, got.bytes);
	}
	cp_buf_free(&got);
	return right;
}

static bool threads_right(const struct cp_record *r)
{
	bool right = true;
	uint32_t i;

	for (i = 0; i < cp_record_thread_count(r); i++) {
		const struct cp_record_thread *t = cp_record_get_thread(r, i);
		const struct cp_record_process *p = cp_record_get_process(r, t->process);
		struct cp_record_thread tw = thread((uint32_t)t->tid - 4711);
		struct cp_record_process pw = process(tw.process);

		right = right && t->tid == tw.tid && t->ns_tid == tw.ns_tid &&
			t->start_ns == tw.start_ns && !strcmp(t->name, tw.name) && p &&
			p->pid == pw.pid && p->ns_pid == pw.ns_pid && p->ppid == pw.ppid &&
			p->start_ns == pw.start_ns && !strcmp(p->name, pw.name) &&
			!strcmp(p->exe, pw.exe);
	}
	if (!right)
		fprintf(stderr, "the threads are not the model's\n");
	return right;
}

static bool sample_right(const struct model *m, size_t n, const struct cp_record *r, size_t i)
{
	const struct cp_record_sample *got = &cp_record_samples(r)[i], *want = &m->samples[n];
	const struct model_stack *stack = &m->stacks[want->stack];
	const uint32_t *locations;
	uint32_t flags;
	size_t count, k;

	locations = cp_record_get_stack(r, got->stack, &count, &flags);
	if (got->ts_ns != want->ts_ns || got->count != want->count || flags != stack->flags ||
	    got->weight_ns != want->weight_ns || got->flags != want->flags ||
	    cp_record_get_thread(r, got->thread)->tid != 4711 + (int32_t)want->thread ||
	    count != stack->count)
		return false;
	for (k = 0; k < count; k++) {
		if (cp_record_get_location(r, locations[k])->address !=
		    address_of(stack->locations[k]))
			return false;
	}
	return true;
}

bool model_contains(const struct model *m, const struct cp_record *r)
{
	struct cp_buf text = { 0 };
	size_t i, k = 0;
	bool found;

	if (!locations_right(r) || !threads_right(r))
		return false;
	for (i = 0; i < cp_record_sample_count(r); i++) {
		for (found = false; !found && k < m->count; k++)
			found = sample_right(m, k, r, i);
		if (found)
			continue;
		record_text(r, i, &text);
		fprintf(stderr, "sample %zu should not be: %s\n", i, text.bytes);
		cp_buf_free(&text);
		return false;
	}
	return true;
}

/* ---- recording it ---- */

static void resolve(void *ctx, uint64_t image_key, uint64_t address, struct cp_record_names *names)
{
	struct model_calls *calls = ctx;
	uint32_t location = (uint32_t)((address - 0x401000) / 13);
	uint64_t key =
		image_of(location) < MODEL_IMAGES ? 100 + image_of(location) : CP_RECORD_NO_KEY;
	struct names n;
	size_t i;

	if (calls &&
	    (location >= MODEL_LOCATIONS || address != address_of(location) || image_key != key))
		calls->unknown++;
	else if (calls)
		calls->count[location]++;
	if (calls && pthread_equal(pthread_self(), calls->thread))
		calls->same_thread++;
	name(address, &n);
	for (i = 0; i < n.count; i++)
		cp_record_name_frame(names, &n.frames[i]);
	if (n.start)
		cp_record_name_start(names, n.start);
}

static uint32_t write_stack(struct cp_record_writer *w, const struct model_stack *stack)
{
	uint32_t locations[24], image;
	size_t i;

	for (i = 0; i < stack->count; i++) {
		uint32_t l = stack->locations[i], n = image_of(l);

		image = n < MODEL_IMAGES ? cp_record_image(w, 100 + n, &images[n]) : CP_RECORD_NONE;
		locations[i] = cp_record_location(w, image, address_of(l), l % 3);
	}
	return cp_record_stack(w, locations, stack->count, stack->flags);
}

static void write_samples(const struct model *m, struct cp_record_writer *w,
			  void (*pace)(struct cp_record_writer *w, size_t samples))
{
	size_t i;

	for (i = 0; i < m->count; i++) {
		struct cp_record_sample s = m->samples[i];
		struct cp_record_thread t = thread(s.thread);
		struct cp_record_process p = process(t.process);
		struct cp_record_totals totals = { .samples = i + 1, .end_ns = s.ts_ns };

		t.process = cp_record_process(w, &p);
		s.thread = cp_record_thread(w, &t);
		s.stack = write_stack(w, &m->stacks[s.stack]);
		cp_record_sample(w, &s);
		if ((i + 1) % MODEL_CHUNK)
			continue;
		cp_record_totals(w, &totals);
		cp_record_flush(w);
		if (pace)
			pace(w, i + 1);
	}
}

struct cp_error *model_write_to(const struct model *m, int fd, struct model_calls *calls,
				void (*pace)(struct cp_record_writer *w, size_t samples))
{
	struct cp_record_resolver resolver = { resolve, calls };
	struct cp_record_totals totals = {
		.end_ns = 77, .samples = m->count, .ended = true, .wait_status = 0x8b
	};
	struct cp_record_writer *w;
	struct cp_error *err;

	if (calls)
		calls->thread = pthread_self();
	err = cp_record_writer_create(fd, &model_info, &resolver, &w);
	if (err)
		return err;
	write_samples(m, w, pace);
	cp_record_totals(w, &totals);
	cp_record_writer_destroy(w, &err);
	return err;
}

void model_write(int fd, uint64_t seed, size_t samples)
{
	struct cp_error *err;
	struct model m;

	model_make(&m, seed, samples);
	err = model_write_to(&m, fd, NULL, NULL);
	model_free(&m);
	if (!err)
		return;
	fprintf(stderr, "recording the model: %s\n", err->what);
	exit(1);
}

int scratch_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0) {
		perror("memfd_create");
		exit(1);
	}
	return fd;
}

struct cp_buf file_bytes(int fd)
{
	struct cp_buf buf = { 0 };
	char bytes[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		cp_buf_add(&buf, bytes, (size_t)n);
		at += n;
	}
	return buf;
}

struct cp_record *load_file(int fd)
{
	struct cp_record *r = NULL;
	struct cp_error *err;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = cp_record_load(path, &r);
	if (err)
		fprintf(stderr, "loading: %s\n", err->what);
	cp_error_free(err);
	return r;
}
