/* SPDX-License-Identifier: MIT */
#include "detour_pilot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/tracer.h"

#define MARGIN (UINT64_C(256) << 20)
#define MOST (UINT64_C(2) << 30)

struct pilot_window {
	struct cp_detour detour;
	struct cp_detour_placed placed;
	struct cp_detour_window window;
};

static void nap(void)
{
	const struct timespec t = { 0, 100000 };

	nanosleep(&t, NULL);
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "pilot: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void must_not(struct cp_error *err, const char *what)
{
	if (err)
		fprintf(stderr, "pilot: %s\n", err->what);
	must(!err, what);
}

/* ---- the program ---- */

static void read_memory(const struct pilot *p, uint64_t at, void *to, size_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->program);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0 && pread(fd, to, size, (off_t)at) == (ssize_t)size, "read memory");
	close(fd);
}

void pilot_start(struct pilot *p, const char *program, const char *mode, int threads,
		 uint64_t limit)
{
	char number[16];

	*p = (struct pilot){ .lossless = true, .soon = UINT64_C(1) << 37 };
	p->board_fd = memfd_create("board", MFD_CLOEXEC);
	must(!ftruncate(p->board_fd, sizeof(*p->board)), "make the board");
	p->board =
		mmap(NULL, sizeof(*p->board), PROT_READ | PROT_WRITE, MAP_SHARED, p->board_fd, 0);
	must(p->board != MAP_FAILED, "map the board");
	p->board->limit = limit;
	snprintf(number, sizeof(number), "%d", threads);
	p->program = fork();
	if (!p->program) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(p->board_fd, DETOUR_BOARD_FD);
		execl(program, program, mode, number, (char *)NULL);
		_exit(127);
	}
	while (p->board->ready < 1) {
		must(waitpid(p->program, NULL, WNOHANG) == 0, "start the program");
		nap();
	}
	p->text = malloc(p->board->text_end - p->board->text);
	read_memory(p, p->board->text, p->text, p->board->text_end - p->board->text);
	p->path = program;
}

int pilot_request(struct pilot *p, struct cp_request rq, struct cp_answer *answer, int *fd_ret)
{
	struct cp_answer mine = { 0 };
	struct cp_error *err;

	rq.pid = p->program;
	err = cp_link_call(&p->link, &rq, answer ? answer : &mine, fd_ret);
	if (err) {
		fprintf(stderr, "pilot: %s\n", err->what);
		cp_error_free(err);
		return -1;
	}
	return answer ? answer->errnum : mine.errnum;
}

void pilot_trace(struct pilot *p, uint32_t flags)
{
	struct cp_request rq = { .type = CP_REQUEST_ATTACH, .flags = flags | CP_TRACE_PROBES };

	must_not(cp_link_create(&p->link), "make a link");
	must_not(cp_tracer_spawn(&p->link, &p->tracer), "start the tracer");
	p->board->tracer = p->tracer;
	must(!pilot_request(p, rq, NULL, NULL), "attach");
	p->readers = calloc(PILOT_RINGS, sizeof(*p->readers));
}

/* ---- planning ---- */

static void find_gaps(struct pilot *p)
{
	uint64_t low = p->board->text - MOST, high = p->board->text_end + MOST, at = low, start,
		 end;
	char path[64], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->program);
	maps = fopen(path, "re");
	must(maps, "read mappings");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || end <= low || start >= high)
			continue;
		if (start > at + MARGIN)
			must(cp_detour_space_add(p->space, at, start - MARGIN), "add a gap");
		at = end;
	}
	fclose(maps);
	if (high > at + MARGIN) /* the heap grows from below */
		must(cp_detour_space_add(p->space, at + MARGIN, high), "add a gap");
}

