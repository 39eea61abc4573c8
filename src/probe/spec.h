/* SPDX-License-Identifier: MIT
 *
 * SPEC: which functions are meant. A comma-separated list over demangled
 * names; the last entry that matches wins, `-` before an entry excludes.
 *
 *     NAME or GLOB    parse_*, ns::Foo::*, "ns::Foo::bar(int)"; a name without its
 *                     parameters stands for all overloads, one without the tags
 *                     of its ABI for give[abi:cxx11]; a mangled one in full
 *     NAME@IMAGE      there only: strlen@libc, parse_*@libx.so.1; NAME@plt: a stub
 *     /REGEX/         POSIX extended, anywhere in the name
 *     all             everything;  program: the executable without its libraries
 *     lib:GLOB        image file name;   src:GLOB  source file
 *     class:GLOB      ns:GLOB            also M: T: N: (name, class, namespace)
 *     plt:GLOB        calls of library functions: stubs of the program, by the name
 *                     of what they lead to, which nothing else matches; those of
 *                     libraries by plt:GLOB@IMAGE, or where lib: names them
 */
#ifndef CP_PROBE_SPEC_H
#define CP_PROBE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cp_spec;

/* A function as an entry is compared with it. */
struct cp_spec_subject {
	const char *name; /* demangled */
	const char *linkage_name;
	const char *image; /* file name */
	const char *started_as; /* another one, which it was executed by; or NULL */
	bool program; /* the image is the executable */
	bool plt;
	/* The source file, asked for only when an entry needs it; NULL: unknown. */
	const char *(*source)(void *ctx);
	void *ctx;
};

CP_ERROR cp_spec_parse(const char *text, struct cp_spec **ret);
void cp_spec_destroy(struct cp_spec *spec);

enum cp_spec_match {
	CP_SPEC_NO,
	CP_SPEC_YES,
	CP_SPEC_NAMED, /* yes, by an entry that names it in full */
};
/* Matches a subject, and counts for each entry that it matched something. */
enum cp_spec_match cp_spec_match(struct cp_spec *spec, const struct cp_spec_subject *subject);
/* Matches likewise; *entry_ret is the number, from 1, of the entry that decided, 0:
 * none. Of several names of one thing the one with the highest number decides. */
enum cp_spec_match cp_spec_match_at(struct cp_spec *spec, const struct cp_spec_subject *subject,
				    size_t *entry_ret);
/* False when nothing in an image of that name could match: it need not be read, and an entry
 * that leaves it out has matched. */
bool cp_spec_wants_image(struct cp_spec *spec, const char *image, bool program);
/* True when calls of library functions in it could match. */
bool cp_spec_wants_stubs(const struct cp_spec *spec, const char *image, bool program);
/* True when every positive entry is bound to the program. */
bool cp_spec_only_program(const struct cp_spec *spec);
/* Entry `n` as it was written, when it has matched nothing so far; else NULL.
 * Counted from 0; *end_ret: there is no such entry. */
const char *cp_spec_unmatched(const struct cp_spec *spec, size_t n, bool *end_ret);

/* False when no entry looks at names: they need not be demangled. */
bool cp_spec_wants_names(const struct cp_spec *spec);

/* The distance of a function's name (or an image's) to what the entries name that
 * have matched nothing: see distance.h. */
unsigned cp_spec_near(const struct cp_spec *spec, const char *name, bool image);
/* The pattern that would match `name`, of an entry that has matched nothing:
 * `*::parse_*` for `parse_*` and ns::parse_line. NULL: nothing; lives as long as the
 * SPEC. */
const char *cp_spec_scoped(const struct cp_spec *spec, const char *name);

#endif
