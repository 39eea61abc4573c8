/* SPDX-License-Identifier: MIT
 *
 * Where exceptions may come to in an object: the landing pads that the tables of
 * all its functions name, and from which calls.
 *
 *     .eh_frame: FDE ── LSDA ──► .gcc_except_table: call sites ── pad, pad, ...
 */
#ifndef CP_UNWIND_PADS_H
#define CP_UNWIND_PADS_H

#include "base/error.h"
#include "unwind/lsda.h"
#include "unwind/unwind.h"

/* `eh_frame` are the section's bytes; `file` reads by link-time address. Link-time
 * addresses, sorted, each once, malloc()ed; NULL when there are none. What makes
 * no sense is passed over. */
CP_ERROR cp_unwind_pads(const struct cp_arch *arch, const struct cp_unwind_section *eh_frame,
			const struct cp_reader *file, uint64_t **ret, size_t *count_ret);
/* The same with the calls, sorted by `from`. */
CP_ERROR cp_unwind_landings(const struct cp_arch *arch, const struct cp_unwind_section *eh_frame,
			    const struct cp_reader *file, struct cp_lsda_landing **ret,
			    size_t *count_ret);

#endif
