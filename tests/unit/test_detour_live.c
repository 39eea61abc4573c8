/* SPDX-License-Identifier: MIT
 *
 * Every function of libsqlite3 that can be, detoured in this process, which computes
 * with it: the results are those of before, each call that is entered is left where it
 * was entered, and the text is what it was afterwards.
 */
#include "test.h"

#include <asm/prctl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "detour/space.h"
#include "detour_file.h"
#include "link/records.h"

#define LOG 20
#define MARGIN (UINT64_C(256) << 20) /* below mappings, where the kernel puts new ones */
#define MOST (UINT64_C(2) << 30)

/* ---- the library ---- */

static struct {
	const char *path;
	uint64_t bias, start, end; /* of its text */
} library;

static int find_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	size_t i;

	(void)size;
	(void)ctx;
	if (!strstr(info->dlpi_name, "libsqlite3"))
		return 0;
	library.path = info->dlpi_name;
	library.bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			library.start = (info->dlpi_addr + p->p_vaddr) & ~UINT64_C(4095);
			library.end = (info->dlpi_addr + p->p_vaddr + p->p_memsz + 4095) &
				      ~UINT64_C(4095);
		}
	}
	return 1;
}

static int add_row(void *ctx, int columns, char **values, char **names)
{
	uint64_t *hash = ctx;
	int i;

	(void)names;
	for (i = 0; i < columns; i++) {
		const char *p = values[i] ? values[i] : "(none)";

		while (*p)
			*hash = (*hash ^ (unsigned char)*p++) * UINT64_C(1099511628211);
	}
	return 0;
}

/* What the library computes. */
static uint64_t compute(void)
{
	static const char *const statements[] = {
		"create table t(a integer primary key, b text, c real)",
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)"
		" insert into t select i, printf('%05d-%s', i * 7919 % 2003, hex(i)), i / 7.0 from "
		"n",
		"create index tb on t(b)",
		"select count(*), sum(a), avg(c), group_concat(b) from t where b like '%7%'",
		"select substr(b, 1, 2) x, count(*), max(c) from t group by x order by x desc",
		"update t set c = c * 2, b = upper(b) where a % 3 = 0",
		"delete from t where a % 5 = 0",
		"select t1.a, t2.b from t t1 join t t2 on t1.a = t2.a + 1 where t1.c > 20 order by "
		"t2.b",
		"select no_such_column from t",
		"select round(sum(c), 3), min(b), max(b) from t",
		"select strftime('%Y-%m-%d', 1000000000, 'unixepoch'), quote(x'00ff'), 1e300 * "
		"1e10",
		"pragma integrity_check",
	};
	uint64_t hash = UINT64_C(14695981039346656037);
	sqlite3 *db;
	size_t i;

	if (sqlite3_open(":memory:", &db))
		return 0;
	for (i = 0; i < CP_ARRAY_SIZE(statements); i++) {
		char *text = NULL;
		int rc = sqlite3_exec(db, statements[i], add_row, &hash, &text);

		hash = (hash ^ (uint64_t)rc) * 31;
		sqlite3_free(text);
	}
	sqlite3_close(db);
	return hash;
}

/* ---- detours ---- */

#define ENTERS 1u
#define LEAVES 2u
#define LOOPS 4u /* a jump to the entry is another round */

struct site {
	uint32_t function;
	unsigned what;
};

static struct {
	CP_VEC(struct site) sites;
	CP_VEC(struct cp_detour_write) windows, replaced; /* the same in number */
	CP_VEC(struct cp_detour_placed *) placed; /* owned */
	struct cp_detour_space *space;
	struct cp_detour_rings rings;
	size_t functions, fast, refused;
} all;

/* What no mapping has, below each of them and with a margin. */
static void find_gaps(void)
{
	uint64_t low = library.start - MOST, high = library.end + MOST, at = low, start, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	CHECK(maps);
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || end <= low || start >= high)
			continue;
		if (start > at + MARGIN)
			CHECK(cp_detour_space_add(all.space, at, start - MARGIN));
		at = end;
	}
	if (maps)
		fclose(maps);
}

