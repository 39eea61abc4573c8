/* SPDX-License-Identifier: MIT
 *
 * libunwind as a second opinion, over the same capture, in two ways.
 *
 * - libunwind: its accessors are answered from the copy, so that it needs no
 *   ptrace of its own and the thread may run on. It finds unwind data through
 *   our space, which also gets it right for files that are deleted or linked by
 *   lld.
 * - libunwind-ptrace: it finds unwind data by itself, in /proc/PID/maps and the
 *   files that are named there. What it would fetch by ptrace, which is the
 *   tracer's alone, are the capture's registers and the memory of a process
 *   whose thread is held.
 *
 * It claims every register in every frame; those that a call does not
 * preserve are cleared above the leaf, as they are in our own walk. Which frame
 * is a signal's trampoline is told by the code there: of x86-64's libunwind 1.6
 * says so one frame late.
 */
#include "unwind/by_libunwind.h"

#include <libunwind-ptrace.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/step.h"

#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)

/* Exported by the library, declared by none of its headers. */
extern int dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *info,
				     unw_proc_info_t *ret, int need_unwind_info, void *arg);

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *ret,
			  int need_unwind_info, void *arg)
{
	const struct cp_walk *walk = arg;
	struct cp_space_object *object = cp_space_object_at(walk->space, ip);
	struct cp_table_memory memory;
	struct cp_table_hdr hdr;
	unw_dyn_info_t info = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };

	if (!object)
		return -UNW_ENOINFO;
	memory = (struct cp_table_memory){ walk->space->memory, object->bias };
	if (!cp_table_hdr(object->table, &memory, &hdr))
		return -UNW_ENOINFO;
	info.start_ip = object->bias + cp_table_low(object->table);
	info.end_ip = object->bias + cp_table_high(object->table);
	info.u.rti.segbase = object->bias + hdr.at.v;
	info.u.rti.table_data = object->bias + hdr.entries.v;
	info.u.rti.table_len = hdr.count * 8 / sizeof(unw_word_t);
	return dwarf_search_unwind_table(as, ip, &info, ret, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as;
	(void)arg;
	free(info->unwind_info);
	info->unwind_info = NULL;
}

static int no_dyn_info(unw_addr_space_t as, unw_word_t *ret, void *arg)
{
	(void)as;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

/* The copy, else an object's constant bytes. */
static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	const struct cp_walk *walk = arg;
	uint64_t word;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (!cp_walk_read_word(walk, addr, &word) &&
	    cp_space_read_constant(walk->space, addr, &word, sizeof(word)) != sizeof(word))
		return -UNW_EINVAL;
	*value = word;
	return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct cp_walk *walk = arg;
	const struct cp_regs *regs = &walk->capture->regs;

	(void)as;
	if (write || reg < 0 || reg >= walk->arch->nregs || !(regs->known >> reg & 1))
		return -UNW_EBADREG;
	*value = regs->r[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t addr, char *name, size_t size,
			 unw_word_t *offset, void *arg)
{
	(void)as;
	(void)addr;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static const unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_dyn_info,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = get_proc_name,
};

/* ---- libunwind-ptrace ---- */

/* A walk of a held thread, with the pages of its process that were read: they
 * don't change meanwhile, and libunwind reads a file's tables word by word. */
struct held {
	struct cp_walk walk;
	struct held_page {
		bool read;
		uint64_t addr;
		uint8_t bytes[CP_SPACE_PAGE];
	} pages[16];
};

/* The walk in progress on this thread: the argument of libunwind-ptrace's own
 * accessors, which they hand on to those below, has no room for it. */
static _Thread_local struct held *walking;

static bool read_page(struct held *held, uint64_t addr, struct held_page *page)
{
	const struct cp_reader *memory = held->walk.space->memory;

	if (page->read && page->addr == addr)
		return true;
	page->addr = addr;
	page->read = cp_read_exact(memory, addr, page->bytes, sizeof(page->bytes));
	return page->read;
}

static int held_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	uint64_t offset = addr % CP_SPACE_PAGE, base = addr - offset;
	struct held_page *page = &walking->pages[addr / CP_SPACE_PAGE % 16];

	(void)as;
	(void)arg;
	if (write)
		return -UNW_EINVAL;
	if (offset > CP_SPACE_PAGE - sizeof(*value) || !read_page(walking, base, page))
		return cp_read_exact(&walking->walk.memory, addr, value, sizeof(*value))
			       ? 0
			       : -UNW_EINVAL;
	memcpy(value, page->bytes + offset, sizeof(*value));
	return 0;
}

static int held_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	(void)arg;
	return access_reg(as, reg, value, write, &walking->walk);
}

/* An .eh_frame_hdr of another than the usual kind is left out: _UPT_find_proc_info()
 * aborts there. */
