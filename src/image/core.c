/* SPDX-License-Identifier: MIT
 *
 * A core file (core(5)) is an ELF file whose segments are a process's memory and whose
 * notes tell the rest. What was mapped from a file and never written to is not in it,
 * as a rule: that is in the file still, if it is the same one.
 *
 *     NT_PRSTATUS  one a thread     NT_PRPSINFO  the process
 *     NT_FILE      what was mapped  NT_AUXV      where the program's headers are
 *     NT_FPREGSET, NT_X86_XSTATE    of the thread whose NT_PRSTATUS came before
 *     NT_SIGINFO   the signal, of the first thread
 */
#include "image/core.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/file.h"
#include "image/elffile.h"

#define NOTES_MAX (UINT64_C(64) << 20)
#define FILES_MAX 65536
#define HEAD 4096 /* bytes of a file that a core has: its first page */

struct reading {
	struct cp_core *core;
	uint64_t phdr, vdso; /* AT_PHDR, AT_SYSINFO_EHDR; 0: not told */
};

static void read_auxv(struct reading *r, struct cp_cursor c)
{
	uint64_t type, value;

	while (cp_cursor_left(&c) >= 16) {
		type = cp_cursor_u64(&c);
		value = cp_cursor_u64(&c);
		if (type == AT_PHDR)
			r->phdr = value;
		if (type == AT_SYSINFO_EHDR)
			r->vdso = value;
	}
}

/* count, page size, (start, end, page)..., name... */
static void read_files(struct reading *r, struct cp_cursor c)
{
	uint64_t count = cp_cursor_u64(&c), page = cp_cursor_u64(&c), i;
	struct cp_core_file f = { 0 };
	size_t first = r->core->files.count;

	for (i = 0; i < count && i < FILES_MAX && !c.bad; i++) {
		f.start = cp_cursor_u64(&c);
		f.end = cp_cursor_u64(&c);
		f.offset = cp_cursor_u64(&c) * page;
		if (c.bad || !cp_vec_push(&r->core->files, f))
			break;
	}
	for (i = first; i < r->core->files.count; i++) {
		r->core->files.items[i].path = cp_cursor_string(&c);
		if (c.bad)
			r->core->files.count = i;
	}
}

static void read_status(struct reading *r, struct cp_cursor c)
{
	const uint8_t *bytes = cp_cursor_bytes(&c, sizeof(struct elf_prstatus));
	struct cp_core_thread thread = { 0 };
	struct elf_prstatus status;

	if (!bytes)
		return;
	memcpy(&status, bytes, sizeof(status));
	if (!r->core->threads.count)
		r->core->signal = status.pr_cursig;
	thread.tid = status.pr_pid;
	thread.registers = bytes + offsetof(struct elf_prstatus, pr_reg);
	thread.size = sizeof(status.pr_reg);
	cp_vec_push(&r->core->threads, thread);
}

/* The fuller set is taken, which begins as the other one does. */
static void read_vectors(struct reading *r, struct cp_cursor c)
{
	size_t size = cp_cursor_left(&c);
	struct cp_core_thread *t =
		r->core->threads.count ? &r->core->threads.items[r->core->threads.count - 1] : NULL;

	if (!t || size <= t->vectors_size)
		return;
	t->vectors = cp_cursor_bytes(&c, size);
	t->vectors_size = size;
}

static void read_process(struct reading *r, struct cp_cursor c)
{
	struct elf_prpsinfo process;
	const uint8_t *bytes = cp_cursor_bytes(&c, sizeof(process));

	if (!bytes)
		return;
	memcpy(&process, bytes, sizeof(process));
	r->core->pid = process.pr_pid;
	memcpy(r->core->command, process.pr_fname, sizeof(process.pr_fname));
}

/* What it is about is an address where the processor found fault. */
static void read_signal(struct reading *r, struct cp_cursor c)
{
	const uint8_t *bytes = cp_cursor_bytes(&c, sizeof(siginfo_t));
	siginfo_t si;

	if (!bytes || r->core->threads.count != 1)
		return;
	memcpy(&si, bytes, sizeof(si));
	if (si.si_code <= 0 || si.si_code == SI_KERNEL ||
	    (si.si_signo != SIGSEGV && si.si_signo != SIGBUS && si.si_signo != SIGILL &&
	     si.si_signo != SIGFPE))
		return;
	r->core->has_address = true;
	r->core->address = (uintptr_t)si.si_addr;
}

static void read_note(struct reading *r, uint32_t type, struct cp_cursor c)
{
	switch (type) {
	case NT_PRSTATUS:
		read_status(r, c);
		break;
	case NT_FPREGSET:
	case NT_X86_XSTATE:
		read_vectors(r, c);
		break;
	case NT_PRPSINFO:
		read_process(r, c);
		break;
	case NT_SIGINFO:
		read_signal(r, c);
		break;
	case NT_FILE:
		read_files(r, c);
		break;
	case NT_AUXV:
		read_auxv(r, c);
		break;
	default:
		break;
	}
}