static void add_records(struct pilot *p, struct cp_detour *d, const struct cp_detour_window *w,
			const struct cp_probe_plan *sites, uint32_t function)
{
	size_t i;

	for (i = 0; i < w->site_count; i++) {
		bool changed = w->how == CP_DETOUR_BY_CHANGE;
		uint8_t before = changed ? 0 : w->sites[i].before;
		bool enters = sites->sites.items[w->sites[i].number].kind == CP_PROBE_SITE_ENTRY;
		struct cp_detour_record *r = &d->records[d->record_count];
		struct pilot_site site = { function, enters, !enters };

		if (d->record_count && r[-1].before == before) {
			p->sites.items[r[-1].site].enters |= enters;
			p->sites.items[r[-1].site].leaves |= !enters;
			continue;
		}
		r->site = (uint32_t)p->sites.count;
		r->before = before;
		r->taken = w->sites[i].taken && !changed;
		d->record_count++;
		must(cp_vec_push(&p->sites, site), "add a site");
	}
}

static bool place(struct pilot *p, const struct cp_detour_window *w,
		  const struct cp_probe_plan *sites, uint32_t function)
{
	struct pilot_window *window = calloc(1, sizeof(*window));

	window->window = *w;
	cp_detour_of_window(w, &window->detour);
	window->detour.pc += p->board->bias;
	add_records(p, &window->detour, w, sites, function);
	if (!cp_detour_place(p->space, &cp_arch_x86_64, &window->detour, w, p->board->bias,
			     &p->rings, &window->placed)) {
		free(window);
		return false;
	}
	must(cp_vec_push(&p->windows, window), "add a window");
	return true;
}

/* All windows of a function, or none. */
static void place_all(struct pilot *p, const struct cp_detour_plan *plan,
		      const struct cp_probe_plan *sites, uint32_t function)
{
	const struct cp_detour_window *w;
	size_t first = p->windows.count;
	bool ok = true;

	cp_vec_for_each(&plan->windows, w)
		ok = ok && place(p, w, sites, function);
	while (!ok && p->windows.count > first) {
		cp_detour_unplace(p->space, &p->windows.items[--p->windows.count]->placed);
		free(p->windows.items[p->windows.count]);
	}
	p->refused += !ok;
}

static void say_ways(const struct pilot *p)
{
	unsigned ways[CP_DETOUR_HOWS] = { 0 }, hosts = 0, stubs = 0;
	struct pilot_window **w;

	cp_vec_for_each(&p->windows, w) {
		ways[(*w)->window.how]++;
		hosts += (*w)->window.is_host;
		stubs += (*w)->placed.stub.size > 0;
	}
	fprintf(stderr,
		"%u jumps, %u hops to %u hosts, %u changed, %u puns, %u stubs; %u had no place\n",
		ways[CP_DETOUR_BY_JUMP], ways[CP_DETOUR_BY_HOP], hosts, ways[CP_DETOUR_BY_CHANGE],
		ways[CP_DETOUR_BY_PUN], stubs, p->refused);
}

void pilot_plan(struct pilot *p)
{
	struct cp_detour_planner planner = { .functions = &p->file.functions,
					     .frames = { detour_file_is_gone, &p->file } };
	struct cp_detour_plan plan = { 0 };
	struct cp_probe_plan sites = { 0 };
	uint32_t i;

	must_not(detour_file_open(p->path, &p->file), "open the program");
	planner.text = p->file.text;
	p->space = cp_detour_space_create();
	find_gaps(p);
	p->rings.slow = cp_detour_space_take(p->space, p->board->text, CP_DETOUR_SLOW_MAX);
	for (i = 0; i < p->file.functions.count; i++) {
		const struct cp_probe_function *f = &p->file.functions.items[i];

		if (!f->linkage_name || strncmp(f->linkage_name, "d_", 2) != 0)
			continue;
		must_not(cp_probe_plan_function(p->file.decoder, &p->file.reader,
						&p->file.functions, f, &sites),
			 "plan sites");
		must_not(cp_detour_plan_function(&planner, f, &sites, &plan), "plan windows");
		if (plan.why != CP_DETOUR_FAST)
			fprintf(stderr, "%s: %s\n", f->linkage_name, cp_detour_why_text(plan.why));
		place_all(p, &plan, &sites, i);
	}
	say_ways(p);
	cp_detour_plan_free(&plan);
	cp_probe_plan_free(&sites);
	cp_detour_planner_deinit(&planner);
}

/* ---- requests ---- */

