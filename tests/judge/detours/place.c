/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/vec.h"
#include "detour/object.h"
#include "detour/space.h"
#include "link/records.h"

#define LOG CP_DETOUR_LOG_MIN
#define MARGIN (UINT64_C(256) << 20) /* below mappings, where the kernel puts new ones */
#define DWARF_REGS 17

struct image {
	char *path; /* owned */
	uint64_t bias;
	struct cp_image *image;
	struct cp_probe_functions functions;
	struct cp_detour_object *object;
	struct cp_detour_rings rings; /* with what its detours share, near by */
};

struct place {
	struct cp_detour detour;
	uint64_t at;
	const struct image *image;
	struct cp_detour_window window;
};

/* A jump that leads to the code, behind that of the window. */
struct door {
	uint64_t at;
	const struct place *to;
};

struct places {
	char *program; /* its path; owned */
	CP_VEC(struct image *) images;
	CP_VEC(struct place *) list; /* by `at`, once all are there */
	CP_VEC(struct door) doors; /* the same */
	CP_VEC(uint64_t) sites; /* where each record is made, by number */
	struct cp_decoder *decoder;
	struct cp_detour_space *space;
	size_t chunks; /* that are mapped */
	uint32_t zero; /* where the rings are */
	struct cp_records reader;
	uint8_t *memory; /* the rings, here */
	size_t functions, fast;
};

static void check(struct cp_error *err)
{
	if (err)
		die("%s", err->what);
}

/* ---- mappings ---- */

struct mapping {
	uint64_t start, end, offset;
	char rights[8];
	char path[4096];
};

static FILE *open_maps(const struct half *h)
{
	char path[40];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", h->pid);
	maps = fopen(path, "re");
	if (!maps)
		die("%s can't be read", path);
	return maps;
}

static bool next_mapping(FILE *maps, struct mapping *m)
{
	char line[4400];

	if (!fgets(line, sizeof(line), maps))
		return false;
	*m->path = '\0';
	return sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &m->start, &m->end, m->rights,
		      &m->offset, m->path) >= 4;
}

/* `m` has the file's beginning. */
static struct image *open_image(const struct mapping *m)
{
	struct image *i = calloc(1, sizeof(*i));
	struct cp_vaddr at;

	if (!i)
		die("no memory");
	i->path = strdup(m->path);
	check(cp_image_open_file(m->path, NULL, &i->image));
	check(cp_probe_functions_read(i->image, &i->functions));
	if (m->offset || !cp_image_vaddr_of_offset(i->image, 0, &at))
		die("%s is mapped in a strange way", m->path);
	i->bias = m->start - at.v;
	return i;
}

static void free_image(struct image *i)
{
	cp_detour_object_destroy(i->object);
	cp_probe_functions_free(&i->functions);
	cp_image_destroy(i->image);
	free(i->path);
	free(i);
}

static void find_images(struct places *all, const struct half *h, const char *only)
{
	FILE *maps = open_maps(h);
	struct mapping m, first = { 0 };

	while (next_mapping(maps, &m)) {
		if (*m.path == '/' && strcmp(m.path, first.path))
			first = m;
		if (!all->program)
			all->program = strdup(m.path);
		if (m.rights[2] != 'x' || *m.path != '/' || strcmp(m.path, first.path) ||
		    (only && fnmatch(only, cp_basename(m.path), 0)))
			continue;
		if (all->images.count &&
		    !strcmp(all->images.items[all->images.count - 1]->path, m.path))
			continue;
		if (!cp_vec_push(&all->images, open_image(&first)))
			die("no memory");
	}
	fclose(maps);
	if (!all->images.count)
		die("no file of the program matches '%s'", only ? only : "*");
}

/* What no mapping has, below each of them and with a margin. */
static void find_gaps(struct places *all, const struct half *h)
{
	FILE *maps = open_maps(h);
	uint64_t at = 0x10000;
	struct mapping m;

	while (next_mapping(maps, &m)) {
		if (m.start > at + MARGIN && m.start < UINT64_C(1) << 47)
			cp_detour_space_add(all->space, at, m.start - MARGIN);
		at = m.end > at ? m.end : at;
		if (!strcmp(m.path, "[heap]") || !strcmp(m.path, all->program))
			at = m.end + MARGIN; /* the heap grows */
	}
	fclose(maps);
}

