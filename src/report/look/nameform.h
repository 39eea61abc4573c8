/* SPDX-License-Identifier: MIT
 *
 * What can be left out of the name of a function:
 *
 *     void shop::addAll<int>(std::vector<int> const&)
 *     shop::addAll<int>                                CP_NAME_ARGUMENTS
 *     shop::addAll                                     CP_NAME_BARE
 *     <alloc::vec::Vec<u8>>::push
 *     Vec::push                                        CP_NAME_BARE
 */
#ifndef CP_REPORT_NAMEFORM_H
#define CP_REPORT_NAMEFORM_H

#include "base/buf.h"

enum cp_name_form {
	CP_NAME_ARGUMENTS, /* without parameters and what it returns */
	CP_NAME_BARE, /* and without template arguments */
	CP_NAME_OF_TYPE, /* and of its scopes the last */
	CP_NAME_ALONE, /* and no scope */
	CP_NAME_OF_TYPE_ARGUMENTS, /* of the scopes the last; with template arguments */
	CP_NAME_OF_TYPE_WHOLE, /* and with parameters */
	CP_NAME_FORMS,
};

/* Appends the demangled name so; a broken one is appended as it is. */
void cp_name_form(struct cp_buf *out, const char *name, enum cp_name_form form);

#endif