int pilot_rings(struct pilot *p)
{
	size_t each = cp_detour_ring_size(PILOT_LOG);
	struct cp_request rq = { .type = CP_REQUEST_RINGS,
				 .address = p->rings.zero,
				 .first = PILOT_RINGS,
				 .size = each };
	struct cp_answer answer = { 0 };
	int fd = -1, err = pilot_request(p, rq, &answer, &fd);

	/* Those of one that was here before are at another place. */
	if (err == EEXIST && answer.address && answer.threads <= PILOT_RINGS) {
		p->rings.zero = (uint32_t)answer.address;
		return pilot_rings(p);
	}
	if (err)
		return err;
	p->memory = mmap(NULL, PILOT_RINGS * each, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(p->memory != MAP_FAILED, "map rings");
	close(fd);
	cp_records_ask(p->memory, __builtin_ia32_rdtsc() + p->soon, p->lossless ? p->soon : 0);
	return 0;
}

struct batch {
	uint8_t *at; /* in the plan area */
};

static void put(struct batch *b, const void *from, size_t size)
{
	memcpy(b->at, from, size);
	b->at += size;
}

struct pieces {
	CP_VEC(struct cp_code_piece) items;
	CP_VEC(uint8_t) bytes;
};

static void add_piece(struct pieces *p, uint64_t at, const uint8_t *code, size_t size)
{
	struct cp_code_piece piece = { at, (uint32_t)size, (uint32_t)p->bytes.count };
	size_t i;

	if (!size)
		return;
	must(cp_vec_push(&p->items, piece), "add a piece");
	for (i = 0; i < size; i++)
		must(cp_vec_push(&p->bytes, code[i]), "add a piece");
}

static void add_pieces(const struct pilot *p, struct pieces *pieces)
{
	uint8_t slow[CP_DETOUR_SLOW_MAX];
	struct pilot_window **w;
	unsigned i;

	add_piece(pieces, p->rings.slow, slow, cp_detour_slow(&cp_arch_x86_64, &p->rings, slow));
	cp_vec_for_each(&p->windows, w) {
		add_piece(pieces, (*w)->placed.at, (*w)->placed.code, (*w)->placed.size);
		add_piece(pieces, (*w)->placed.stub.at, (*w)->placed.stub.code,
			  (*w)->placed.stub.size);
		for (i = 0; i < CP_DETOUR_LENT; i++)
			add_piece(pieces, (*w)->placed.lent[i].at, (*w)->placed.lent[i].code,
				  (*w)->placed.lent[i].size);
	}
}

int pilot_code(struct pilot *p)
{
	struct batch b = { p->link.plan + sizeof(struct cp_code_batch) };
	struct cp_request rq = { .type = CP_REQUEST_CODE };
	struct pieces pieces = { 0 };
	struct cp_code_batch head = { .rings = p->rings,
				      .chunk_size = CP_DETOUR_CHUNK,
				      .detour_count = (uint32_t)p->windows.count };
	struct pilot_window **w;
	const uint64_t *chunks;

	head.chunk_count = (uint32_t)cp_detour_space_chunks(p->space, &chunks);
	put(&b, chunks, head.chunk_count * sizeof(*chunks));
	cp_vec_for_each(&p->windows, w) {
		struct cp_code_detour d = { (*w)->placed.at, (*w)->placed.size,
					    (uint32_t)head.source_size };

		put(&b, &d, sizeof(d));
		head.source_size += cp_code_source_size(&(*w)->detour);
	}
	cp_vec_for_each(&p->windows, w)
		put(&b, &(*w)->detour, cp_code_source_size(&(*w)->detour));
	add_pieces(p, &pieces);
	head.piece_count = (uint32_t)pieces.items.count;
	put(&b, pieces.items.items, pieces.items.count * sizeof(*pieces.items.items));
	put(&b, pieces.bytes.items, pieces.bytes.count);
	head.size = rq.size = (uint64_t)(b.at - p->link.plan);
	memcpy(p->link.plan, &head, sizeof(head));
	cp_vec_free(&pieces.items);
	cp_vec_free(&pieces.bytes);
	return pilot_request(p, rq, NULL, NULL);
}

int pilot_map(struct pilot *p)
{
	struct cp_request rq = { .type = CP_REQUEST_MAP, .size = cp_area_size(512) };
	struct cp_answer answer = { 0 };
	int err, tries = 64;

	rq.address = (p->board->text & ~UINT64_C(0xfff)) - rq.size - (1 << 20);
	do {
		err = pilot_request(p, rq, &answer, NULL);
		rq.address -= 1 << 20;
	} while (err == EEXIST && --tries);
	p->area = answer.address;
	p->area_size = rq.size;
	return err;
}

struct plan {
	CP_VEC(struct cp_site) sites;
	CP_VEC(struct cp_window) windows;
	CP_VEC(uint8_t) code;
};

/* A slot that leads to `to`, with what rescue needs at its end. */
static void add_slot(const struct pilot *p, struct plan *plan, const struct cp_site *s, uint64_t to,
		     const struct cp_window *w)
{
	uint64_t at = cp_area_slot(p->area, p->area_size, s->slot);
	static const struct cp_detour_landing anywhere;
	uint8_t code[CP_SLOT_SIZE];
	size_t i;

	cp_trap_fill(&cp_arch_x86_64, code, sizeof(code));
	if (!cp_detour_jump(&anywhere, at, to, code))
		cp_detour_far_jump(to, code);
	if (w)
		memcpy(code + sizeof(code) - sizeof(*w), w, sizeof(*w));
	for (i = 0; i < sizeof(code); i++)
		must(cp_vec_push(&plan->code, code[i]), "add a slot");
}

static void add_site(struct pilot *p, struct plan *plan, uint64_t at, uint64_t to, uint32_t flags,
		     const struct cp_detour_write *jump)
{
	uintptr_t text = (uintptr_t)p->text + (uintptr_t)(at - p->board->text);
	struct cp_window w = { 0 };
	struct cp_site s = { .address = at,
			     .flags = flags,
			     .slot = (uint32_t)plan->sites.count,
			     .step = { .how = CP_STEP_SLOT,
				       .trap_size = 1,
				       .size = 1,
				       .slot_size = CP_DETOUR_FILLED } };

	if (flags == CP_SITE_RING)
		s.original[0] = 0xcc;
	else
		memcpy(s.original, (const void *)text, CP_TRAP_MAX);
	if (jump) {
		size_t offset = (size_t)(jump->at - at);

		w.size = (uint8_t)(offset + jump->size);
		memcpy(w.original, (const void *)text, w.size);
		memcpy(w.jump, (const void *)text, w.size);
		memcpy(w.jump + offset, jump->code, jump->size);
		s.window = (uint32_t)plan->windows.count;
		must(cp_vec_push(&plan->windows, w), "add a window");
	}
	add_slot(p, plan, &s, to, jump ? &w : NULL);
	must(cp_vec_push(&plan->sites, s), "add a site");
}

static void add_window(struct pilot *p, struct plan *plan, const struct pilot_window *w)
{
	uint64_t at = w->window.address + p->board->bias;
	unsigned i;

	add_site(p, plan, at, w->placed.at, CP_SITE_WINDOW, &w->placed.window);
	if (w->placed.hop.size)
		add_site(p, plan, w->placed.hop.at, w->placed.at, CP_SITE_HOP, &w->placed.hop);
	for (i = 1; i < 32 && w->window.how != CP_DETOUR_BY_CHANGE; i++) {
		if (w->window.begins >> i & 1 && w->placed.enter[i])
			add_site(p, plan, at + i, w->placed.enter[i], CP_SITE_LANDING, NULL);
	}
}

int pilot_arm(struct pilot *p)
{
	struct batch b = { p->link.plan + sizeof(struct cp_batch) };
	struct cp_request rq = { .type = CP_REQUEST_ARM };
	struct cp_site_group group = { .id = 1 };
	struct cp_batch head = { .area = p->area, .group_count = 1 };
	struct cp_detour_stop stop;
	struct pilot_window **w;
	struct plan plan = { 0 };

	cp_vec_for_each(&p->windows, w)
		add_window(p, &plan, *w);
	must(cp_detour_slow_stop(&cp_arch_x86_64, &p->rings, &stop), "find the stop");
	add_site(p, &plan, stop.pc - 1, stop.on, CP_SITE_RING, NULL);
	head.site_count = (uint32_t)plan.sites.count;
	head.window_count = (uint32_t)plan.windows.count;
	put(&b, plan.sites.items, plan.sites.count * sizeof(*plan.sites.items));
	put(&b, &group, sizeof(group));
	put(&b, plan.windows.items, plan.windows.count * sizeof(*plan.windows.items));
	put(&b, plan.code.items, plan.code.count);
	head.size = rq.size = (uint64_t)(b.at - p->link.plan);
	memcpy(p->link.plan, &head, sizeof(head));
	cp_vec_free(&plan.sites);
	cp_vec_free(&plan.windows);
	cp_vec_free(&plan.code);
	return pilot_request(p, rq, NULL, NULL);
}

int pilot_disarm(struct pilot *p)
{
	const struct cp_request rq = { .type = CP_REQUEST_DISARM,
				       .address = p->board->text,
				       .size = p->board->text_end - p->board->text };

	return pilot_request(p, rq, NULL, NULL);
}

/* Another one each time. */
static uint32_t zero_place(const struct pilot *p)
{
	return 0x20000000 + (uint32_t)p->tracer % 64 * 0x1000000;
}

int pilot_detour(struct pilot *p)
{
	int err;

	p->rings = (struct cp_detour_rings){ .zero = zero_place(p), .log = PILOT_LOG };
	err = pilot_rings(p);
	if (err)
		return err;
	pilot_plan(p);
	err = pilot_code(p);
	err = err ? err : pilot_map(p);
	return err ? err : pilot_arm(p);
}

/* ---- what is read ---- */

static void take_back(struct pilot *p, struct pilot_reader *r)
{
	p->entered -= r->last_entered;
	p->left -= r->last_left;
	r->depth = r->before.depth;
	if (r->depth)
		r->open[r->depth - 1] = r->before.top;
	p->cancelled++;
}

static void take(struct pilot *p, struct pilot_reader *r, const struct cp_record *record)
{
	const struct pilot_site *s;

	if (record->kind == CP_RECORD_CANCEL) {
		take_back(p, r);
		return;
	}
	if (record->kind != CP_RECORD_SITE || record->site >= p->sites.count) {
		p->lost += record->kind == CP_RECORD_LOST;
		p->wrong += record->kind != CP_RECORD_LOST;
		return;
	}
	s = &p->sites.items[record->site];
	/* What lies below is gone: longjmp. */
	while (r->depth && r->open[r->depth - 1].sp < record->sp) {
		r->depth--;
		p->unwound++;
	}
	r->last_entered = r->last_left = 0;
	r->before.depth = r->depth;
	r->before.top = r->open[r->depth ? r->depth - 1 : 0];
	if (s->enters && r->depth < PILOT_DEPTH) {
		if (r->depth && r->open[r->depth - 1].sp == record->sp) { /* a jump there */
			r->depth--;
			p->left += ++r->last_left;
		}
		p->entered += ++r->last_entered;
		r->open[r->depth].sp = record->sp;
		r->open[r->depth++].function = s->function;
	}
	if (s->leaves) {
		if (!r->depth || r->open[r->depth - 1].sp != record->sp ||
		    r->open[r->depth - 1].function != s->function) {
			p->wrong++;
			return;
		}
		r->depth--;
		r->last_left++;
		p->left++;
	}
}

static void read_ring(struct pilot *p, struct pilot_reader *r)
{
	uint64_t now = __builtin_ia32_rdtsc();
	struct cp_record record;
	unsigned n = 0;

	if (!r->tid)
		return;
	if (p->lossless)
		cp_records_wait(&r->records, now + p->soon);
	while (cp_records_next(&r->records, now, &record)) {
		take(p, r, &record);
		if (++n % 1024 == 0)
			cp_records_release(&r->records);
	}
	cp_records_release(&r->records);
}

static void begin_ring(struct pilot *p, const struct cp_event_hit *e)
{
	struct pilot_reader *r;

	if (e->target >= PILOT_RINGS || !e->stack_size || !e->regs_size) {
		p->wrong++;
		return;
	}
	r = &p->readers[e->target];
	p->wrong += r->tid != 0;
	*r = (struct pilot_reader){ .tid = e->e.tid };
	cp_records_follow(&r->records, p->memory + e->target * cp_detour_ring_size(PILOT_LOG),
			  PILOT_LOG);
	p->threads++;
}

/* Of a thread, or, with 0, of all. */
static void end_rings(struct pilot *p, int32_t tid)
{
	size_t i;

	for (i = 0; i < PILOT_RINGS; i++) {
		if (!p->readers[i].tid || (tid && p->readers[i].tid != tid))
			continue;
		read_ring(p, &p->readers[i]);
		p->unwound += p->readers[i].depth;
		p->readers[i].tid = 0;
	}
}

/* So that no capture is larger than it has to be. */
static void take_event(struct pilot *p, const struct cp_event *e)
{
	p->events[e->type]++;
	if (e->type == CP_EVENT_RING)
		begin_ring(p, (const struct cp_event_hit *)e);
	if (e->type == CP_EVENT_THREAD_EXIT || e->type == CP_EVENT_EXEC)
		end_rings(p, e->tid);
	p->gone |= e->type == CP_EVENT_LEFT;
}

void pilot_pump(struct pilot *p)
{
	const struct cp_event *e;
	bool bad = false;
	size_t i;

	if (p->memory && !p->gone)
		cp_records_ask(p->memory, __builtin_ia32_rdtsc() + p->soon,
			       p->lossless ? p->soon : 0);
	while ((e = cp_ring_peek(&p->link, &bad))) {
		take_event(p, e);
		cp_ring_release(&p->link, e);
	}
	p->wrong += bad;
	for (i = 0; i < PILOT_RINGS; i++)
		read_ring(p, &p->readers[i]);
}

void pilot_until(struct pilot *p, uint32_t stage)
{
	while (p->board->ready < stage) {
		must(kill(p->program, 0) == 0, "wait for the program");
		pilot_pump(p);
		nap();
	}
	pilot_pump(p);
}

bool pilot_leave(struct pilot *p)
{
	struct cp_request rq = { .type = CP_REQUEST_LEAVE };
	int status = -1;

	pilot_request(p, rq, NULL, NULL);
	while (waitpid(p->tracer, &status, WNOHANG) == 0) {
		pilot_pump(p);
		nap();
	}
	pilot_pump(p);
	end_rings(p, 0);
	return p->gone && WIFEXITED(status) && !WEXITSTATUS(status);
}

bool pilot_text_is_clean(struct pilot *p)
{
	size_t size = p->board->text_end - p->board->text, i, n = 0;
	uint8_t *now = malloc(size);

	read_memory(p, p->board->text, now, size);
	for (i = 0; i < size; i++)
		if (now[i] != p->text[i] && n++ < 8)
			fprintf(stderr, "at %zx: %02x, was %02x\n", i, now[i], p->text[i]);
	free(now);
	return !n;
}

size_t pilot_jumps(struct pilot *p)
{
	struct pilot_window **w;
	size_t n = 0;

	cp_vec_for_each(&p->windows, w) {
		const struct cp_detour_write *jump = &(*w)->placed.window;
		uint8_t now[CP_DETOUR_FILLED];

		read_memory(p, jump->at, now, jump->size);
		n += !memcmp(now, jump->code, jump->size);
	}
	return n;
}

void pilot_forget(struct pilot *p)
{
	struct pilot_window **w;

	cp_vec_for_each(&p->windows, w)
		free(*w);
	cp_vec_free(&p->windows);
	cp_vec_free(&p->sites);
	if (p->space) {
		cp_detour_space_destroy(p->space);
		detour_file_close(&p->file);
	}
	p->file = (struct detour_file){ 0 };
	p->space = NULL;
	if (p->memory)
		munmap(p->memory, PILOT_RINGS * cp_detour_ring_size(PILOT_LOG));
	p->memory = NULL;
	free(p->readers);
	p->readers = NULL;
	cp_link_deinit(&p->link);
	p->gone = false;
}

int pilot_end(struct pilot *p)
{
	int status = -1;

	p->board->stop = 1;
	p->board->go = 9;
	waitpid(p->program, &status, 0);
	pilot_forget(p);
	free(p->text);
	munmap(p->board, sizeof(*p->board));
	close(p->board_fd);
	return status;
}