uint64_t places_find(const struct half *h, const char *name)
{
	FILE *maps = open_maps(h);
	struct mapping m;
	struct image *i;
	uint64_t ret = 0, entry;
	uint8_t code[256];
	size_t k, size;

	if (!next_mapping(maps, &m))
		die("it has no memory");
	fclose(maps);
	i = open_image(&m);
	for (k = 0; k < i->functions.count && !ret; k++) {
		if (!strcmp(i->functions.items[k].linkage_name, name ? name : "main"))
			ret = i->functions.items[k].address + i->bias;
	}
	if (!ret && !name) {
		entry = cp_image_entry(i->image).v + i->bias;
		size = half_read(h, entry, code, sizeof(code));
		ret = cp_arch_x86_64.start_main(code, size, entry);
		ret = ret ? ret : entry;
	}
	free_image(i);
	return ret;
}

/* ---- memory for it ---- */

/* Where the process stands there is no code of detours yet. */
static uint64_t call(struct half *h, uint64_t number, const uint64_t args[6])
{
	const uint8_t code[2] = { 0x0f, 0x05 };
	uint64_t at = h->regs.rip, result;
	uint8_t replaced[2];

	half_read(h, at, replaced, sizeof(replaced));
	half_write(h, at, code, sizeof(code));
	result = half_call(h, at, number, args);
	half_write(h, at, replaced, sizeof(replaced));
	return result;
}

/* The rings, shared with us: one at `zero`, the second one is the process's. The file is
 * made by it, as it has it for itself. */
static void share_rings(struct places *all, struct half *h)
{
	uint64_t size = 2 * cp_detour_ring_size(LOG), at, fd, got = 0;
	struct user_regs_struct regs = h->regs;
	char path[64];
	int ours;

	fd = call(h, SYS_memfd_create, (const uint64_t[6]){ h->regs.rsp });
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, (int)fd);
	ours = open(path, O_RDWR | O_CLOEXEC);
	if (ours < 0 || ftruncate(ours, (off_t)size))
		die("no memory for rings");
	for (at = 0x70000000; at > 0x10000000 && got != at; at -= 0x1000000)
		got = call(h, SYS_mmap,
			   (const uint64_t[6]){ at, size, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0 });
	call(h, SYS_close, (const uint64_t[6]){ fd });
	all->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ours, 0);
	close(ours);
	if (all->memory == MAP_FAILED || got > 0x70000000)
		die("no room for rings");
	all->zero = (uint32_t)got;
	cp_records_create(all->memory, LOG);
	cp_records_create(all->memory + cp_detour_ring_size(LOG), LOG);
	cp_records_open(&all->reader, all->memory + cp_detour_ring_size(LOG), LOG);
	regs.gs_base = cp_detour_ring_size(LOG);
	half_set_regs(h, &regs);
}

static void map_chunks(struct places *all, struct half *h)
{
	const uint64_t *chunks;
	size_t count = cp_detour_space_chunks(all->space, &chunks);

	for (; all->chunks < count; all->chunks++) {
		uint64_t args[6] = {
			chunks[all->chunks],   CP_DETOUR_CHUNK,
			PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			(uint64_t)-1,	       0
		};

		if (call(h, SYS_mmap, args) != args[0])
			die("no memory at %lx", (unsigned long)args[0]);
	}
}

/* ---- windows ---- */

static void add_records(struct places *all, struct place *p)
{
	const struct cp_detour_window *w = &p->window;
	bool changed = w->how == CP_DETOUR_BY_CHANGE;
	size_t i;

	for (i = 0; i < w->site_count; i++) {
		struct cp_detour_record *r = &p->detour.records[p->detour.record_count];
		uint8_t before = changed ? 0 : w->sites[i].before;

		if (p->detour.record_count && r[-1].before == before)
			continue;
		r->site = (uint32_t)all->sites.count;
		r->before = before;
		r->taken = w->sites[i].taken && !changed;
		p->detour.record_count++;
		if (!cp_vec_push(&all->sites, w->address + before + p->image->bias))
			die("no memory");
	}
}

