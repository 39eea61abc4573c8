/* SPDX-License-Identifier: MIT
 *
 * capstone, loaded when an instruction is first given to it. Its tables of all instruction
 * sets are pointers, 1.3 MB that whoever is linked with it relocates before main(), copies
 * when it forks and takes down at its end; most runs ask it nothing.
 *
 *     cs_disasm_iter() ──► this file's ──► the library's, if it could be loaded
 *
 * So these are the library's functions by their names and prototypes. Nobody else sees them
 * (what program and library export is listed), and the library itself calls its own.
 */
#include "arch/capstone.h"

#include <pthread.h>
#include <stddef.h>

#include "base/library.h"
#include "base/log.h"
#include "base/types.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
/* What the header describes. */
#define LIBRARY "libcapstone.so." STRING(CS_API_MAJOR)

#define POINTER(name) __typeof__(name) *name;
#define ROW(name) { #name, offsetof(struct functions, name) },

static struct functions {
	CP_CAPSTONE_FUNCTIONS(POINTER)
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	static const struct cp_library_function functions[] = { CP_CAPSTONE_FUNCTIONS(ROW) };
	const char *why = cp_library_load(LIBRARY, functions, CP_ARRAY_SIZE(functions), &library);

	if (!why)
		return;
	cp_info("what needs capstone is left out: %s", why);
	library.cs_open = NULL;
}

/* Without a handle none of the others is called. */
cs_err cs_open(cs_arch arch, cs_mode mode, csh *handle)
{
	pthread_once(&once, load);
	return library.cs_open ? library.cs_open(arch, mode, handle) : CS_ERR_MEM;
}

cs_err cs_close(csh *handle)
{
	return library.cs_close(handle);
}

cs_err cs_option(csh handle, cs_opt_type type, size_t value)
{
	return library.cs_option(handle, type, value);
}

cs_insn *cs_malloc(csh handle)
{
	return library.cs_malloc(handle);
}

void cs_free(cs_insn *insn, size_t count)
{
	library.cs_free(insn, count);
}

bool cs_disasm_iter(csh handle, const uint8_t **code, size_t *size, uint64_t *address,
		    cs_insn *insn)
{
	return library.cs_disasm_iter(handle, code, size, address, insn);
}

cs_err cs_regs_access(csh handle, const cs_insn *insn, cs_regs regs_read, uint8_t *regs_read_count,
		      cs_regs regs_write, uint8_t *regs_write_count)
{
	return library.cs_regs_access(handle, insn, regs_read, regs_read_count, regs_write,
				      regs_write_count);
}

bool cs_insn_group(csh handle, const cs_insn *insn, unsigned int group_id)
{
	return library.cs_insn_group(handle, insn, group_id);
}

bool cs_reg_write(csh handle, const cs_insn *insn, unsigned int reg_id)
{
	return library.cs_reg_write(handle, insn, reg_id);
}
