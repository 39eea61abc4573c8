/* SPDX-License-Identifier: MIT
 *
 * What compilers call on their own account, and no header of the system
 * declares: the checked copies of _FORTIFY_SOURCE (their types are the
 * compiler's, which complains when these are not), and some of the C++ ABI.
 * Input of make.py.
 */
#ifndef CP_INSPECT_DECLARED_BUILTINS_H
#define CP_INSPECT_DECLARED_BUILTINS_H

#include <stddef.h>

extern void *__memcpy_chk(void *dest, const void *src, size_t n, size_t size);
extern void *__memmove_chk(void *dest, const void *src, size_t n, size_t size);
extern void *__mempcpy_chk(void *dest, const void *src, size_t n, size_t size);
extern void *__memset_chk(void *s, int c, size_t n, size_t size);
extern char *__strcpy_chk(char *dest, const char *src, size_t size);
extern char *__stpcpy_chk(char *dest, const char *src, size_t size);
extern char *__strncpy_chk(char *dest, const char *src, size_t n, size_t size);
extern char *__stpncpy_chk(char *dest, const char *src, size_t n, size_t size);
extern char *__strcat_chk(char *dest, const char *src, size_t size);
extern char *__strncat_chk(char *dest, const char *src, size_t n, size_t size);

extern void __stack_chk_fail(void);
extern int __cxa_atexit(void (*func)(void *), void *arg, void *dso_handle);
extern void __cxa_finalize(void *dso_handle);
extern void *__cxa_allocate_exception(size_t size);
extern void __cxa_free_exception(void *exception);
extern void __cxa_throw(void *exception, void *type, void (*destructor)(void *));
extern void *__cxa_begin_catch(void *exception);
extern void __cxa_end_catch(void);
extern void __cxa_rethrow(void);
extern int __cxa_guard_acquire(long *guard);
extern void __cxa_guard_release(long *guard);
extern void __cxa_guard_abort(long *guard);

#endif
