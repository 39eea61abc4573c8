/* SPDX-License-Identifier: MIT
 *
 * cprof/events.h - all that can happen, as callbacks.
 *
 * The names are those of Mono's profiler-events.h. What raises them, and which have no meaning for
 * native code and are there so that modules for another runtime compile, `cprof modules --events` tells.
 */
#ifndef CPROF_EVENTS_H
#define CPROF_EVENTS_H

#include <cprof/annotations.h>
#include <cprof/blocks.h>
#include <cprof/calls.h>
#include <cprof/process.h>
#include <cprof/stack.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cprof_type cprof_type; /* "class": a type of the debug information */
typedef struct cprof_vtable cprof_vtable;

/* An object of the program. [cb] */
typedef struct cprof_object {
	cprof_addr address; /* 0: unknown */
	const cprof_type *type; /* NULL: unknown */
	const char *type_name; /* demangled; NULL: unknown */
	uint64_t size; /* bytes; 0: unknown */
} cprof_object;

/* What a piece of code is that was generated at run time. */
typedef enum cprof_code_buffer_type {
	CPROF_CODE_BUFFER_METHOD = 0, /* data: const cprof_function * */
	CPROF_CODE_BUFFER_METHOD_TRAMPOLINE = 1,
	CPROF_CODE_BUFFER_UNBOX_TRAMPOLINE = 2,
	CPROF_CODE_BUFFER_IMT_TRAMPOLINE = 3,
	CPROF_CODE_BUFFER_GENERICS_TRAMPOLINE = 4,
	CPROF_CODE_BUFFER_SPECIFIC_TRAMPOLINE = 5, /* data: const char *name */
	CPROF_CODE_BUFFER_HELPER = 6,
	CPROF_CODE_BUFFER_MONITOR = 7,
	CPROF_CODE_BUFFER_DELEGATE_INVOKE = 8,
	CPROF_CODE_BUFFER_EXCEPTION_HANDLING = 9
} cprof_code_buffer_type;

typedef enum cprof_gc_event {
	CPROF_GC_EVENT_START = 0,
	CPROF_GC_EVENT_END = 5,
	CPROF_GC_EVENT_PRE_STOP_WORLD = 6,
	CPROF_GC_EVENT_POST_STOP_WORLD = 7,
	CPROF_GC_EVENT_PRE_START_WORLD = 8,
	CPROF_GC_EVENT_POST_START_WORLD = 9,
	CPROF_GC_EVENT_PRE_STOP_WORLD_LOCKED = 10,
	CPROF_GC_EVENT_POST_START_WORLD_UNLOCKED = 11
} cprof_gc_event;

typedef enum cprof_exception_clause_type {
	CPROF_EXCEPTION_CLAUSE_CATCH = 0, /* a catch clause, catch_unwind */
	CPROF_EXCEPTION_CLAUSE_FILTER = 1, /* exception specification, terminate */
	CPROF_EXCEPTION_CLAUSE_FINALLY = 2, /* cleanup: destructors, Drop */
	CPROF_EXCEPTION_CLAUSE_FAULT = 4 /* a handler of SIGSEGV, SIGFPE, ... */
} cprof_exception_clause_type;

typedef enum cprof_handle_type { /* native handles: file descriptors */
				 CPROF_HANDLE_FILE = 0,
				 CPROF_HANDLE_SOCKET = 1,
				 CPROF_HANDLE_PIPE = 2,
				 CPROF_HANDLE_OTHER = 3
} cprof_handle_type;

typedef enum cprof_root_source {
	CPROF_ROOT_SOURCE_STACK = 0,
	CPROF_ROOT_SOURCE_STATIC = 1,
	CPROF_ROOT_SOURCE_TLS = 2,
	CPROF_ROOT_SOURCE_REGISTERS = 3,
	CPROF_ROOT_SOURCE_OTHER = 4
} cprof_root_source;

struct cprof_trace_event; /* cprof/trace.h */

