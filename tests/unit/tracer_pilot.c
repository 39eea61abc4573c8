/* SPDX-License-Identifier: MIT */
#include "tracer_pilot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracer/tracer.h"

static void nap(void)
{
	const struct timespec t = { 0, 200000 };

	nanosleep(&t, NULL);
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "pilot: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void copy_text(struct pilot *p, uint8_t *to)
{
	uint64_t start = p->board->text, size = p->board->text_end - start;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->program);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0 && pread(fd, to, size, (off_t)start) == (ssize_t)size, "read the text");
	close(fd);
}

void pilot_start(struct pilot *p, const char *program, const char *mode, int threads,
		 uint64_t limit)
{
	char number[16];

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
		dup2(p->board_fd, BOARD_FD);
		execl(program, program, mode, number, (char *)NULL);
		_exit(127);
	}
	while (p->board->ready < 1) {
		must(waitpid(p->program, NULL, WNOHANG) == 0, "start the program");
		nap();
	}
	p->text = malloc(p->board->text_end - p->board->text);
	copy_text(p, p->text);
}

int pilot_request(struct pilot *p, struct cp_request rq, struct cp_answer *answer)
{
	struct cp_answer mine = { 0 };
	struct cp_error *err = cp_link_call(&p->link, &rq, answer ? answer : &mine, NULL);

	if (err) {
		fprintf(stderr, "pilot: %s\n", err->what);
		cp_error_free(err);
		return -1;
	}
	return answer ? answer->errnum : mine.errnum;
}

void pilot_trace(struct pilot *p, uint32_t flags)
{
	struct cp_request rq = { .type = CP_REQUEST_ATTACH,
				 .pid = p->program,
				 .flags = flags | CP_TRACE_PROBES };
	struct cp_error *err = cp_link_create(&p->link);

	if (!err)
		err = cp_tracer_spawn(&p->link, &p->tracer);
	must(!err, "start the tracer");
	p->board->tracer = p->tracer;
	errno = pilot_request(p, rq, NULL);
	must(!errno, "attach");
}

/* A place below the program that may be free. */
static uint64_t free_place(const struct pilot *p, uint64_t size)
{
	uint64_t below = p->board->area ? p->board->area : p->board->text;

	return ((below & ~UINT64_C(0xfff)) - size - (1 << 20)) & ~UINT64_C(0xfff);
}

int pilot_map(struct pilot *p, uint64_t slots)
{
	uint64_t size = cp_area_size(slots);
	struct cp_request rq = { .type = CP_REQUEST_MAP,
				 .pid = p->program,
				 .address = free_place(p, size),
				 .size = size };
	struct cp_answer answer = { 0 };
	int err, tries = 64;

	do {
		err = pilot_request(p, rq, &answer);
		rq.address -= 1 << 20;
	} while (err == EEXIST && --tries);
	p->area = answer.address;
	p->area_size = size;
	p->slots = 0;
	if (!err) {
		p->board->area = p->area;
		p->board->area_end = p->area + size;
	}
	return err;
}

/* ---- plans ---- */

struct plan {
	struct cp_site sites[PILOT_SITES];
	struct cp_site_group groups[F_COUNT];
	struct cp_fetch fetches[64];
	uint8_t code[PILOT_SITES][CP_SLOT_SIZE];
	uint32_t site_count, group_count, fetch_count;
};

static void add_site(struct pilot *p, struct plan *plan, struct cp_decoder *decoder, uint64_t at,
		     unsigned function, uint16_t flags)
{
	const uint8_t *code = p->text + (at - p->board->text);
	uint32_t n = plan->site_count++;
	struct cp_site *s = &plan->sites[n];

	*s = (struct cp_site){
		.address = at,
		.id = p->site_count,
		.group = plan->group_count - 1,
		.first_fetch = plan->fetch_count,
		.flags = flags,
		.slot = p->slots++,
	};
	memcpy(s->original, code, CP_TRAP_MAX);
	must(cp_step_prepare(decoder, code, 16, at, cp_area_slot(p->area, p->area_size, s->slot),
			     plan->code[n], &s->step),
	     "prepare a slot");
	p->sites[p->site_count++] = (struct pilot_site){
		.id = function * 16 + (flags & 15),
		.address = at,
	};
}