static void read_notes(struct reading *r, const Elf64_Phdr *segment)
{
	uint32_t name, size, type;
	const uint8_t *at, *desc;
	struct cp_cursor c;

	if (r->core->notes || segment->p_filesz > NOTES_MAX)
		return;
	r->core->notes = malloc(segment->p_filesz + 1);
	if (!r->core->notes ||
	    !cp_elf_read(r->core->elf, segment->p_offset, r->core->notes, segment->p_filesz))
		return;
	c = cp_cursor(r->core->notes, segment->p_filesz);
	while (cp_cursor_left(&c) >= 12) {
		name = cp_cursor_u32(&c);
		size = cp_cursor_u32(&c);
		type = cp_cursor_u32(&c);
		at = cp_cursor_bytes(&c, ((uint64_t)name + 3) & ~UINT64_C(3));
		desc = cp_cursor_bytes(&c, size);
		if (!at || !desc)
			return;
		if (name >= 4 && (!memcmp(at, "CORE", 4) || type == NT_X86_XSTATE))
			read_note(r, type, cp_cursor(desc, size));
		cp_cursor_bytes(&c, -size & 3);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct cp_core_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_place(const void *a, const void *b)
{
	const struct cp_core_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_mapping(struct cp_core *core, const Elf64_Phdr *p)
{
	const struct cp_core_mapping m = { .start = p->p_vaddr,
					   .end = p->p_vaddr + p->p_memsz,
					   .executable = p->p_flags & PF_X };

	return m.end <= m.start || cp_vec_push(&core->mappings, m);
}

static CP_ERROR read_core(struct cp_core *core)
{
	struct cp_core_mapping *m;
	struct reading r = { .core = core };
	struct cp_core_file *f;
	const Elf64_Phdr *p;

	for (p = core->elf->segments; p < cp_elf_segments_end(core->elf); p++) {
		if (p->p_type == PT_NOTE)
			read_notes(&r, p);
		if (p->p_type == PT_LOAD && !add_mapping(core, p))
			return cp_error_nomem();
		core->cut |= p->p_filesz > core->elf->size ||
			     p->p_offset > core->elf->size - p->p_filesz;
		if (p->p_type != PT_LOAD || !p->p_filesz || p->p_vaddr + p->p_filesz < p->p_vaddr)
			continue;
		if (!cp_vec_push(&core->parts,
				 (struct cp_core_part){ p->p_vaddr, p->p_vaddr + p->p_filesz,
							p->p_offset }))
			return cp_error_nomem();
	}
	cp_vec_sort(&core->parts, by_start);
	cp_vec_sort(&core->mappings, by_place);
	cp_vec_for_each(&core->mappings, m)
		m->vdso = r.vdso && m->start == r.vdso;
	cp_vec_for_each(&core->files, f)
		f->program = r.phdr >= f->start && r.phdr < f->end;
	return NULL;
}

CP_ERROR cp_core_open(const char *path, struct cp_core **ret)
{
	struct cp_core *core;
	struct cp_error *err;
	Elf64_Half type = 0;
	int fd = -1;

	*ret = NULL;
	CP_TRY(cp_file_open_regular(-1, path, &fd));
	core = calloc(1, sizeof(*core));
	if (!core || cp_pread(fd, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type)) != 2 ||
	    type != ET_CORE) {
		close(fd);
		cp_core_destroy(core);
		return core ? NULL : cp_error_nomem();
	}
	err = cp_elf_open_fd(fd, path, &core->elf);
	if (!err)
		err = read_core(core);
	if (!err && !core->threads.count)
		err = cp_error_new(CP_ERR_FORMAT, 0,
				   core->cut ? "%s: the core file is cut short, and nothing of its "
					       "threads is there"
					     : "%s: a core file without a thread",
				   path);
	if (err) {
		cp_core_destroy(core);
		return err;
	}
	*ret = core;
	return NULL;
}

void cp_core_destroy(struct cp_core *core)
{
	if (!core)
		return;
	cp_vec_free(&core->threads);
	cp_vec_free(&core->files);
	cp_vec_free(&core->parts);
	cp_vec_free(&core->mappings);
	free(core->notes);
	cp_elf_destroy(core->elf);
	free(core);
}

bool cp_core_has_mapped(const struct cp_core *core, const struct cp_core_file *file,
			const char *build_id)
{
	char own[2 * CP_BUILD_ID_MAX + 1] = "";
	void *head = malloc(HEAD);
	struct cp_elf *elf = NULL;

	if (head && cp_core_read(core, file->start, head, HEAD) == HEAD &&
	    !memcmp(head, ELFMAG, SELFMAG))
		cp_error_free(cp_elf_open_blob(head, HEAD, file->path, &elf));
	else
		free(head);
	if (elf)
		cp_elf_build_id_hex(elf, own);
	cp_elf_destroy(elf);
	return !*own || !strcmp(own, build_id);
}

size_t cp_core_read(const struct cp_core *core, uint64_t address, void *buffer, size_t size)
{
	const struct cp_core_part *part;
	size_t done = 0, n, take;

	n = cp_vec_partition(&core->parts, it, it->end <= address);
	for (; done < size && n < core->parts.count; n++, done += take) {
		part = &core->parts.items[n];
		if (address + done < part->start)
			break;
		take = size - done;
		if (take > part->end - (address + done))
			take = part->end - (address + done);
		if (!cp_elf_read(core->elf, part->offset + (address + done - part->start),
				 (uint8_t *)buffer + done, take))
			break;
	}
	return done;
}