struct putting {
	struct place *place;
	struct cp_detour_placed placed;
};

/* The windows of one function, each with its place; false: there is none for one. */
static bool find_places(struct places *all, const struct image *image,
			const struct cp_detour_plan *plan, struct putting *to, size_t *count)
{
	const struct cp_detour_window *w;

	cp_vec_for_each(&plan->windows, w) {
		struct putting *p = &to[*count];

		p->place = calloc(1, sizeof(*p->place));
		if (!p->place)
			die("no memory");
		p->place->window = *w;
		p->place->image = image;
		cp_detour_of_window(w, &p->place->detour);
		p->place->detour.pc += image->bias;
		add_records(all, p->place);
		if (!cp_detour_place(all->space, &cp_arch_x86_64, &p->place->detour, w, image->bias,
				     &image->rings, &p->placed)) {
			free(p->place);
			return false;
		}
		++*count;
	}
	return true;
}

static void write_out(const struct half *h, const struct cp_detour_write *w)
{
	if (w->size && !half_write(h, w->at, w->code, w->size))
		die("memory at %lx can't be written", (unsigned long)w->at);
}

static void add_door(struct places *all, const struct cp_detour_write *w, const struct place *to)
{
	if (w->size && !cp_vec_push(&all->doors, (struct door){ w->at, to }))
		die("no memory");
}

static void put(struct places *all, struct half *h, const struct putting *p)
{
	struct place *place = p->place;
	size_t i;

	place->at = p->placed.at;
	if (!half_write(h, place->at, p->placed.code, p->placed.size))
		die("code of detours can't be written");
	write_out(h, &p->placed.stub);
	write_out(h, &p->placed.hop);
	write_out(h, &p->placed.window);
	if (!cp_vec_push(&all->list, place))
		die("no memory");
	add_door(all, &p->placed.stub, place);
	add_door(all, &p->placed.hop, place);
	for (i = 0; i < CP_DETOUR_LENT; i++) {
		write_out(h, &p->placed.lent[i]);
		if (!place->window.pun)
			add_door(all, &p->placed.lent[i], place);
	}
}

/* By what a window shares with a pun threads come that are at that. */
static void add_doors_of_puns(struct places *all, const struct putting *to, size_t count)
{
	size_t i, k, n;

	for (i = 0; i < count; i++)
		for (k = 0; to[i].place->window.pun && k < count; k++)
			for (n = 0; n < CP_DETOUR_LENT; n++)
				if (to[k].place->window.address == to[i].place->window.pun)
					add_door(all, &to[i].placed.lent[n], to[k].place);
}

/* Its windows are written at the end: until then it stands in the code. */
static void detour_function(struct places *all, const struct image *image,
			    const struct cp_detour_plan *plan, struct putting *to, size_t *count)
{
	size_t first = *count;

	if (plan->why != CP_DETOUR_FAST || !plan->windows.count)
		return;
	if (find_places(all, image, plan, to, count)) {
		all->fast++;
		return;
	}
	while (*count > first) {
		cp_detour_unplace(all->space, &to[--*count].placed);
		free(to[*count].place);
	}
}

/* What the detours of an image share. */
static void put_shared(struct places *all, struct half *h, struct image *image)
{
	const struct cp_detour_text *text = cp_detour_object_planner(image->object)->text;
	uint8_t code[CP_DETOUR_SLOW_MAX];
	size_t size;

	image->rings = (struct cp_detour_rings){ .zero = all->zero, .log = LOG };
	image->rings.slow =
		cp_detour_space_take(all->space, text->start + image->bias, CP_DETOUR_SLOW_MAX);
	map_chunks(all, h);
	size = cp_detour_slow(&cp_arch_x86_64, &image->rings, code);
	if (!image->rings.slow || !half_write(h, image->rings.slow, code, size))
		die("no room near %s", image->path);
}