static void prepare(void)
{
	size_t size = 2 * cp_detour_ring_size(LOG);
	void *rings = mmap((void *)0x20000000, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(rings == (void *)0x20000000);
	all.rings = (struct cp_detour_rings){ .zero = 0x20000000, .log = LOG };
	cp_records_create(rings, LOG);
	cp_records_create((uint8_t *)rings + cp_detour_ring_size(LOG), LOG);
	all.space = cp_detour_space_create();
	find_gaps();
	all.rings.slow = cp_detour_space_take(all.space, library.start, CP_DETOUR_SLOW_MAX);
	CHECK(all.rings.slow != 0);
}

/* The records of a window: where two sites are at one instruction, one for both. */
static void add_records(struct cp_detour *d, const struct cp_detour_window *w,
			const struct cp_probe_plan *sites, uint32_t function)
{
	size_t i;

	for (i = 0; i < w->site_count; i++) {
		bool changed = w->how == CP_DETOUR_BY_CHANGE;
		uint8_t before = changed ? 0 : w->sites[i].before;
		unsigned what = sites->sites.items[w->sites[i].number].kind == CP_PROBE_SITE_ENTRY
					? ENTERS | (sites->loops ? LOOPS : 0)
					: LEAVES;
		struct cp_detour_record *r = &d->records[d->record_count];

		if (d->record_count && r[-1].before == before) {
			all.sites.items[r[-1].site].what |= what;
			continue;
		}
		r->site = (uint32_t)all.sites.count;
		r->before = before;
		r->taken = w->sites[i].taken && !changed;
		d->record_count++;
		CHECK(cp_vec_push(&all.sites, (struct site){ function, what }));
	}
}

static bool place(const struct cp_detour_window *w, const struct cp_probe_plan *sites,
		  uint32_t function)
{
	struct cp_detour_placed *placed = malloc(sizeof(*placed));
	struct cp_detour d;

	cp_detour_of_window(w, &d);
	d.pc += library.bias;
	add_records(&d, w, sites, function);
	if (!placed ||
	    !cp_detour_place(all.space, &cp_arch_x86_64, &d, w, library.bias, &all.rings, placed)) {
		free(placed);
		return false;
	}
	CHECK(cp_vec_push(&all.placed, placed));
	return true;
}

static void forget(size_t first)
{
	while (all.placed.count > first) {
		cp_detour_unplace(all.space, all.placed.items[--all.placed.count]);
		free(all.placed.items[all.placed.count]);
	}
}

static void plan_function(struct detour_file *f, struct cp_detour_planner *planner, uint32_t number)
{
	const struct cp_probe_function *function = &f->functions.items[number];
	size_t first = all.placed.count;
	struct cp_detour_plan plan = { 0 };
	struct cp_probe_plan sites = { 0 };
	const struct cp_detour_window *w;
	bool ok = true;

	if (function->kind == CP_PROBE_PLT)
		return;
	CHECK_OK(cp_probe_plan_function(f->decoder, &f->reader, &f->functions, function, &sites));
	CHECK_OK(cp_detour_plan_function(planner, function, &sites, &plan));
	all.functions++;
	if (plan.why == CP_DETOUR_FAST && plan.windows.count) {
		cp_vec_for_each(&plan.windows, w)
			ok = ok && place(w, &sites, number);
		if (!ok) {
			forget(first);
			all.refused++;
		}
		all.fast += ok;
	}
	cp_detour_plan_free(&plan);
	cp_probe_plan_free(&sites);
}

static void make_windows(struct detour_file *f)
{
	struct cp_detour_planner planner = { .text = f->text,
					     .functions = &f->functions,
					     .frames = { detour_file_is_gone, f } };
	uint32_t i;

	for (i = 0; i < f->functions.count; i++)
		plan_function(f, &planner, i);
	cp_detour_planner_deinit(&planner);
}

static void keep_replaced(const struct cp_detour_write *w)
{
	struct cp_detour_write old = *w;

	if (!w->size)
		return;
	memcpy(old.code, (void *)w->at, w->size);
	CHECK(cp_vec_push(&all.windows, *w) && cp_vec_push(&all.replaced, old));
}

static void write_code(void)
{
	const uint64_t *chunks;
	size_t count = cp_detour_space_chunks(all.space, &chunks), i, k;

	for (i = 0; i < count; i++) {
		void *p =
			mmap((void *)chunks[i], CP_DETOUR_CHUNK, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		CHECK(p == (void *)chunks[i]);
	}
	cp_detour_slow(&cp_arch_x86_64, &all.rings, (uint8_t *)all.rings.slow);
	for (i = 0; i < all.placed.count; i++) {
		const struct cp_detour_placed *p = all.placed.items[i];

		memcpy((void *)p->at, p->code, p->size);
		if (p->stub.size)
			memcpy((void *)p->stub.at, p->stub.code, p->stub.size);
		for (k = 0; k < CP_DETOUR_LENT; k++)
			if (p->lent[k].size)
				memcpy((void *)p->lent[k].at, p->lent[k].code, p->lent[k].size);
		keep_replaced(&p->hop);
		keep_replaced(&p->window);
	}
	CHECK(!mprotect((void *)library.start, library.end - library.start,
			PROT_READ | PROT_WRITE | PROT_EXEC));
}

static void write_all(const struct cp_detour_write *writes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		memcpy((void *)writes[i].at, writes[i].code, writes[i].size);
}

/* ---- what is read ---- */

static struct cp_records reader;
static atomic_bool over;
static unsigned long entered, left, wrong;
static struct {
	uint64_t sp;
	uint32_t function;
} open_calls[65536];
static size_t depth;

static void take(const struct cp_record *r)
{
	const struct site *s = &all.sites.items[r->site];

	if (r->kind != CP_RECORD_SITE) {
		wrong++;
		return;
	}
	if (s->what & LOOPS && depth && open_calls[(depth - 1) % 65536].sp == r->sp &&
	    open_calls[(depth - 1) % 65536].function == s->function)
		return;
	if (s->what & ENTERS) {
		entered++;
		open_calls[depth % 65536].sp = r->sp;
		open_calls[depth++ % 65536].function = s->function;
	}
	if (s->what & LEAVES) {
		left++;
		if (!depth) {
			wrong++;
			return;
		}
		depth--;
		wrong += open_calls[depth % 65536].sp != r->sp ||
			 open_calls[depth % 65536].function != s->function;
	}
}

static void *read_records(void *arg)
{
	struct cp_record record;
	unsigned count;
	bool last;

	(void)arg;
	do {
		last = atomic_load(&over);
		for (count = 0; cp_records_next(&reader, __rdtsc(), &record); count++) {
			take(&record);
			if (count % 4096 == 4095)
				cp_records_release(&reader);
		}
		cp_records_release(&reader);
		if (!count)
			sched_yield();
	} while (!last);
	return NULL;
}

static uint64_t compute_detoured(void)
{
	pthread_t thread;
	uint64_t hash;

	cp_records_open(&reader, (uint8_t *)(uintptr_t)all.rings.zero + cp_detour_ring_size(LOG),
			LOG);
	cp_records_wait(&reader, __rdtsc() + (UINT64_C(1) << 42));
	pthread_create(&thread, NULL, read_records, NULL);
	CHECK(!syscall(SYS_arch_prctl, ARCH_SET_GS, cp_detour_ring_size(LOG)));
	write_all(all.windows.items, all.windows.count);
	hash = compute();
	write_all(all.replaced.items, all.replaced.count);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	cp_records_close(&reader);
	return hash;
}

int main(void)
{
	uint64_t native = compute(), detoured;
	struct detour_file file = { 0 };

	CHECK(dl_iterate_phdr(find_library, NULL));
	CHECK_OK(detour_file_open(library.path, &file));
	prepare();
	make_windows(&file);
	write_code();
	detoured = compute_detoured();
	CHECK_U64(detoured, native);
	CHECK_U64(compute(), native);
	CHECK_U64(wrong, 0);
	CHECK_U64(depth, 0);
	CHECK_U64(entered, left);
	CHECK(entered > 100000);
	CHECK_U64(cp_records_lost(&reader), 0);
	CHECK(all.fast * 100 > all.functions * 97);
	printf("%zu of %zu functions detoured (%zu had no place), %zu windows; %lu calls\n",
	       all.fast, all.functions, all.refused, all.placed.count, entered);
	forget(0);
	cp_vec_free(&all.placed);
	cp_vec_free(&all.windows);
	cp_vec_free(&all.replaced);
	cp_vec_free(&all.sites);
	cp_detour_space_destroy(all.space);
	detour_file_close(&file);
	TEST_MAIN_END;
}