static void add_function(struct pilot *p, struct plan *plan, struct cp_decoder *decoder,
			 const struct pilot_want *want)
{
	uint64_t start = p->board->start[want->function], end = p->board->end[want->function], at;
	struct cp_insn insn;
	unsigned i;

	plan->groups[plan->group_count++] = (struct cp_site_group){
		.id = want->function,
		.max_rate = want->max_rate,
		.ranges = { { start, end } },
	};
	add_site(p, plan, decoder, start, want->function, CP_SITE_ENTRY | want->flags);
	plan->sites[plan->site_count - 1].fetch_count = (uint16_t)want->fetch_count;
	for (i = 0; i < want->fetch_count; i++)
		plan->fetches[plan->fetch_count++] = want->fetches[i];
	for (at = start; at < end; at += insn.size) {
		must(cp_decode(decoder, p->text + (at - p->board->text), end - at, at, &insn),
		     "decode");
		if (insn.flow == CP_FLOW_RETURN && at == start) { /* two at one address */
			add_site(p, plan, decoder, at, want->function, CP_SITE_EXIT | CP_SITE_REGS);
			plan->sites[plan->site_count - 1].slot--;
			p->slots--;
		} else if (insn.flow == CP_FLOW_RETURN) {
			add_site(p, plan, decoder, at, want->function, CP_SITE_EXIT | CP_SITE_REGS);
		} else if (insn.flow == CP_FLOW_BRANCH || insn.flow == CP_FLOW_JUMP) {
			add_site(p, plan, decoder, at, want->function, CP_SITE_TAIL);
		}
	}
}

static int send_plan(struct pilot *p, const struct plan *plan)
{
	struct cp_batch b = {
		.area = p->area,
		.site_count = plan->site_count,
		.group_count = plan->group_count,
		.fetch_count = plan->fetch_count,
	};
	struct cp_request rq = { .type = CP_REQUEST_ARM, .pid = p->program };
	uint8_t *to = p->link.plan + sizeof(b);

#define PUT(what, count) \
	(memcpy(to, (what), (count) * sizeof((what)[0])), to += (count) * sizeof((what)[0]))
	PUT(plan->sites, plan->site_count);
	PUT(plan->groups, plan->group_count);
	PUT(plan->fetches, plan->fetch_count);
	PUT(plan->code, plan->site_count);
#undef PUT
	b.size = rq.size = (uint64_t)(to - p->link.plan);
	memcpy(p->link.plan, &b, sizeof(b));
	return pilot_request(p, rq, NULL);
}

int pilot_arm(struct pilot *p, const struct pilot_want *wants, unsigned count)
{
	struct cp_decoder *decoder = cp_decoder_create(cp_arch_host());
	struct plan *plan = calloc(1, sizeof(*plan));
	unsigned i;
	int err;

	must(decoder && plan, "make a plan");
	for (i = 0; i < count; i++)
		add_function(p, plan, decoder, &wants[i]);
	err = send_plan(p, plan);
	free(plan);
	cp_decoder_destroy(decoder);
	return err;
}

int pilot_arm_return(struct pilot *p, enum board_function function, uint64_t at)
{
	struct cp_decoder *decoder = cp_decoder_create(cp_arch_host());
	struct plan *plan = calloc(1, sizeof(*plan));
	int err;

	must(decoder && plan, "make a plan");
	plan->groups[plan->group_count++] = (struct cp_site_group){ .id = function };
	add_site(p, plan, decoder, at, function, CP_SITE_RETURN);
	err = send_plan(p, plan);
	free(plan);
	cp_decoder_destroy(decoder);
	return err;
}

int pilot_arm_all(struct pilot *p)
{
	const struct pilot_want wants[] = {
		{ .function = F_PLAIN, .flags = CP_SITE_REGS },
		{ .function = F_PAD, .flags = CP_SITE_REGS },
		{ .function = F_TINY },
		{ .function = F_TAIL },
	};

	return pilot_arm(p, wants, CP_ARRAY_SIZE(wants));
}

static void bulk_site(const struct pilot *p, struct cp_decoder *decoder, uint32_t n,
		      struct cp_site *s, uint8_t *code)
{
	uint64_t at = p->board->bulk + n / 2 * BULK_SIZE + n % 2 * BULK_RET;
	const uint8_t *text = p->text + (at - p->board->text);

	*s = (struct cp_site){
		.address = at,
		.id = n,
		.flags = n % 2 ? CP_SITE_EXIT : CP_SITE_ENTRY,
		.slot = n,
	};
	memcpy(s->original, text, CP_TRAP_MAX);
	must(cp_step_prepare(decoder, text, 16, at, cp_area_slot(p->area, p->area_size, n), code,
			     &s->step),
	     "prepare a slot");
}

int pilot_arm_piece(struct pilot *p, uint32_t first, uint32_t count, uint32_t flags)
{
	struct cp_batch *b = (struct cp_batch *)p->link.plan;
	struct cp_site *sites = (struct cp_site *)(b + 1);
	struct cp_site_group *groups = (struct cp_site_group *)(sites + 2 * count);
	uint8_t *code = (uint8_t *)(groups + count);
	struct cp_decoder *decoder = cp_decoder_create(cp_arch_host());
	struct cp_request rq = { .type = CP_REQUEST_ARM, .pid = p->program, .flags = flags };
	uint32_t n;

	for (n = 0; n < 2 * count; n++) {
		bulk_site(p, decoder, 2 * first + n, &sites[n], code + n * CP_SLOT_SIZE);
		sites[n].group = n / 2;
	}
	for (n = 0; n < count; n++)
		groups[n] = (struct cp_site_group){ .id = first + n };
	rq.size = (uint64_t)(code + 2 * count * CP_SLOT_SIZE - p->link.plan);
	*b = (struct cp_batch){
		.size = rq.size, .area = p->area, .site_count = 2 * count, .group_count = count
	};
	cp_decoder_destroy(decoder);
	return pilot_request(p, rq, NULL);
}