static void detour_image(struct places *all, struct half *h, struct image *image)
{
	struct cp_reader file = cp_probe_file_reader(image->image);
	struct cp_detour_plan plan = { 0 };
	struct cp_probe_plan sites = { 0 };
	CP_VEC(struct putting) to = { 0 };
	size_t i;

	check(cp_detour_object_create(&cp_arch_x86_64, all->decoder, image->image,
				      &image->functions, &image->object));
	put_shared(all, h, image);
	for (i = 0; i < image->functions.count; i++) {
		const struct cp_probe_function *f = &image->functions.items[i];

		if (f->kind != CP_PROBE_FUNCTION || f->flags & CP_PROBE_SLOT)
			continue;
		check(cp_probe_plan_function(all->decoder, &file, &image->functions, f, &sites));
		all->functions++;
		if (sites.entry_count != 1)
			continue;
		check(cp_detour_plan_function(cp_detour_object_planner(image->object), f, &sites,
					      &plan));
		if (!cp_vec_reserve(&to, to.count + plan.windows.count))
			die("no memory");
		detour_function(all, image, &plan, to.items, &to.count);
	}
	map_chunks(all, h);
	for (i = 0; i < to.count; i++)
		put(all, h, &to.items[i]);
	add_doors_of_puns(all, to.items, to.count);
	cp_vec_free(&to);
	cp_detour_plan_free(&plan);
	cp_probe_plan_free(&sites);
}

/* ---- all of it ---- */

static int by_at(const void *a, const void *b)
{
	const struct place *const *x = a, *const *y = b;

	return (*x)->at < (*y)->at ? -1 : (*x)->at > (*y)->at;
}

