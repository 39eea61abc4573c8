/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_impl.h - how annotations are recorded. Included by cprof/trace.h.
 *
 * The data (root, note, the thread's number) are made in assembly, because only
 * there C has COMDAT groups: however many files include this, each executable
 * and each shared library has one root, hidden from the others. The note is of
 * the root's group, so that a linker that drops unused sections keeps both or
 * neither. `.ifndef` is for link-time optimisation, which puts the assembly of
 * several files into one.
 *
 * A writer takes an index with one atomic addition, says in its slot that it is
 * not complete, fills it, and says that it is. Who overtakes whom is told by
 * the sequence numbers (trace_format.h).
 *
 * After fork() the child's copy of the ring is its own. Whether a process is
 * new tells a page that the kernel empties at fork (MADV_WIPEONFORK).
 *
 * libc's functions are declared here under other names, so that this works
 * whatever of libc the including file asked for (-std=c99 hides half of it).
 */
#ifndef CPROF_TRACE_IMPL_H
#define CPROF_TRACE_IMPL_H

#include <cprof/trace_format.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#if UINTPTR_MAX != UINT64_MAX || !defined(__ELF__)
#error "cprof/trace.h is for 64-bit ELF programs; define CPROF_TRACE_DISABLE elsewhere"
#endif

#ifndef CPROF_TRACE_DEFAULT_CAPACITY
#define CPROF_TRACE_DEFAULT_CAPACITY 16384u
#endif

#ifdef __cplusplus
#define CPROF_TRACE_INLINE_ __attribute__((visibility("hidden"))) inline
#define CPROF_TRACE_SLOW_ __attribute__((visibility("hidden"), noinline)) inline
#define CPROF_TRACE_CAST_(type, value) static_cast<type>(value)
#define CPROF_TRACE_NUMBER_(pointer) reinterpret_cast<uintptr_t>(pointer)
extern "C" {
#else
#define CPROF_TRACE_INLINE_ static inline
#ifdef __clang__
#define CPROF_TRACE_SLOW_ static inline __attribute__((noinline))
#else
#define CPROF_TRACE_SLOW_ static __attribute__((noinline, unused))
#endif
#define CPROF_TRACE_CAST_(type, value) ((type)(value))
#define CPROF_TRACE_NUMBER_(pointer) ((uintptr_t)(pointer))
#endif

/* A page of each process: zero again in a child of fork(). */
struct cprof_trace_page_ {
	uint64_t first; /* root.head at the fork, + 1; 0: nothing recorded yet */
	uint32_t pid, lock; /* of the strings */
};

struct cprof_trace_state_ {
	struct cprof_trace_page_ *page; /* NULL: none yet */
	const char **strings; /* a hash table; [0] holds its size */
	char *chunk; /* room for strings */
	size_t chunk_left;
	uint64_t used; /* strings */
	uint32_t lock; /* instead of the page's, where there is none */
	uint32_t no_page;
};

/* (What C99's _Static_assert is, is up to libc, and not without warnings.) */
typedef char cprof_trace_layout_is_right_
	[sizeof(cprof_trace_event) == 64 && offsetof(cprof_trace_root, enabled) == 24 &&
			 offsetof(cprof_trace_root, head) == 40 && sizeof(cprof_trace_root) == 80 &&
			 sizeof(struct cprof_trace_state_) == 48
		 ? 1
		 : -1];

extern cprof_trace_root cprof_trace_root_v1 __attribute__((visibility("hidden")));
extern struct cprof_trace_state_ cprof_trace_state_v1 __attribute__((visibility("hidden")));
/* clang-format off */
__asm__(".ifndef cprof_trace_root_v1\n"
	".pushsection .data.cprof_trace_root_v1,\"awG\",%progbits,cprof_trace_root_v1,comdat\n"
	".weak cprof_trace_root_v1\n"
	".hidden cprof_trace_root_v1\n"
	".type cprof_trace_root_v1,%object\n"
	".size cprof_trace_root_v1,80\n"
	".balign 64\n"
	"cprof_trace_root_v1:\n"
	".8byte 0x315254464f525043\n" /* magic */
	".4byte 1,80,64,0\n" /* version, root_size, event_size, capacity */
	".4byte 0,1\n" /* enabled, clock_id */
	".8byte 0,0,0,0,0,0\n"
	".popsection\n"
	".pushsection .bss.cprof_trace_state_v1,\"awG\",%nobits,cprof_trace_root_v1,comdat\n"
	".weak cprof_trace_state_v1\n"
	".hidden cprof_trace_state_v1\n"
	".type cprof_trace_state_v1,%object\n"
	".size cprof_trace_state_v1,48\n"
	".balign 16\n"
	"cprof_trace_state_v1:\n"
	".zero 48\n"
	".popsection\n"
	".pushsection .note.cprof.trace,\"aG\",%note,cprof_trace_root_v1,comdat\n"
	".balign 4\n"
	".4byte 6,8,0x54435250\n" /* sizes of name and desc; CPROF_TRACE_NOTE_TYPE */
	".asciz \"cprof\"\n"
	".balign 4\n"
	".8byte cprof_trace_root_v1 - .\n"
	".popsection\n"
	".endif\n");
/* clang-format on */

/* Process and thread: pid << 32 | tid. In static TLS, so that a signal handler
 * in a library that was loaded later makes no memory for it. The compiler does
 * not know of it: with link-time optimisation by clang and lld, it may not be
 * defined in assembly otherwise. */
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
/* clang-format off */
__asm__(".ifndef cprof_trace_self_v1\n"
	".pushsection .tbss.cprof_trace_self_v1,\"awTG\",%nobits,cprof_trace_root_v1,comdat\n"
	".weak cprof_trace_self_v1\n"
	".hidden cprof_trace_self_v1\n"
	".type cprof_trace_self_v1,%tls_object\n"
	".size cprof_trace_self_v1,8\n"
	".balign 8\n"
	"cprof_trace_self_v1:\n"
	".zero 8\n"
	".popsection\n"
	".endif\n");
/* clang-format on */
CPROF_TRACE_INLINE_ uint64_t *cprof_trace_self_(void)
{
	uint64_t *self;

#ifdef __x86_64__
	__asm__("movq cprof_trace_self_v1@gottpoff(%%rip), %0\n\taddq %%fs:0, %0"
		: "=r"(self)
		:
		: "cc");
#else
	uint64_t base;

	__asm__("mrs %1, tpidr_el0\n\t"
		"adrp %0, :gottprel:cprof_trace_self_v1\n\t"
		"ldr %0, [%0, :gottprel_lo12:cprof_trace_self_v1]\n\t"
		"add %0, %0, %1"
		: "=&r"(self), "=&r"(base));
#endif
	return self;
}
#else
CPROF_TRACE_INLINE_ uint64_t *cprof_trace_self_(void)
{
	static __thread uint64_t self;

	return &self;
}
#endif

int cprof_trace_clock_gettime_(int clock, int64_t *time) __asm__("clock_gettime");
long cprof_trace_syscall_(long number, ...) __asm__("syscall");
void *cprof_trace_mmap_(void *at, size_t size, int protection, int flags, int fd,
			long offset) __asm__("mmap");
int cprof_trace_munmap_(void *at, size_t size) __asm__("munmap");
int cprof_trace_madvise_(void *at, size_t size, int advice) __asm__("madvise");

CPROF_TRACE_INLINE_ bool cprof_trace_enabled(void)
{
	return __builtin_expect(__atomic_load_n(&cprof_trace_root_v1.enabled, __ATOMIC_RELAXED) !=
					0,
				0);
}

CPROF_TRACE_INLINE_ void cprof_trace_set_enabled(bool on)
{
	if (on)
		(void)__atomic_or_fetch(&cprof_trace_root_v1.enabled, CPROF_TRACE_ENABLED_BY_APP,
					__ATOMIC_RELAXED);
	else
		(void)__atomic_and_fetch(&cprof_trace_root_v1.enabled, ~CPROF_TRACE_ENABLED_BY_APP,
					 __ATOMIC_RELAXED);
}

__attribute__((constructor, unused)) static void cprof_trace_constructor_(void)
{
	const char *on = getenv("CPROF_TRACE");

	if (on && *on && strcmp(on, "0") != 0)
		cprof_trace_set_enabled(true);
}

/* Anonymous private memory; NULL: there is none. errno stays the program's, here
 * as in all that an event may call. */
CPROF_TRACE_SLOW_ void *cprof_trace_pages_(size_t bytes)
{
	/* READ | WRITE; PRIVATE | ANONYMOUS | NORESERVE: the same on all of Linux's
	 * 64-bit architectures that have clang and gcc today but alpha and mips */
	int error = errno;
	void *p = cprof_trace_mmap_(CPROF_TRACE_NULL_, bytes, 3, 0x4022, -1, 0);

	errno = error;
	return CPROF_TRACE_NUMBER_(p) == UINTPTR_MAX ? CPROF_TRACE_NULL_ : p; /* MAP_FAILED */
}

/* This process's page; NULL: there is none, or the kernel (before 4.14) would
 * not empty it. */
CPROF_TRACE_SLOW_ struct cprof_trace_page_ *cprof_trace_page_get_(void)
{
	struct cprof_trace_state_ *state = &cprof_trace_state_v1;
	struct cprof_trace_page_ *page = __atomic_load_n(&state->page, __ATOMIC_ACQUIRE);
	int error = errno;
	void *fresh;

	if (page || __atomic_load_n(&state->no_page, __ATOMIC_RELAXED))
		return page;
	fresh = cprof_trace_pages_(4096);
	if (!fresh || cprof_trace_madvise_(fresh, 4096, 18 /* MADV_WIPEONFORK */)) {
		__atomic_store_n(&state->no_page, 1, __ATOMIC_RELAXED);
		if (fresh)
			(void)cprof_trace_munmap_(fresh, 4096);
		errno = error;
		return CPROF_TRACE_NULL_;
	}
	if (__atomic_compare_exchange_n(&state->page, &page,
					CPROF_TRACE_CAST_(struct cprof_trace_page_ *, fresh), false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return CPROF_TRACE_CAST_(struct cprof_trace_page_ *, fresh);
	(void)cprof_trace_munmap_(fresh, 4096);
	return page;
}

/* The first event of a thread; of a process, it also says where its own events
 * begin. Nobody takes an index before that: whoever does it, says the same. */
CPROF_TRACE_SLOW_ uint32_t cprof_trace_new_thread_(void)
{
	cprof_trace_root *root = &cprof_trace_root_v1;
	struct cprof_trace_page_ *page = cprof_trace_page_get_();
	uint32_t pid = CPROF_TRACE_CAST_(uint32_t, cprof_trace_syscall_(SYS_getpid));
	uint32_t tid = CPROF_TRACE_CAST_(uint32_t, cprof_trace_syscall_(SYS_gettid));
	uint64_t first = __atomic_load_n(&root->head, __ATOMIC_ACQUIRE) + 1, none = 0;
	bool own =
		CPROF_TRACE_CAST_(uint32_t, __atomic_load_n(&root->pid, __ATOMIC_RELAXED)) == pid;

	if (page) {
		own = !__atomic_compare_exchange_n(&page->first, &none, first, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (own)
			first = none;
	}
	if (!own || page) {
		/* A ring that was set up later begins later. */
		if (__atomic_load_n(&root->first, __ATOMIC_RELAXED) < first - 1)
			__atomic_store_n(&root->first, first - 1, __ATOMIC_RELAXED);
		__atomic_store_n(&root->pid, CPROF_TRACE_CAST_(int32_t, pid), __ATOMIC_RELEASE);
	}
	if (page)
		__atomic_store_n(&page->pid, pid, __ATOMIC_RELEASE);
	*cprof_trace_self_() = CPROF_TRACE_CAST_(uint64_t, pid) << 32 | tid;
	return tid;
}

/* The calling thread; makes sure that the process is known. */
CPROF_TRACE_INLINE_ uint32_t cprof_trace_thread_(void)
{
	const struct cprof_trace_page_ *page =
		__atomic_load_n(&cprof_trace_state_v1.page, __ATOMIC_ACQUIRE);
	uint64_t self = *cprof_trace_self_();

	if (__builtin_expect(self && page &&
				     __atomic_load_n(&page->pid, __ATOMIC_ACQUIRE) == self >> 32,
			     1))
		return CPROF_TRACE_CAST_(uint32_t, self);
	return cprof_trace_new_thread_();
}

CPROF_TRACE_INLINE_ uint64_t cprof_trace_now_(void)
{
	int64_t time[2] = { 0, 0 };

	(void)cprof_trace_clock_gettime_(1 /* CLOCK_MONOTONIC */, time);
	return CPROF_TRACE_CAST_(uint64_t, time[0]) * UINT64_C(1000000000) +
	       CPROF_TRACE_CAST_(uint64_t, time[1]);
}

#ifdef __cplusplus
}
#endif

#include <cprof/trace_ring.h>
#include <cprof/trace_strings.h>

#endif