static int held_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *ret,
			  int need_unwind_info, void *arg)
{
	struct cp_unwind_space *space = walking->walk.space;
	struct cp_space_object *object = cp_space_object_at(space, ip);
	struct cp_table_memory memory = { space->memory, object ? object->bias : 0 };
	struct cp_table_hdr hdr;

	if (object && cp_table_has_hdr(object->table) &&
	    !cp_table_hdr(object->table, &memory, &hdr))
		return -UNW_ENOINFO;
	return _UPT_find_proc_info(as, ip, ret, need_unwind_info, arg);
}

static const unw_accessors_t held_accessors = {
	.find_proc_info = held_proc_info,
	.put_unwind_info = _UPT_put_unwind_info,
	.get_dyn_info_list_addr = _UPT_get_dyn_info_list_addr,
	.access_mem = held_mem,
	.access_reg = held_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = _UPT_get_proc_name,
};

/* ---- the walk ---- */

static void destroy(void *state)
{
	unw_destroy_addr_space(state);
}

/* Its own cache is off: it outlives mappings, and mixes up objects. */
static unw_addr_space_t address_space(struct cp_space_guest *guest, const unw_accessors_t *answers)
{
	unw_accessors_t copied = *answers;

	if (!guest->state) {
		guest->destroy = destroy;
		guest->state = unw_create_addr_space(&copied, 0);
		if (guest->state)
			unw_set_caching_policy(guest->state, UNW_CACHE_NONE);
	}
	return guest->state;
}

static void take_registers(const struct cp_walk *walk, unw_cursor_t *cursor, bool exact,
			   struct cp_frame *frame)
{
	unw_word_t value;
	unsigned i;

	frame->regs.known = 0;
	for (i = 0; i < walk->arch->nregs; i++) {
		if (unw_get_reg(cursor, (unw_regnum_t)i, &value) == 0) {
			frame->regs.r[i] = value;
			frame->regs.known |= UINT64_C(1) << i;
		}
	}
	if (!exact)
		frame->regs.known &= walk->arch->callee_saved;
}

static void walk_frames(const struct cp_walk *walk, unw_cursor_t *cursor, struct cp_frame *frames,
			size_t max, size_t *count_ret, enum cp_unwind_end *end_ret)
{
	unw_word_t ip;
	bool exact = true, signal;
	size_t n = 0;
	int more = 1;

	*end_ret = CP_UNWIND_END_MAX;
	while (n < max) {
		struct cp_frame *frame = &frames[n];

		if (unw_get_reg(cursor, UNW_REG_IP, &ip) < 0 || !ip) {
			*end_ret = CP_UNWIND_END_ROOT;
			break;
		}
		if (!exact && !cp_unwind_space_covers(walk->space, ip - 1)) {
			*end_ret = CP_UNWIND_END_UNMAPPED;
			break;
		}
		take_registers(walk, cursor, exact, frame);
		signal = cp_step_at_trampoline(walk, ip, exact);
		frame->pc.v = ip;
		frame->cfa.v = 0;
		frame->flags = (exact ? CP_FRAME_EXACT_PC : 0) | (signal ? CP_FRAME_SIGNAL : 0);
		frame->by = CP_UNWIND_BY_CFI;
		n++;
		more = unw_step(cursor);
		if (more <= 0) {
			*end_ret = more == 0 ? CP_UNWIND_END_ROOT : CP_UNWIND_END_NO_INFO;
			break;
		}
		if (unw_get_reg(cursor, UNW_REG_SP, &ip) == 0)
			frame->cfa.v = signal ? 0 : ip;
		exact = signal;
	}
	if (n && *end_ret != CP_UNWIND_END_MAX)
		frames[n - 1].by = CP_UNWIND_BY_NOTHING;
	*count_ret = n;
}

void cp_libunwind_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
		       size_t *count_ret, enum cp_unwind_end *end_ret)
{
	unw_addr_space_t as = address_space(&walk->space->libunwind, &accessors);
	struct cp_walk copy = *walk;
	unw_cursor_t cursor;

	if (!max || walk->arch != cp_arch_host() || !as || unw_init_remote(&cursor, as, &copy) < 0)
		return;
	walk_frames(&copy, &cursor, frames, max, count_ret, end_ret);
}

void cp_libunwind_ptrace_walk(const struct cp_walk *walk, struct cp_frame *frames, size_t max,
			      size_t *count_ret, enum cp_unwind_end *end_ret)
{
	unw_addr_space_t as = address_space(&walk->space->libunwind_ptrace, &held_accessors);
	struct held held = { .walk = *walk };
	unw_cursor_t cursor;
	void *upt;

	if (!max || walk->arch != cp_arch_host() || !as || !walk->capture->held)
		return;
	upt = _UPT_create(walk->capture->pid);
	if (!upt)
		return;
	walking = &held;
	if (unw_init_remote(&cursor, as, upt) == 0)
		walk_frames(walk, &cursor, frames, max, count_ret, end_ret);
	walking = NULL;
	_UPT_destroy(upt);
}
