/* SPDX-License-Identifier: MIT
 *
 * cprof/process.h - what is known of processes, threads, images, functions. Strings and
 * objects live as long as the session unless marked [cb]. For NULL, numbers are 0,
 * strings "", objects NULL, a wait status -1.
 */
#ifndef CPROF_PROCESS_H
#define CPROF_PROCESS_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An ELF object with its debug information, however often it is mapped; also
 * "[jit]", code made at run time, one for each process. */
typedef struct cprof_assembly cprof_assembly;
typedef struct cprof_namespace cprof_namespace; /* "context": a dlmopen() link map */

/* The process of the event being delivered; NULL in heartbeat and runtime_shutdown_*,
 * and outside of events. */
CPROF_API cprof_process *cprof_current_process(void);
CPROF_API int32_t cprof_process_pid(const cprof_process *process);
CPROF_API int32_t cprof_process_ns_pid(const cprof_process *process); /* in its own namespace */
CPROF_API int32_t
cprof_process_parent(const cprof_process *process); /* 0: not forked by one of ours */
CPROF_API const char *cprof_process_name(const cprof_process *process); /* comm */
CPROF_API const char *cprof_process_exe(const cprof_process *process);
/* The path that the executable was started by, where that is another name of it, as
 * that of a link; else "". */
CPROF_API const char *cprof_process_started_as(const cprof_process *process);
CPROF_API uint64_t cprof_process_start(
	const cprof_process *process); /* first seen while the session runs, monotonic ns */
/* When the process executed the program that it runs, monotonic ns; 0: before it was
 * first seen. */
CPROF_API uint64_t cprof_process_exec_time(const cprof_process *process);
/* When it was seen to be gone, or was let go, monotonic ns; 0: not yet. Known from
 * domain_unloaded on. */
CPROF_API uint64_t cprof_process_end(const cprof_process *process);
/* How it ended, as wait(2) has it; -1: it has not, or was let go. */
CPROF_API int cprof_process_wait_status(const cprof_process *process);

/* The thread of the event being delivered; NULL, too, in events of a whole process. */
CPROF_API cprof_thread *cprof_current_thread(void);
CPROF_API cprof_thread *cprof_thread_from_tid(int32_t tid);
CPROF_API int32_t cprof_thread_tid(const cprof_thread *thread);
CPROF_API int32_t cprof_thread_ns_tid(const cprof_thread *thread);
CPROF_API const char *cprof_thread_name(const cprof_thread *thread);
CPROF_API cprof_process *cprof_thread_process(const cprof_thread *thread);
CPROF_API uint64_t cprof_thread_start(const cprof_thread *thread);
/* When it was seen to be gone, or was let go, monotonic ns; 0: not yet. Known from
 * thread_exited on, as are the next two. */
CPROF_API uint64_t cprof_thread_end(const cprof_thread *thread);
/* The thread's own status as wait(2) has it; -1: it has not ended, or was let go. */
CPROF_API int cprof_thread_wait_status(const cprof_thread *thread);
/* CPU time that the thread used while it was traced, by the kernel's account, ns; 0:
 * not known. */
CPROF_API uint64_t cprof_thread_cpu_time(const cprof_thread *thread);

CPROF_API const char *cprof_image_name(
	const cprof_image *image); /* file name; of a program the one it was started by */
CPROF_API const char *cprof_image_path(const cprof_image *image);
CPROF_API const char *cprof_image_build_id(const cprof_image *image); /* hex, "" if none */
CPROF_API cprof_addr cprof_image_base(const cprof_image *image); /* load bias */
/* Bytes from the image's first mapping to the end of its last one. */
CPROF_API uint64_t cprof_image_size(const cprof_image *image);
CPROF_API cprof_assembly *cprof_image_assembly(const cprof_image *image);

/* In image_unloading: can the image's memory still be read? Not where its process
 * ended, executed another program, or unmapped it other than by glibc's dynamic linker.
 * [cb] */
CPROF_API bool cprof_image_is_mapped(const cprof_image *image);

/* The dlmopen() namespace that the image is loaded in; NULL: the program's own.
 * Lives as long as the session. */
