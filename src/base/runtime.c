/* SPDX-License-Identifier: MIT */
#include "base/runtime.h"

#include "base/fname.h"
#include "base/text.h"

bool cp_starts_with_any(const char *text, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (cp_starts_with(text, *prefixes))
			return true;
	return false;
}

bool cp_file_is_runtime(const char *name)
{
	static const char *const begins[] = { "libc.",	     "libc-",	    "libpthread",
					      "ld-",	     "libstdc++.",  "libc++",
					      "libgcc_s",    "libjemalloc", "libtcmalloc",
					      "libmimalloc", NULL };

	return cp_starts_with_any(name, begins);
}

/* True for C's ways to take locks and memory, in a program that has its own: one that
 * is linked statically. */
static bool is_of_c(const char *name)
{
	static const char *const names[] = { "malloc",	      "calloc",		"realloc",
					     "reallocarray",  "free",		"strdup",
					     "strndup",	      "memalign",	"mallocx",
					     "rallocx",	      "dallocx",	"sdallocx",
					     "aligned_alloc", "posix_memalign", "mmap",
					     "mmap64",	      "munmap",		"mremap",
					     "brk",	      "sbrk",		"sysmalloc",
					     "_int_malloc",   "tcache_init",	NULL };
	static const char *const begins[] = { "__lll_",
					      "___pthread_",
					      "__pthread_",
					      "__GI_",
					      "__libc_",
					      "pthread_mutex_",
					      "pthread_cond_",
					      "__gthread_",
					      "je_",
					      "mi_",
					      "tc_",
					      "__mmap",
					      "__munmap",
					      "__mremap",
					      "__brk",
					      "__sbrk",
					      "__glibc_morecore",
					      "sysmalloc_mmap",
					      "tcache_init.",
					      NULL };

	return cp_is_any(name, names) || cp_starts_with_any(name, begins);
}

/* True for wrappers that programs put around malloc() under names that many use: all
 * memory would be theirs. */
static bool is_wrapper(const char *name)
{
	static const char *const begins[] = { "xmalloc",
					      "xcalloc",
					      "xrealloc",
					      "xzalloc",
					      "xstrdup",
					      "xstrndup",
					      "xfree",
					      "zmalloc",
					      "zcalloc",
					      "zrealloc",
					      "ztrymalloc",
					      "ztrycalloc",
					      "ztryrealloc",
					      "zstrdup",
					      "zfree",
					      "g_malloc",
					      "g_try_malloc",
					      "g_realloc",
					      "g_try_realloc",
					      "g_slice_alloc",
					      "g_slice_free",
					      "g_strdup",
					      "g_strndup",
					      "g_free",
					      "Perl_safesys",
					      "PyMem_",
					      "_PyMem_",
					      "PyObject_Malloc",
					      "PyObject_Calloc",
					      "PyObject_Realloc",
					      "PyObject_Free",
					      "_PyObject_Malloc",
					      "_PyObject_Calloc",
					      "_PyObject_Realloc",
					      "_PyObject_Free",
					      NULL };

	return cp_starts_with_any(name, begins);
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

	return cp_starts_with_any(name, begins) ||
	       cp_starts_with_any(name + cp_fname_begin(name), begins);
}

bool cp_name_is_runtime(const char *name)
{
	return is_of_c(name) || is_wrapper(name) || is_of_language(name);
}
