/* SPDX-License-Identifier: MIT
 *
 * The types that memory is allocated for, as far as names of functions tell them.
 */
#ifndef CP_BASE_HEAPTYPE_H
#define CP_BASE_HEAPTYPE_H

#include <stddef.h>

/* The type that a function of a library allocates for, by its demangled name: the argument
 * of std::allocator<T>::allocate(), std::make_unique<T>(), <alloc::vec::Vec<T>>::push.
 * *size_ret characters; NULL: it does not tell. */
const char *cp_heap_type_in(const char *name, size_t *size_ret);

#endif
