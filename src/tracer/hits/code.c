/* SPDX-License-Identifier: MIT
 *
 * What detours need in the program: their rings and their code, mapped by one of its
 * threads. Nothing leads to the code yet when it is written.
 */
#include "tracer/hits/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "link/code.h"
#include "tracer/calls/ask.h"
#include "tracer/calls/inject.h"
#include "tracer/hits/mapping.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/rings.h"

#define CHUNK_MOST (UINT64_C(1) << 24)
#define CHUNKS_MOST 65536u
#define RUN_MOST ((size_t)16384) /* bytes that are written at once */
#define GAP_MOST 1024u /* between pieces of a run */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* ---- rings ---- */

static unsigned log_of(uint64_t size)
{
	unsigned log;

	for (log = CP_DETOUR_LOG_MIN; log <= CP_DETOUR_LOG_MAX; log++)
		if (cp_detour_ring_size(log) == size)
			return log;
	return 0;
}

/* Rings of a cprof that was there before: a thread that is blocked may have the base of
 * one, which would lead anywhere with others at other places. */
struct earlier {
	uint64_t zero, base; /* 0: there are none */
	uint64_t number;
	uint8_t *stale; /* owned; which were given to threads */
};

/* False: there is something of the kind, but of other sizes. */
static bool find_earlier(pid_t pid, uint64_t size, struct earlier *ret)
{
	unsigned long start, end, offset;
	char path[64], line[512];
	bool ok = true;

	*ret = (struct earlier){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/memfd:" CP_RINGS_NAME))
			continue;
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3 || offset)
			ok = false;
		else if (start <= INT32_MAX && end - start == size && !ret->zero)
			ret->zero = start;
		else if ((end - start) % size == 0 && !ret->base)
			ret->base = start, ret->number = (end - start) / size;
		else
			ok = false;
	}
	return ok && !ret->zero == !ret->base;
}

static bool find_stale(const struct space *space, uint64_t size, struct earlier *e)
{
	uint64_t i, head = 0;

	e->stale = calloc(e->number + 1, 1);
	for (i = 1; e->stale && i < e->number; i++)
		e->stale[i] =
			!space_read(space,
				    e->base + i * size + offsetof(struct cp_detour_ring, head),
				    &head, sizeof(head)) ||
			head;
	return e->stale;
}

/* `fixed`: MAP_FIXED or the like; 0: `at` is a hint. */
static int64_t map_shared(struct injection *in, uint64_t at, uint64_t size, int64_t fd, int fixed)
{
	const uint64_t args[6] = { at,
				   size,
				   PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_NORESERVE | (uint64_t)fixed,
				   (uint64_t)fd,
				   0 };

	return inject_call(in, SYS_mmap, args);
}

static bool failed(int64_t result)
{
	return result < 0 && result > -4096;
}

/* A file of the program's that we have open; -errno. The name is written where its thread
 * finds it: below its stack. */
static int make_file(struct injection *in, uint64_t size, int64_t *theirs_ret)
{
	static const char name[] = CP_RINGS_NAME;
	struct cp_syscall_state s;
	char path[64];
	uint64_t at;
	int fd;

	cp_arch_syscall_state(in->regs, &s);
	at = ((in->guard ? in->guard : s.sp - cp_arch_host()->red_zone) - 256) & ~UINT64_C(15);
	if (!space_write(in->space, at, name, sizeof(name)))
		return -EFAULT;
	*theirs_ret = inject_call(in, SYS_memfd_create,
				  (const uint64_t[6]){ at, MFD_CLOEXEC | MFD_ALLOW_SEALING });
	if (failed(*theirs_ret))
		return (int)*theirs_ret;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", (int)in->thread->process->pid,
		 (int)in->thread->tid, (int)*theirs_ret);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -EIO;
}

/* The first *mapped_ret rings, behind which there is room for the others; else all of them. Not
 * at 0: in the place of others. */
static int64_t map_first(struct injection *in, const struct cp_request *rq, int64_t fd, uint64_t at,
			 uint64_t *mapped_ret)
{
	int64_t ret = -1;

	if (at)
		return map_shared(in, at, *mapped_ret * rq->size, fd, MAP_FIXED);
	if (rq->hint)
		ret = map_shared(in, rq->hint, *mapped_ret * rq->size, fd, MAP_FIXED_NOREPLACE);
	if (!failed(ret))
		return ret;
	*mapped_ret = rq->first;
	return map_shared(in, 0, rq->first * rq->size, fd, 0);
}