static int by_door(const void *a, const void *b)
{
	const struct door *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

struct places *places_create(struct half *h, const char *only)
{
	struct places *all = calloc(1, sizeof(*all));
	size_t i;

	if (!all)
		die("no memory");
	all->decoder = cp_decoder_create(&cp_arch_x86_64);
	all->space = cp_detour_space_create();
	find_images(all, h, only);
	share_rings(all, h);
	find_gaps(all, h);
	for (i = 0; i < all->images.count; i++)
		detour_image(all, h, all->images.items[i]);
	qsort(all->list.items, all->list.count, sizeof(*all->list.items), by_at);
	qsort(all->doors.items, all->doors.count, sizeof(*all->doors.items), by_door);
	return all;
}

void places_destroy(struct places *all)
{
	size_t i;

	for (i = 0; i < all->list.count; i++)
		free(all->list.items[i]);
	for (i = 0; i < all->images.count; i++)
		free_image(all->images.items[i]);
	cp_vec_free(&all->list);
	cp_vec_free(&all->doors);
	cp_vec_free(&all->images);
	cp_vec_free(&all->sites);
	cp_detour_space_destroy(all->space);
	cp_decoder_destroy(all->decoder);
	munmap(all->memory, 2 * cp_detour_ring_size(LOG));
	free(all->program);
	free(all);
}

void places_counts(const struct places *all, size_t counts[3])
{
	counts[0] = all->functions;
	counts[1] = all->fast;
	counts[2] = all->list.count;
}

/* ---- where a thread is ---- */

static const struct place *place_at(const struct places *all, uint64_t pc)
{
	size_t low = 0, high = all->list.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (all->list.items[mid]->at <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low && pc - all->list.items[low - 1]->at < CP_DETOUR_CODE_MAX
		       ? all->list.items[low - 1]
		       : NULL;
}

/* On the way to the code. */
static const struct place *door_at(const struct places *all, uint64_t pc)
{
	const struct door asked = { .at = pc }, *found;

	found = bsearch(&asked, all->doors.items, all->doors.count, sizeof(asked), by_door);
	return found ? found->to : NULL;
}

static bool in_chunk(const struct places *all, uint64_t pc)
{
	const uint64_t *chunks;
	size_t count = cp_detour_space_chunks(all->space, &chunks), i;

	for (i = 0; i < count; i++) {
		if (pc - chunks[i] < CP_DETOUR_CHUNK)
			return true;
	}
	return false;
}

static const struct cp_detour_rings *shared_at(const struct places *all, uint64_t pc)
{
	size_t i;

	for (i = 0; i < all->images.count; i++) {
		if (pc - all->images.items[i]->rings.slow < CP_DETOUR_SLOW_MAX)
			return &all->images.items[i]->rings;
	}
	return NULL;
}

static unsigned long long *reg_of(struct user_regs_struct *r, unsigned number)
{
	unsigned long long *const places[DWARF_REGS] = {
		&r->rax, &r->rdx, &r->rcx, &r->rbx, &r->rsi, &r->rdi, &r->rbp, &r->rsp, &r->r8,
		&r->r9,	 &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15, &r->rip,
	};

	return places[number];
}

static size_t read_half(void *ctx, uint64_t address, void *buffer, size_t size)
{
	return half_read(ctx, address, buffer, size);
}

bool places_leave(const struct places *all, struct half *h, struct user_regs_struct *regs,
		  const struct place **ret)
{
	const struct cp_reader memory = { read_half, h };
	struct cp_regs r = { .known = UINT64_MAX };
	const struct cp_detour_rings *rings;
	struct cp_detour_left left;
	const struct place *p;
	uint64_t flags = regs->eflags;
	unsigned i;

	*ret = door_at(all, regs->rip);
	if (*ret) {
		regs->rip = (*ret)->detour.pc;
		return true;
	}
	if (!in_chunk(all, regs->rip))
		return true;
	for (i = 0; i < DWARF_REGS; i++)
		r.r[i] = *reg_of(regs, i);
	rings = shared_at(all, regs->rip);
	if (rings && !cp_detour_leave_slow(&cp_arch_x86_64, rings, &r, &memory, &left))
		return false;
	p = place_at(all, r.r[cp_arch_x86_64.pc]);
	*ret = p;
	if (!p || !cp_detour_leave(&cp_arch_x86_64, &p->detour, p->at, &p->image->rings, &r, &flags,
				   &memory, &left))
		return false;
	for (i = 0; i < DWARF_REGS; i++)
		*reg_of(regs, i) = r.r[i];
	regs->eflags = flags;
	return true;
}

bool places_record(struct places *all, uint64_t *pc_ret, uint64_t *sp_ret)
{
	struct cp_record r;

	if (!cp_records_next(&all->reader, __rdtsc(), &r)) {
		cp_records_release(&all->reader);
		return false;
	}
	if (r.kind != CP_RECORD_SITE)
		die("records were lost");
	*pc_ret = all->sites.items[r.site];
	*sp_ret = r.sp;
	return true;
}

/* ---- for people ---- */

void places_show_address(const struct places *all, uint64_t address)
{
	size_t i;

	for (i = 0; i < all->images.count; i++) {
		const struct image *image = all->images.items[i];
		struct cp_probe_function *f =
			cp_probe_functions_find(&image->functions, address - image->bias);

		if (!f)
			continue;
		printf("%s+0x%lx (%s at %lx)", cp_probe_function_name(f),
		       (unsigned long)(address - image->bias - f->address),
		       cp_basename(image->path), (unsigned long)(address - image->bias));
		return;
	}
	printf("%lx", (unsigned long)address);
}

static void show_code(const struct half *h, uint64_t at, size_t size)
{
	uint8_t code[CP_DETOUR_CODE_MAX];
	size_t i, n = half_read(h, at, code, size < sizeof(code) ? size : sizeof(code));

	for (i = 0; i < n; i++)
		printf("%s%02x", i % 16 ? " " : i ? "\n    " : "    ", code[i]);
	putchar('\n');
}

void places_show(const struct places *all, const struct half *h, const struct place *place)
{
	uint8_t code[CP_DETOUR_CODE_MAX];

	printf("the last detour is that of %d bytes at ", place->window.size);
	places_show_address(all, place->detour.pc);
	printf(", which have become\n");
	show_code(h, place->detour.pc, place->window.room);
	printf("its code at %lx:\n", (unsigned long)place->at);
	show_code(h, place->at,
		  cp_detour_make(&cp_arch_x86_64, &place->detour, place->at, &place->image->rings,
				 code, NULL));
}