/* Sources of events that cost something: without these calls they are not raised, but for jit_*,
 * for which a callback is enough. False: too late, or this cprof has no such source. Others:
 * cprof/heap.h, io.h, locks.h, maps.h, annotations.h. [init] */
CPROF_API bool cprof_profiler_enable_clauses(void); /* exception_clause */
/* Stacks of exception_throw are whole, and not just the 16 KiB that a detour copies. */
CPROF_API bool cprof_profiler_enable_exception_stacks(void);
CPROF_API bool cprof_profiler_enable_jit(void); /* jit_* */
/* Is the exception_throw being delivered of one that its handler throws again? [cb] */
CPROF_API bool cprof_current_exception_rethrown(void);

/* E(name, parameters): declares cprof_NAME_fn and cprof_profiler_set_NAME_callback(handle, cb)
 * [async]. NULL removes the callback; a callback that is running is not affected. The callbacks
 * of all profilers are called, the newest profiler first. No event is delivered before start-up
 * is done.
 *
 * What has to be done for an event is decided at launch or attach, by the callbacks set until
 * then: breakpoints of cprof's own (context_*, image_*, assembly_*, gc_root_*, gc_finaliz*,
 * method_free, jit_*, thread_stopping), stops of threads on their way out (thread_stopping,
 * thread_stopped, domain_unloading), reports of signals. A program that is only sampled has none. */