/* *at_ret: of all of them; not 0: there they shall be, in the place of others. At least the
 * first *mapped_ret of them are. */
static int map_rings(struct injection *in, const struct cp_request *rq, uint64_t *mapped_ret,
		     int *fd_ret, uint64_t *at_ret)
{
	int fixed = *at_ret ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	int64_t theirs = -1, zero = 0, all = 0;
	int fd = make_file(in, rq->first * rq->size, &theirs);

	if (fd >= 0) {
		zero = map_shared(in, rq->address, rq->size, theirs, fixed);
		all = failed(zero) ? zero : map_first(in, rq, theirs, *at_ret, mapped_ret);
	}
	if (!failed(theirs))
		inject_call(in, SYS_close, (const uint64_t[6]){ (uint64_t)theirs });
	if (fd < 0)
		return -fd;
	/* Without MAP_FIXED_NOREPLACE (Linux before 4.17) it is a hint. */
	if (failed(all) || (uint64_t)zero != rq->address) {
		if (!failed(zero))
			inject_call(in, SYS_munmap,
				    (const uint64_t[6]){ (uint64_t)zero, rq->size });
		close(fd);
		return failed(all) ? (int)-all : EEXIST;
	}
	*fd_ret = fd;
	*at_ret = (uint64_t)all;
	return 0;
}

/* Rings where the earlier ones are, if there are some. */
static int place_rings(struct tracer *tr, struct space *space, const struct cp_request *rq,
		       struct earlier *earlier)
{
	unsigned log = log_of(rq->size);
	uint64_t at = earlier->base, base,
		 mapped = rq->first < RINGS_FIRST ? rq->first : RINGS_FIRST, i;
	struct injection in;
	int err, fd = -1;

	err = ask_begin(tr, space, &in);
	if (err)
		return err;
	if (mapped < earlier->number)
		mapped = earlier->number;
	base = cp_arch_ring_base(in.regs) + earlier->zero - earlier->base;
	if (cp_arch_ring_base(in.regs) && base >= earlier->number * rq->size)
		err = EBUSY;
	else
		err = map_rings(&in, rq, &mapped, &fd, &at);
	ask_end(tr, &in);
	if (err)
		return err;
	space->grown_ns = cp_now();
	space->rings = rings_create(fd, (uint32_t)rq->first, log);
	if (!space->rings)
		return ENOMEM;
	space->rings->zero = rq->address;
	space->rings->base = at;
	space->rings_mapped = (uint32_t)mapped;
	for (i = 0; i < earlier->number; i++)
		if (earlier->stale[i])
			rings_mark_stale(space->rings, (uint32_t)i);
	return 0;
}

/* The next ones, up to `number`, by a thread that is stopped. Unless there is no other way
 * (`forced`), only where it finds back should we be killed meanwhile. */
static bool map_more(struct tracer *tr, struct thread *t, uint64_t number, bool forced)
{
	struct space *space = t->process->space;
	const struct rings *rings = space->rings;
	const uint64_t args[6] = { rings->base, space->rings_mapped * rings->size,
				   number * rings->size };
	struct injection in;
	bool ok;

	if (!inject_here(tr, t, &in))
		return false;
	ok = (in.guard || forced) && inject_call(&in, SYS_mremap, args) == (int64_t)rings->base;
	inject_end(tr, &in);
	if (ok)
		space->rings_mapped = (uint32_t)number;
	return ok;
}

bool code_reach_ring(struct tracer *tr, struct thread *t, uint32_t ring)
{
	const struct space *space = t->process->space;
	uint64_t mapped = space->rings_mapped, all = space->rings->number,
		 least = ring + UINT64_C(1);
	uint64_t more = 2 * mapped > least ? 2 * mapped : least;
	bool forced = ring >= mapped;

	if (mapped == all || least < mapped)
		return true;
	return map_more(tr, t, more < all ? more : all, forced) || !forced ||
	       map_more(tr, t, least, true);
}

static int make_rings(struct tracer *tr, struct space *space, const struct cp_request *rq,
		      struct cp_answer *ret)
{
	struct earlier earlier;
	int err;

