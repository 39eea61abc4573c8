/* SPDX-License-Identifier: MIT
 *
 * Who takes a lock or memory: not the function of the C library that does it, nor
 * what a language has in between, but who called those.
 */
#include <string.h>

#include "base/text.h"
#include "base/types.h"
#include "modules/log.h"

/* Behind the type that a demangled template function returns:
 * "void std::vector<int>::push_back(int)". */
static const char *without_type(const char *name)
{
	const char *at, *begin = name;
	int depth = 0;

	if (cp_starts_with(name, "operator "))
		return name;
	for (at = name; *at; at++) {
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth -= depth != 0;
		else if (!depth && *at == '(')
			break;
		else if (!depth && *at == ' ')
			begin = at + 1;
		if (!depth && begin == at && cp_starts_with(at, "operator"))
			break;
	}
	return begin;
}

static bool begins_with_any(const char *name, const char *const *begins)
{
	for (; *begins; begins++)
		if (cp_starts_with(name, *begins))
			return true;
	return false;
}

/* Of C's ways to both, in a program that has its own. */
static bool is_of_c(const char *name)
{
	static const char *const names[] = { "malloc",	      "calloc",		"realloc",
					     "reallocarray",  "free",		"strdup",
					     "strndup",	      "memalign",	"mallocx",
					     "rallocx",	      "dallocx",	"sdallocx",
					     "aligned_alloc", "posix_memalign", NULL };
	static const char *const begins[] = { "__lll_",	       "___pthread_", "__pthread_",
					      "__GI_",	       "__libc_",     "pthread_mutex_",
					      "pthread_cond_", "__gthread_",  "je_",
					      "mi_",	       "tc_",	      NULL };

	return cp_is_any(name, names) || begins_with_any(name, begins);
}

static bool is_of_language(const char *name)
{
	static const char *const begins[] = {
		"std::",    "__gnu_cxx::", "operator new", "operator delete",
		"alloc::",  "core::",	   "hashbrown::",  "<std::",
		"<alloc::", "<core::",	   "<hashbrown::", "__rust_",
		"__rg_",    "__rdl_",	   "__rustc::",	   "_Zn",
		"_Zd",	    NULL
	};

	return begins_with_any(name, begins) || begins_with_any(without_type(name), begins);
}

/* What the C library does, and its dynamic linker, and what stands in for them. */
static bool is_library(const cprof_image *image)
{
	static const char *const begins[] = { "libc.",	     "libc-",	    "libpthread",
					      "ld-",	     "libstdc++.",  "libc++",
					      "libgcc_s",    "libjemalloc", "libtcmalloc",
					      "libmimalloc", NULL };
	const char *path = image ? cprof_assembly_path(cprof_image_assembly(image)) : "";

	return begins_with_any(cp_basename(path), begins);
}

bool log_is_runtime(const cprof_image *image, const cprof_function *function)
{
	const char *name = function ? cprof_function_name(function) : NULL;

	return is_library(image) || (name && (is_of_c(name) || is_of_language(name)));
}
