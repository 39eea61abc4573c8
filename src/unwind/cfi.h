/* SPDX-License-Identifier: MIT
 *
 * Call frame information: what the entries of .eh_frame and .debug_frame say, the
 * CIEs and FDEs.
 */
#ifndef CP_UNWIND_CFI_H
#define CP_UNWIND_CFI_H

#include "unwind/program.h"

/* False: unusable. On success, free with cp_cie_deinit(). */
bool cp_cie_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  unsigned nregs, struct cp_cie *ret);
void cp_cie_deinit(struct cp_cie *cie);

bool cp_fde_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  const struct cp_cie *cie, struct cp_fde *ret);

#endif
