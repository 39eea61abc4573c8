/* SPDX-License-Identifier: MIT
 *
 * Core files: what is left of a process, see core.c.
 */
#ifndef CP_IMAGE_CORE_H
#define CP_IMAGE_CORE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/types.h"
#include "base/vec.h"

struct cp_core_file {
	uint64_t start, end, offset; /* addresses; where in the file, in bytes */
	const char *path; /* owned by the core */
	bool program; /* the executable is mapped there */
};

struct cp_core_part {
	uint64_t start, end, offset; /* addresses; where in the core, in bytes */
};

/* What was mapped, in the core or not. */
struct cp_core_mapping {
	uint64_t start, end;
	bool executable, vdso;
};

struct cp_core_thread {
	pid_t tid;
	const uint8_t *registers; /* as NT_PRSTATUS has them; owned by the core */
	size_t size;
	const uint8_t *vectors; /* as NT_X86_XSTATE or NT_FPREGSET has them; NULL: not there */
	size_t vectors_size;
};

struct cp_core {
	struct cp_elf *elf; /* owned */
	char *notes; /* owned */
	pid_t pid; /* 0: not known */
	char command[17]; /* "": not known */
	int signal; /* that it ended by; 0: none, or not known */
	bool cut; /* the file ends before what it says it has */
	bool has_address;
	uint64_t address; /* that the signal is about */
	CP_VEC(struct cp_core_thread) threads; /* the one that it ended by comes first */
	CP_VEC(struct cp_core_file) files; /* mappings of files, by address */
	CP_VEC(struct cp_core_part) parts; /* what is in the core, by address */
	CP_VEC(struct cp_core_mapping) mappings; /* by address */
};

/* *ret is NULL where the file is something else than a core. Destroyed by
 * cp_core_destroy(). */
CP_ERROR cp_core_open(const char *path, struct cp_core **ret);
void cp_core_destroy(struct cp_core *core);
/* Copies up to `size` bytes at `address` of the process; answers how many are in the core
 * from there on: what was never written to may not be. */
size_t cp_core_read(const struct cp_core *core, uint64_t address, void *buffer, size_t size);
/* Was a file of this build-id, in hex, mapped there? False only where the core has another one. */
bool cp_core_has_mapped(const struct cp_core *core, const struct cp_core_file *file,
			const char *build_id);

#endif