	if (!log_of(rq->size) || rq->first < RINGS_LEAST || rq->first > RINGS_MOST ||
	    !rq->address || rq->address % 4096 || rq->address > INT32_MAX - rq->size)
		return EINVAL;
	err = space_open(space);
	if (err)
		return err;
	if (!find_earlier(rq->pid, rq->size, &earlier))
		return EBUSY;
	if (earlier.base && (earlier.zero != rq->address || earlier.number > rq->first)) {
		ret->address = earlier.zero;
		ret->threads = (uint32_t)earlier.number;
		return EEXIST;
	}
	err = find_stale(space, rq->size, &earlier) ? place_rings(tr, space, rq, &earlier) : ENOMEM;
	free(earlier.stale);
	return err;
}

void code_rings(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret, int *fd_ret)
{
	struct process *p = process_find(tr, rq->pid);
	struct space *space;
	bool kept;

	*fd_ret = -1;
	if (!p || !(tr->trace_flags & CP_TRACE_PROBES)) {
		ret->errnum = p ? EINVAL : ESRCH;
		return;
	}
	space = p->space;
	kept = space_keep(space);
	if (!space->rings)
		ret->errnum = proc_why(rq->pid, make_rings(tr, space, rq, ret));
	if (!ret->errnum) {
		*fd_ret = fcntl(space->rings->fd, F_DUPFD_CLOEXEC, 0);
		ret->errnum = *fd_ret < 0 ? errno : 0;
		ret->address = space->rings->base;
		ret->threads = space->rings->number;
	}
	space_let_go(space, kept);
}

/* ---- code ---- */

struct code {
	struct cp_code_batch head;
	struct code_batch *batch; /* its detours */
	uint64_t *chunks; /* owned */
	struct cp_code_piece *pieces; /* owned */
	const uint8_t *bytes; /* in the plan area: copied as they are written */
	uint64_t byte_count;
};

static void free_code(struct code *c)
{
	detours_release(c->batch);
	free(c->chunks);
	free(c->pieces);
}

static void *copy(const void *from, uint64_t size)
{
	void *to = malloc(size + 1);

	return to ? memcpy(to, from, size) : NULL;
}

static bool open_code(struct tracer *tr, const struct cp_request *rq, struct code *ret)
{
	const uint8_t *at = tr->link->plan + rq->first;
	struct cp_code_batch *head = &ret->head;
	uint64_t chunks, detours, countings, pieces, parts;

	*ret = (struct code){ 0 };
	if (rq->size < sizeof(*head) || rq->size > CP_LINK_PLAN ||
	    rq->first > CP_LINK_PLAN - rq->size || rq->first % 8)
		return false;
	memcpy(head, at, sizeof(*head));
	chunks = head->chunk_count * sizeof(uint64_t);
	if (head->source_size > rq->size || head->source_size % 8)
		return false;
	detours = head->detour_count * sizeof(struct cp_code_detour) + head->source_size;
	countings = head->counting_count * sizeof(struct cp_code_counting);
	pieces = head->piece_count * sizeof(struct cp_code_piece);
	parts = sizeof(*head) + chunks + detours + countings + pieces;
	if (head->size != rq->size || parts > rq->size || head->chunk_count > CHUNKS_MOST ||
	    head->chunk_size % 4096 || head->chunk_size > CHUNK_MOST ||
	    (head->chunk_count && !head->chunk_size))
		return false;
	at += sizeof(*head);
	ret->chunks = copy(at, chunks);
	ret->batch = detours_create(head, at + chunks);
	at += chunks + detours + countings;
	ret->pieces = copy(at, pieces);
	ret->bytes = at + pieces;
	ret->byte_count = rq->size - parts;
	return ret->chunks && ret->batch && ret->pieces;
}