#define CPROF_PROFILER_EVENTS(E) \
	/* once: nothing of the program has run, or it has just been attached to. Where \
	 * anybody follows its images, it is also linked and relocated, and no constructor has \
	 * run; what the dynamic linker calls, and samples of it, then come before. Events of \
	 * the domain and its thread always do */ \
	E(runtime_initialized, (cprof_profiler * prof)) \
	/* the program is gone or has been let go; nothing more can be read of it */ \
	E(runtime_shutdown_begin, (cprof_profiler * prof)) \
	E(runtime_shutdown_end, (cprof_profiler * prof)) \
	/* a dlmopen() namespace appeared / became empty: around the events of its images */ \
	E(context_loaded, (cprof_profiler * prof, cprof_namespace * context)) \
	E(context_unloaded, (cprof_profiler * prof, cprof_namespace * context)) \
	/* a process: fork seen; runs its program; exiting (its memory can still be read, \
	 * unless it was killed); reaped; comm. An exec ends a domain and begins another one \
	 * with the same object; what the session lets go has no end */ \
	E(domain_loading, (cprof_profiler * prof, cprof_process * domain)) \
	E(domain_loaded, (cprof_profiler * prof, cprof_process * domain)) \
	E(domain_unloading, (cprof_profiler * prof, cprof_process * domain)) \
	E(domain_unloaded, (cprof_profiler * prof, cprof_process * domain)) \
	E(domain_name, (cprof_profiler * prof, cprof_process * domain, const char *name)) \
	/* code generated at run time and registered by its generator for debuggers (the GDB \
	 * JIT interface), before it runs: for each function begin, code_buffer, done; begin and \
	 * failed for a symbol file that makes no sense. `method` NULL: has no name. What was \
	 * registered before attaching or fork is told once; the lines of a perf map (/tmp/perf- \
	 * PID.map) likewise, when they are read. Chunks are anonymous mappings that may be \
	 * executed, as they are noticed, those of registered code before it */ \
	E(jit_begin, (cprof_profiler * prof, const cprof_function *method)) \
	E(jit_failed, (cprof_profiler * prof, const cprof_function *method)) \
	E(jit_done, \
	  (cprof_profiler * prof, const cprof_function *method, cprof_addr code, uint64_t size)) \
	E(jit_chunk_created, (cprof_profiler * prof, cprof_addr chunk, uint64_t size)) \
	E(jit_chunk_destroyed, (cprof_profiler * prof, cprof_addr chunk)) \
	E(jit_code_buffer, (cprof_profiler * prof, cprof_addr buffer, uint64_t size, \
			    cprof_code_buffer_type type, const void *data)) \
	/* a type was first resolved from debug information; a loaded image has virtual tables */ \
	E(class_loading, (cprof_profiler * prof, const cprof_type *klass)) \
	E(class_failed, (cprof_profiler * prof, const cprof_type *klass)) \
	E(class_loaded, (cprof_profiler * prof, const cprof_type *klass)) \
	E(vtable_loading, (cprof_profiler * prof, const cprof_vtable *vtable)) \
	E(vtable_failed, (cprof_profiler * prof, const cprof_vtable *vtable)) \
	E(vtable_loaded, (cprof_profiler * prof, const cprof_vtable *vtable)) \
	/* an ELF object: being mapped; could not be loaded; mapped; about to go; gone. The first \
	 * and the third come together: when the dynamic linker says that it is done, before \
	 * constructors run. About to go: after destructors, while it can be read, if glibc's \
	 * unmaps it; else (cprof_image_is_mapped()) right before gone, which is told when the \
	 * linker is done. `image` of a \
	 * failure (dlopen, dlmopen) has the name that was asked for and nothing else. A \
	 * forked process begins with copies of its parent's; an exec or exit ends all. Where \
	 * no breakpoint can be placed: within a second or two, without failures */ \
	E(image_loading, (cprof_profiler * prof, const cprof_image *image)) \
	E(image_failed, (cprof_profiler * prof, const cprof_image *image)) \
	E(image_loaded, (cprof_profiler * prof, const cprof_image *image)) \
	E(image_unloading, (cprof_profiler * prof, const cprof_image *image)) \
	E(image_unloaded, (cprof_profiler * prof, const cprof_image *image)) \
	/* an object's symbols: being read; ready; ... with its first image in any \
	 * process, and the last one */ \
	E(assembly_loading, (cprof_profiler * prof, const cprof_assembly *assembly)) \
	E(assembly_loaded, (cprof_profiler * prof, const cprof_assembly *assembly)) \
	E(assembly_unloading, (cprof_profiler * prof, const cprof_assembly *assembly)) \
	E(assembly_unloaded, (cprof_profiler * prof, const cprof_assembly *assembly)) \
	/* calls, as the filters chose (cprof/calls.h). `context` is NULL unless *_CONTEXT was \
	 * asked for; `target` NULL: not known. Times and depth: cprof_current_call() */ \
	E(method_enter, \
	  (cprof_profiler * prof, const cprof_function *method, cprof_call_context *context)) \
	E(method_leave, \
	  (cprof_profiler * prof, const cprof_function *method, cprof_call_context *context)) \
	E(method_tail_call, \
	  (cprof_profiler * prof, const cprof_function *method, const cprof_function *target)) \
	/* left without returning: an exception, or (`exception` NULL) longjmp, the end of \
	 * its thread. Exceptions are known where exception_throw has a callback when the \
	 * session starts, or clauses are enabled; without, NULL too */ \
	E(method_exception_leave, \
	  (cprof_profiler * prof, const cprof_function *method, const cprof_object *exception)) \
	/* a process was forked, and `method` was entered before that: the new one returns from \
	 * it, too, unless it ends, and its leave and what it calls are told at that depth. Of \
	 * each such call, outermost first, behind its thread_started; none of who was given a \
	 * stack of its own (clone). cprof_current_call(): entered when its parent did; later, \
	 * the call counts from the fork on. cprof_current_call_inherited() */ \
	E(method_inherited, (cprof_profiler * prof, const cprof_function *method)) \
	/* calls of a thread that were seen without a stop: see cprof_call_event */ \
	E(method_block, (cprof_profiler * prof, cprof_thread * thread, \
			 const cprof_call_event *events, size_t count)) \
	/* the function's code is gone (dlclose, JIT unregister), while its process stays: of \
	 * those that a profiler has seen, be it in a filter */ \
	E(method_free, (cprof_profiler * prof, const cprof_function *method)) \
	/* control passes from uninstrumented code into an instrumented function, and back: \
	 * main, start routines, signal handlers, callbacks, constructors. Around its enter and \
	 * leave; a function that it ends in by a tail call is invoked anew */ \
	E(method_begin_invoke, (cprof_profiler * prof, const cprof_function *method)) \
	E(method_end_invoke, (cprof_profiler * prof, const cprof_function *method)) \
	/* C++ throw and rethrow (cprof_current_exception_rethrown()), Rust panic, and whatever \
	 * else _Unwind_RaiseException() raises: callbacks must be set before the session \
	 * starts. The object has an address and, if that is known, a type_name. Then each \
	 * handler on the way, with the calls up to it unwound: `index` among the clauses of the \
	 * frame for that call, from 0, or UINT32_MAX. Not told: handlers of code linked with \
	 * LLVM's libunwind, what pthread_cancel() and pthread_exit() clean up. More than \
	 * cprof_profiler_set_max_rate() has for globs in a second end both, with a method_disarmed */ \
	E(exception_throw, (cprof_profiler * prof, const cprof_object *exception)) \
	E(exception_clause, (cprof_profiler * prof, const cprof_function *method, uint32_t index, \
			     cprof_exception_clause_type type, const cprof_object *exception)) \
	/* heap: world stops made by cprof; what is allocated, what realloc moved (pairs: from, \
	 * to), how many bytes the allocator has from the kernel: cprof/heap.h */ \
	E(gc_event, \
	  (cprof_profiler * prof, cprof_gc_event event, uint32_t generation, bool is_serial)) \
	E(gc_allocation, (cprof_profiler * prof, const cprof_object *object)) \
	E(gc_moves, (cprof_profiler * prof, const cprof_addr *objects, uint64_t count)) \
	/* these, and heap_resized and heap_free, of a thread: see cprof_allocation_event */ \
	E(allocation_block, (cprof_profiler * prof, cprof_thread * thread, \
			     const cprof_allocation_event *events, size_t count)) \
	E(gc_resize, (cprof_profiler * prof, uint64_t size)) \
	E(gc_handle_created, (cprof_profiler * prof, uint32_t handle, cprof_handle_type type, \
			      const cprof_object *object)) \
	E(gc_handle_deleted, (cprof_profiler * prof, uint32_t handle, cprof_handle_type type)) \
	/* handlers and destructors: about to run on the current thread, at exit() and \
	 * quick_exit() or when a library is unloaded (what it has registered, destructors of \
	 * objects too; not its DT_FINI functions, which come before); all have run (not when \
	 * one ends the process). A process that one forks has the end alone. Single objects */ \
	E(gc_finalizing, (cprof_profiler * prof)) \
	E(gc_finalized, (cprof_profiler * prof)) \
	E(gc_finalizing_object, (cprof_profiler * prof, const cprof_object *object)) \
	E(gc_finalized_object, (cprof_profiler * prof, const cprof_object *object)) \
	/* memory that may hold addresses of what is allocated. Static: what stays writable of \
	 * an image's segments, behind its image_loaded; stack: a thread's own, of the first one \
	 * the room that it has, behind its thread_started; tls: an image's variables of a \
	 * thread, of those that were there when the image was loaded or the thread started \
	 * (glibc). `key` is the image's first address, else the tid; `name` the image's path, \
	 * of a stack the thread's name. Unregistered right before image_unloading and \
	 * thread_stopped; what the session lets go is not. Of threads that end at once, \
	 * some have no stack told */ \
	E(gc_root_register, (cprof_profiler * prof, cprof_addr start, uint64_t size, \
			     cprof_root_source source, cprof_addr key, const char *name)) \
	E(gc_root_unregister, (cprof_profiler * prof, cprof_addr start)) \
	E(gc_roots, (cprof_profiler * prof, uint64_t count, const cprof_addr *addresses, \
		     const cprof_object *objects)) \
	/* bytes were transferred: cprof/io.h; `kind` is a cprof_fileio_kind */ \
	E(fileio, (cprof_profiler * prof, uint64_t kind, uint64_t size)) \
	/* locks, only when contended: must wait; gave up (timeout); got it after waiting: \
	 * cprof/locks.h */ \
	E(monitor_contention, (cprof_profiler * prof, const cprof_object *object)) \
	E(monitor_failed, (cprof_profiler * prof, const cprof_object *object)) \
	E(monitor_acquired, (cprof_profiler * prof, const cprof_object *object)) \
	/* threads: first stop; its start routine returned, or it called pthread_exit() or \
	 * exit(); exit stop; reaped. All four are raised for each thread that ends, in this \
	 * order; one that was not seen in time (no glibc with symbols, ended by others) right \
	 * before the next. Name: one that differs from its process's at the start, and \
	 * changes, as they are noticed: at samples, once a second, at the exit stop if \
	 * thread_stopped is wanted; one that another follows before that is not told */ \
	E(thread_started, (cprof_profiler * prof, uintptr_t tid)) \
	E(thread_stopping, (cprof_profiler * prof, uintptr_t tid)) \
	E(thread_stopped, (cprof_profiler * prof, uintptr_t tid)) \
	E(thread_exited, (cprof_profiler * prof, uintptr_t tid)) \
	E(thread_name, (cprof_profiler * prof, uintptr_t tid, const char *name)) \
	/* a statistical sample of cprof_current_thread(): walk it with \
	 * cprof_do_stack_snapshot(cprof_current_thread(), ...). `context` has only ip and sp when the thread \
	 * was blocked; what the sample stands for tells cprof_current_sample() */ \
	E(sample_hit, (cprof_profiler * prof, cprof_addr ip, const cprof_context *context)) \
	/* never raised: native code remaps no paths */ \
	E(iomap_report, \
	  (cprof_profiler * prof, const char *report, const char *old_path, const char *new_path)) \
	/* ---- what native code has in addition ---- */ \
	E(heap_free, (cprof_profiler * prof, const cprof_object *object)) \
	/* realloc() left the block where it was: its size is another */ \
	E(heap_resized, (cprof_profiler * prof, const cprof_object *object)) \
	E(mapping_created, (cprof_profiler * prof, cprof_addr address, uint64_t size)) \
	E(mapping_removed, (cprof_profiler * prof, cprof_addr address, uint64_t size)) \
	E(fiber_switch, \
	  (cprof_profiler * prof, uintptr_t tid, uint32_t from_fiber, uint32_t to_fiber)) \
	/* a signal is about to be delivered to a thread, also one that it ignores. `fault_address`: \
	 * of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP that the kernel raised, else 0 */ \
	E(signal_delivered, \
	  (cprof_profiler * prof, uintptr_t tid, int signal, cprof_addr fault_address)) \
	/* what the program itself announced (cprof/trace.h), switches of fibers too; its strings  \
	 * as cprof read them [cb], NULL where the program had none: the pointers in `event` are   \
	 * of the program. Events come when they are read: `timestamp` is when they happened, and  \
	 * cprof_current_thread() NULL where no thread of the process has that number. */ \
	E(annotation, (cprof_profiler * prof, const struct cprof_trace_event *event, \
		       const char *name, const char *category, const char *object)) \
	/* `method` was called too often and is no longer traced; `rate`: calls in that second; \
	 * 0: signals whose handler calls it left a thread no time for anything else */ \
	E(method_disarmed, (cprof_profiler * prof, const cprof_function *method, uint32_t rate)) \
	/* a command of who steers the session; `argument` may be "": cprof/control.h */ \
	E(command, (cprof_profiler * prof, const char *name, const char *argument)) \
	/* about once a second while the session runs: time to write things out */ \
	E(heartbeat, (cprof_profiler * prof))

#define CPROF_PROFILER_DECLARE_EVENT_(name, parameters) \
	typedef void(*cprof_##name##_fn) parameters; \
	CPROF_API void cprof_profiler_set_##name##_callback(cprof_profiler_handle handle, \
							    cprof_##name##_fn cb);
CPROF_PROFILER_EVENTS(CPROF_PROFILER_DECLARE_EVENT_)
#undef CPROF_PROFILER_DECLARE_EVENT_

#ifdef __cplusplus
}
#endif
#endif