int pilot_arm_bulk(struct pilot *p)
{
	return pilot_arm_piece(p, 0, BULK, 0);
}

/* ---- events ---- */

static void take_hit(struct pilot *p, const struct cp_event_hit *hit)
{
	if (p->on_hit && !p->site_count) { /* the bulk */
		p->on_hit(p, hit);
		return;
	}
	if (hit->site >= p->site_count || hit->pc != p->sites[hit->site].address) {
		p->bad++;
		return;
	}
	p->sites[hit->site].hits++;
	if (p->on_hit)
		p->on_hit(p, hit);
}

/* So that no hit brings a stack along. */
static void know_stack(struct pilot *p, const struct cp_event_thread *e)
{
	if (e->slot == CP_NO_SLOT)
		return;
	p->link.shared->stack_low[e->slot] = 4096;
	p->link.shared->stack_end[e->slot] = UINT64_C(1) << 47;
}

void pilot_drain(struct pilot *p)
{
	const struct cp_event *e;
	bool bad = false;

	if (!p->link.shared)
		return;
	while ((e = cp_ring_peek(&p->link, &bad))) {
		if (e->type > CP_EVENT_LEFT)
			p->bad++;
		else
			p->events[e->type]++;
		if (e->type == CP_EVENT_THREAD)
			know_stack(p, (const struct cp_event_thread *)e);
		if (e->type == CP_EVENT_HIT)
			take_hit(p, (const struct cp_event_hit *)e);
		p->left |= e->type == CP_EVENT_LEFT;
		cp_ring_release(&p->link, e);
	}
	p->bad += bad;
}

void pilot_until(struct pilot *p, uint32_t stage)
{
	siginfo_t si = { 0 };

	while (p->board->ready < stage && !p->bad) {
		if (waitid(P_PID, (id_t)p->program, &si, WEXITED | WNOHANG | WNOWAIT) || si.si_pid)
			break;
		pilot_drain(p);
		nap();
	}
	pilot_drain(p);
}

void pilot_go(struct pilot *p, uint32_t stage)
{
	p->board->go = stage;
}

uint64_t pilot_hits(const struct pilot *p, enum board_function function, uint16_t kind)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < p->site_count; i++)
		sum += p->sites[i].id == function * 16u + kind ? p->sites[i].hits : 0;
	return sum;
}

bool pilot_leave(struct pilot *p)
{
	struct cp_request rq = { .type = CP_REQUEST_LEAVE };
	int status = -1;

	if (pilot_request(p, rq, NULL))
		return false;
	while (waitpid(p->tracer, &status, WNOHANG) == 0) {
		pilot_drain(p);
		nap();
	}
	pilot_drain(p);
	return p->left && status == 0;
}

bool pilot_text_is_clean(struct pilot *p)
{
	uint64_t size = p->board->text_end - p->board->text;
	uint8_t *now = malloc(size);
	bool same;

	copy_text(p, now);
	same = !memcmp(now, p->text, size);
	free(now);
	return same;
}

static bool is_stopped(const struct pilot *p, const char *tid)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)p->program, tid);
	stat = fopen(path, "re");
	if (stat && fscanf(stat, "%*d %*s %c", &state) != 1)
		state = 0;
	if (stat)
		fclose(stat);
	return state == 't';
}

bool pilot_is_stopped(const struct pilot *p, unsigned threads)
{
	unsigned all = 0, stopped = 0;
	const struct dirent *task;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->program);
	tasks = opendir(path);
	while (tasks && (task = readdir(tasks))) {
		if (*task->d_name == '.')
			continue;
		all++;
		stopped += is_stopped(p, task->d_name);
	}
	if (tasks)
		closedir(tasks);
	return all == threads && stopped == threads;
}

/* What the program's status says under a name; `base` of the number. */
static unsigned long long status_of(const struct pilot *p, const char *name, int base)
{
	unsigned long long value = 0;
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)p->program);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, base);
	if (status)
		fclose(status);
	return value;
}

bool pilot_catches_trap(const struct pilot *p)
{
	return status_of(p, "SigCgt:", 16) & 1ull << (SIGTRAP - 1);
}

void pilot_await_untraced(const struct pilot *p)
{
	while (status_of(p, "TracerPid:", 10))
		nap();
}

int pilot_end(struct pilot *p)
{
	int status = -1;

	p->board->stop = 1;
	p->board->go = 9;
	must(waitpid(p->program, &status, 0) == p->program, "wait for the program");
	if (p->link.shared)
		cp_link_deinit(&p->link);
	free(p->text);
	munmap(p->board, sizeof(*p->board));
	close(p->board_fd);
	return status;
}
