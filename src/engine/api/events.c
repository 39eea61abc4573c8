/* SPDX-License-Identifier: MIT */
#include "engine/api/events.h"

#include <cprof/events.h>

#include "base/types.h"

#define RAISED CP_SOURCE_RAISED
#define EMULATED CP_SOURCE_EMULATED
#define NONE CP_SOURCE_NONE
#define NEVER CP_SOURCE_NEVER

/* A line an event. */
/* clang-format off */
const struct cp_event_info cp_event_infos[] = {
	{ "runtime_initialized", RAISED, "the exec of the program or, where images are followed, before its constructors; after attaching" },
	{ "runtime_shutdown_begin", RAISED, "the last process has ended or was let go" },
	{ "runtime_shutdown_end", RAISED, "right behind runtime_shutdown_begin" },
	{ "context_loaded", RAISED, "a namespace of dlmopen() appeared in the dynamic linker's list" },
	{ "context_unloaded", RAISED, "a namespace of dlmopen() became empty there" },
	{ "domain_loading", RAISED, "fork, vfork, clone or exec; attaching" },
	{ "domain_loaded", RAISED, "exec, a forked child's first stop, or attaching" },
	{ "domain_unloading", RAISED, "the exit stop of its last thread, or an exec" },
	{ "domain_unloaded", RAISED, "a process was reaped, or exec replaced its program" },
	{ "domain_name", RAISED, "the name of the leading thread, and its changes, as seen when looked at" },
	{ "jit_begin", EMULATED, "no compiler says that it begins: told when a symbol file registered with the debugger interface is read, or a line of a perf map, right before jit_done or jit_failed" },
	{ "jit_failed", EMULATED, "no compiler says that it failed: told when a registered symbol file makes no sense" },
	{ "jit_done", RAISED, "a breakpoint in __jit_debug_register_code: each function of a symbol file registered there; each new line of the perf map, once a second" },
	{ "jit_chunk_created", RAISED, "anonymous memory that may be executed is new in the mappings, looked at when code is registered, and once a second" },
	{ "jit_chunk_destroyed", RAISED, "such memory is in them no more; not at exec and exit" },
	{ "jit_code_buffer", RAISED, "right before jit_done: where the function is" },
	{ "class_loading", NONE, "native code loads no types; it could be emulated when one is looked up in debug information" },
	{ "class_failed", NONE, "likewise, when debug information has only a declaration" },
	{ "class_loaded", NONE, "likewise, when it is found in debug information" },
	{ "vtable_loading", NONE, "native code makes no virtual tables; it could be emulated for those of an image, when that is loaded" },
	{ "vtable_failed", NONE, "likewise, of one that makes no sense" },
	{ "vtable_loaded", NONE, "likewise, behind vtable_loading" },
	{ "image_loading", RAISED, "right before image_loaded or image_failed" },
	{ "image_failed", RAISED, "a breakpoint behind dlopen() and dlmopen(), which answered NULL" },
	{ "image_loaded", RAISED, "the mappings, looked at when the dynamic linker is done (its hook for debuggers)" },
	{ "image_unloading", RAISED, "a breakpoint where glibc's dynamic linker unmaps it, while it can be read; else right before image_unloaded, when its memory is gone: unmapped by others, exec and exit" },
	{ "image_unloaded", RAISED, "the mappings, after the dynamic linker unmapped a file; exec and exit, too" },
	{ "assembly_loading", RAISED, "the first image of an ELF object is loaded" },
	{ "assembly_loaded", RAISED, "its symbols were read" },
	{ "assembly_unloading", RAISED, "the last image of an ELF object is unloaded" },
	{ "assembly_unloaded", RAISED, "it is gone" },
	{ "method_enter", RAISED, "a breakpoint at the function's entry" },
	{ "method_leave", RAISED, "a breakpoint at each return, or at the return address" },
	{ "method_tail_call", RAISED, "a breakpoint at each jump out of the function" },
	{ "method_exception_leave", RAISED, "the stack pointer of a later event: exceptions, longjmp, thread exit" },
	{ "method_inherited", RAISED, "a fork: the calls that were open around it in the thread that forked" },
	{ "method_block", RAISED, "detours: what they recorded without a stop, where no profiler wants each call by itself" },
	{ "method_free", RAISED, "the function's image was unloaded, or its code unregistered, while its process goes on" },
	{ "method_begin_invoke", RAISED, "a traced function was entered, and its return address is in code that is not traced" },
	{ "method_end_invoke", RAISED, "and was left again" },
	{ "exception_throw", RAISED, "_Unwind_RaiseException of libgcc: C++, Rust, others; by a detour its stack is that of a copy of 16 KiB, whole with enable_exception_stacks" },
	{ "exception_clause", RAISED, "_Unwind_SetIP of libgcc: a landing pad, catch or cleanup; with enable_clauses; that none comes means that it is not caught only if the process is watched to its end" },
	{ "gc_event", NONE, "native code has no collector; it could be emulated for the stops that cprof itself makes" },
	{ "gc_allocation", RAISED, "a breakpoint where a function returns that allocates: malloc and its like, operator new, a global allocator of Rust's; with enable_allocations" },
	{ "gc_moves", RAISED, "the same of realloc, which answered another address" },
	{ "allocation_block", RAISED, "detours: allocations that they recorded without a stop, on stacks that the one profiler of them knows" },
	{ "gc_resize", RAISED, "breakpoints in brk, mmap, munmap, mremap and mprotect, for what the allocator does with them; with enable_allocations" },
	{ "gc_handle_created", NONE, "native code has no handles of objects; it could be emulated for file descriptors that are opened" },
	{ "gc_handle_deleted", NONE, "likewise, for those that are closed" },
	{ "gc_finalizing", RAISED, "a breakpoint at the entry of exit() and quick_exit(); of __cxa_finalize(), where a library is unloaded" },
	{ "gc_finalized", RAISED, "_exit(), called by the C library, whose handlers are done; __cxa_finalize() returns" },
	{ "gc_finalizing_object", NONE, "would come from a breakpoint at the entry of a destructor" },
	{ "gc_finalized_object", NONE, "would come from breakpoints where a destructor returns" },
	{ "gc_root_register", RAISED, "an image was loaded: its data; a thread started: its stack; both: thread-local variables" },
	{ "gc_root_unregister", RAISED, "right before the image, or the thread, is told to end" },
	{ "gc_roots", NONE, "would come of words in such data that point to what is allocated" },
	{ "fileio", RAISED, "a breakpoint where a function of the C library returns that transfers bytes: read, write, recv, sendmsg, sendfile and their like; with enable_fileio" },
	{ "monitor_contention", RAISED, "__lll_lock_wait of glibc, where pthread_mutex_lock waits; pthread_mutex_timedlock and clocklock, when another thread holds the mutex; Mutex::lock_contended of Rust; with enable_monitors" },
	{ "monitor_failed", RAISED, "pthread_mutex_timedlock and clocklock return ETIMEDOUT" },
	{ "monitor_acquired", RAISED, "the same functions return after monitor_contention" },
	{ "thread_started", RAISED, "a thread's first stop; once for each when attaching" },
	{ "thread_stopping", RAISED, "breakpoints in pthread_exit and behind start routines (glibc); else right before thread_stopped" },
	{ "thread_stopped", RAISED, "a thread's exit stop; else right before thread_exited" },
	{ "thread_exited", RAISED, "the kernel says that the thread is gone" },
	{ "thread_name", RAISED, "the thread's name, compared at samples, once a second, and at its exit stop" },
	{ "sample_hit", RAISED, "the clock: a thread was stopped, or read while it was blocked" },
	{ "iomap_report", NEVER, "native code remaps no paths" },
	{ "heap_free", RAISED, "a breakpoint at the entry of a function that frees; realloc to no bytes" },
	{ "heap_resized", RAISED, "a breakpoint where realloc returns, with the same address" },
	{ "mapping_created", RAISED, "breakpoints in mmap, mremap and brk, where they return; with enable_mappings" },
	{ "mapping_removed", RAISED, "breakpoints in munmap, mremap and brk, where they return; mmap, of something else there; with enable_mappings" },
	{ "fiber_switch", RAISED, "the program announces it with cprof/trace.h; a breakpoint in swapcontext and setcontext" },
	{ "signal_delivered", RAISED, "the stop before a signal is delivered" },
	{ "annotation", RAISED, "events that the program announces with cprof/trace.h" },
	{ "method_disarmed", RAISED, "a function was called too often and lost its breakpoints" },
	{ "command", RAISED, "somebody who steers the session: cprof ctl, cprof_session_steer()" },
	{ "heartbeat", RAISED, "about once a second" },
};
/* clang-format on */

const size_t cp_event_info_count = CP_ARRAY_SIZE(cp_event_infos);

#define ONE_(name, parameters) +1
_Static_assert(CP_ARRAY_SIZE(cp_event_infos) == 0 CPROF_PROFILER_EVENTS(ONE_),
	       "each event of cprof/events.h has its line here");