/* Chunks side by side are mapped at once. */
static size_t side_by_side(const struct code *c, size_t first)
{
	size_t n = 1;

	while (first + n < c->head.chunk_count &&
	       c->chunks[first + n] == c->chunks[first] + n * c->head.chunk_size)
		n++;
	return n;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int map_chunks(struct injection *in, struct code *c)
{
	struct chunk chunk;
	size_t i, n;
	int err;

	qsort(c->chunks, c->head.chunk_count, sizeof(*c->chunks), by_number);
	for (i = 0; i < c->head.chunk_count; i += n) {
		n = side_by_side(c, i);
		chunk = (struct chunk){ c->chunks[i], n * c->head.chunk_size };
		if (!chunk.address || chunk.address % 4096)
			return EINVAL;
		err = mapping_make(in, &chunk.address, chunk.size);
		if (err)
			return err;
		if (chunk.address != c->chunks[i])
			return EEXIST;
		if (!cp_vec_push(&in->space->chunks, chunk))
			return ENOMEM;
	}
	return 0;
}

static bool piece_ok(const struct space *space, const struct code *c, const struct cp_code_piece *p)
{
	return p->offset <= c->byte_count && p->size <= c->byte_count - p->offset &&
	       detours_in_chunks(space, p->at, p->size);
}

/* Nothing but zeros: in one of the chunks, sorted, that came with these pieces. */
static bool is_empty(const struct code *c, uint64_t start, uint64_t end)
{
	size_t low = 0, high = c->head.chunk_count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->chunks[mid] <= start)
			low = mid + 1;
		else
			high = mid;
	}
	return low && end <= c->chunks[low - 1] + c->head.chunk_size;
}

static int by_place(const void *a, const void *b)
{
	const struct cp_code_piece *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool write_piece(const struct space *space, const struct code *c,
			const struct cp_code_piece *p)
{
	return space_write(space, p->at, c->bytes + p->offset, p->size);
}

/* How many of the pieces, by place, go into `run` together; *size_ret: bytes of that. Between
 * them there is nothing yet. */
static size_t join(const struct code *c, const struct cp_code_piece *pieces, size_t count,
		   uint8_t *run, size_t *size_ret)
{
	size_t n, size = 0, next;

	for (n = 0; n < count; n++, size = next + pieces[n - 1].size) {
		next = pieces[n].at - pieces[0].at;
		if (next + pieces[n].size > RUN_MOST || next - size > GAP_MOST ||
		    (next > size && !is_empty(c, pieces[0].at + size, pieces[n].at)))
			break;
		memset(run + size, 0, next - size);
		memcpy(run + next, c->bytes + pieces[n].offset, pieces[n].size);
	}
	*size_ret = size;
	return n;
}

/* In runs: there are several pieces for each function, of a few hundred bytes at most. */
static bool write_runs(const struct space *space, const struct code *c, uint8_t *run)
{
	size_t i, n, size;
	bool ok = true;

	for (i = 0; ok && i < c->head.piece_count; i += n) {
		n = join(c, c->pieces + i, c->head.piece_count - i, run, &size);
		ok = n ? space_write(space, c->pieces[i].at, run, size)
		       : write_piece(space, c, &c->pieces[i]);
		n += !n;
	}
	return ok;
}

static int write_pieces(const struct space *space, const struct code *c)
{
	CP_FREE uint8_t *run = malloc(RUN_MOST);
	size_t i, count = c->head.piece_count;

	if (!run)
		return ENOMEM;
	for (i = 0; i < count; i++)
		if (!piece_ok(space, c, &c->pieces[i]))
			return EINVAL;
	if (count)
		qsort(c->pieces, count, sizeof(*c->pieces), by_place);
	for (i = 1; i < count; i++)
		if (c->pieces[i].at - c->pieces[i - 1].at < c->pieces[i - 1].size)
			return EINVAL;
	return write_runs(space, c, run) ? 0 : EIO;
}

static int place(struct tracer *tr, struct space *space, struct code *c)
{
	struct injection in;
	int err = space->rings ? space_open(space) : EINVAL;

	if (!err && c->head.chunk_count) {
		err = ask_begin(tr, space, &in);
		if (err)
			return err;
		err = map_chunks(&in, c);
		ask_end(tr, &in);
		space->grown_ns = cp_now();
	}
	if (!err && !detours_fit(space, c->batch))
		err = EINVAL;
	if (!err)
		err = write_pieces(space, c);
	if (!err && !detours_keep(space, c->batch))
		err = ENOMEM;
	if (!err)
		c->batch = NULL;
	space->grown_ns = cp_now();
	return err;
}

void code_place(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct process *p = process_find(tr, rq->pid);
	struct space *space;
	struct code code;
	bool kept;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	space = p->space;
	kept = space_keep(space);
	ret->errnum = tr->trace_flags & CP_TRACE_PROBES && open_code(tr, rq, &code) ? 0 : EINVAL;
	if (!ret->errnum)
		ret->errnum = proc_why(rq->pid, place(tr, space, &code));
	if (tr->trace_flags & CP_TRACE_PROBES)
		free_code(&code);
	space_let_go(space, kept);
}