CPROF_API cprof_namespace *cprof_image_namespace(const cprof_image *image);
/* The namespace's number in its process: 1, 2, ... as they were seen; 0 for NULL. */
CPROF_API uint32_t cprof_namespace_id(const cprof_namespace *context);
CPROF_API cprof_process *cprof_namespace_process(const cprof_namespace *context);

CPROF_API const char *cprof_assembly_path(const cprof_assembly *assembly);
CPROF_API const char *cprof_assembly_build_id(const cprof_assembly *assembly);
/* The separate file that the assembly's debug information comes from; "": none. May
 * search. Any thread. */
CPROF_API const char *cprof_assembly_debug_path(cprof_assembly *assembly);

/* One function at an address. [cb] */
typedef struct cprof_symbol {
	const char *name; /* demangled */
	const char *linkage_name; /* as in the symbol table */
	const char *file; /* NULL: unknown */
	uint32_t line, decl_line; /* 0: unknown */
	bool inlined;
	uint64_t start; /* link-time; of the real function, 0 unknown */
} cprof_symbol;
typedef void (*cprof_symbolize_fn)(const cprof_symbol *symbol, void *data);

/* Names a link-time address: calls `cb` for each function there, inlined ones
 * innermost first, the real one last; no call when nothing is known. Reads
 * debug information and may take long. Any thread. */
CPROF_API void cprof_assembly_symbolize(cprof_assembly *assembly, uint64_t address,
					cprof_symbolize_fn cb, void *data);

/* An instruction of a file's code; all of it good during the callback. */
typedef struct cprof_instruction {
	uint64_t address; /* link-time */
	const uint8_t *bytes;
	size_t size;
	uint64_t refers; /* link-time: where a direct jump or call goes, or what an operand
				relative to the instruction addresses; 0: none */
	bool data; /* the latter */
	const char *name; /* demangled: the function or variable there; NULL: not known */
	uint64_t offset; /* in it */
} cprof_instruction;
typedef void (*cprof_instruction_fn)(const cprof_instruction *instruction, void *data);
/* Calls `cb` for each instruction of the symbol that covers a link-time address, in their
 * order. Answers where it begins; 0, and no call: no code of a file with bounds is there,
 * or it has more than `most` bytes (then *left_out_ret, which may be NULL, says how many),
 * or of an instruction set that cprof does not decode. Any thread. */
CPROF_API uint64_t cprof_assembly_each_instruction(cprof_assembly *assembly, uint64_t address,
						   uint64_t most, cprof_instruction_fn cb,
						   void *data, uint64_t *left_out_ret);

CPROF_API const char *cprof_function_name(const cprof_function *function); /* demangled */
CPROF_API const char *cprof_function_linkage_name(const cprof_function *function);
CPROF_API const cprof_image *cprof_function_image(const cprof_function *function);
CPROF_API cprof_addr cprof_function_address(const cprof_function *function);
CPROF_API uint64_t cprof_function_size(const cprof_function *function);

/* Calls `cb` for each thread that lives, in no order, and each image that is
 * mapped, of all processes, as far as events have told; false from it ends
 * that. */
CPROF_API void cprof_for_each_thread(bool (*cb)(cprof_thread *thread, void *data), void *data);
CPROF_API void cprof_for_each_image(bool (*cb)(cprof_image *image, void *data), void *data);

/* Reads memory of the process, as it is now: while a thread stands still for a
 * callback (CPROF_CALL_INSTRUMENTATION_HOLD), as that thread sees it. cprof's
 * breakpoints are not in it. *done: bytes copied up to the first unreadable
 * one. GONE when the process has exited or was let go. */
CPROF_API cprof_status cprof_read_memory(cprof_process *process, cprof_addr address, void *buffer,
					 size_t size, size_t *done);
/* The text at `address` up to its NUL, at most `limit` bytes or as far as it can
 * be read; free() it. NULL: nothing can be. */
CPROF_API char *cprof_read_string(cprof_process *process, cprof_addr address, size_t limit);

#ifdef __cplusplus
}
#endif
#endif
