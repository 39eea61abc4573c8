/* SPDX-License-Identifier: MIT
 *
 * The pages of coverage: one table of all files, a page a source file, a page a program
 * without line tables. Style and script lie beside them, so that servers which forbid
 * inline ones show them, too.
 */
#ifndef CP_REPORT_PAGES_H
#define CP_REPORT_PAGES_H

#include "base/error.h"
#include "report/coverage/coverage.h"

/* Names of pages, unique and of bounded length; NULL without memory. */
char **cp_pages_names(const struct cp_coverage *c);
void cp_pages_names_free(const struct cp_coverage *c, char **names);

/* Writes index.html and a page for each file into `directory`, which is made.
 * Files of that name that are not from an earlier report are left alone: an error. */
CP_ERROR cp_coverage_html(const struct cp_coverage *c, const char *directory);

#endif
