/* SPDX-License-Identifier: MIT
 *
 * ELF and DWARF of one file: symbols, lines, inlined calls. Everything is
 * read when first asked for: opening costs the headers, a symbol the symbol
 * tables, a line the one unit that holds it. Files come from someone else:
 * sizes, depths and counts are bounded, and a broken part of a file means
 * that its answers are missing, never a crash.
 *
 * An image is safe to use from several threads: symbol lookups don't block
 * each other once the table is built, debug information is behind a lock. A
 * debug file that came over the network (at some cp_image_frames()) gives
 * names to symbols asked for after it.
 */
#ifndef CP_IMAGE_H
#define CP_IMAGE_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/types.h"

struct cp_image;

/* The sources that an image may be read from, in the order tried. */
struct cp_image_source {
	const char *path; /* as in /proc/PID/maps, borrowed during open */
	int root_fd; /* /proc/PID/root of its process, or -1 */
	int pid; /* for /proc/PID/map_files and /proc/PID/exe, or 0 */
	uint64_t map_start, map_end; /* the mapping at file offset 0, for map_files */
	uint64_t device, inode; /* what is mapped: another file at `path` is not it */
	const struct cp_reader *memory; /* the process's, or NULL: deleted files, vdso */
	uint64_t load_address; /* where file offset 0 is mapped */
};

/* Servers of debug information, for all images that are opened with it. They are
 * asked at the first cp_image_frames() that finds no debug information here: never
 * for a symbol. */
struct cp_debuginfod {
	bool ask; /* where DEBUGINFOD_URLS is set */
	atomic_bool unreachable; /* nothing came for 8 s: given up */
};

struct cp_image_options {
	const char *const *debug_dirs; /* NULL-terminated or NULL: /usr/lib/debug */
	struct cp_debuginfod *debuginfod; /* borrowed as long as the image; NULL: don't ask */
};

CP_ERROR cp_image_open(const struct cp_image_source *source, const struct cp_image_options *options,
		       struct cp_image **ret);
/* A file by itself, for tests and `functions FILE`. */
CP_ERROR cp_image_open_file(const char *path, const struct cp_image_options *options,
			    struct cp_image **ret);
void cp_image_destroy(struct cp_image *image);

const char *cp_image_build_id(const struct cp_image *image); /* hex; "" if none */
const char *cp_image_debug_path(struct cp_image *image); /* "" if none was found */
/* A hash that tells the file, and that of its debug information, as they are from all
 * others and from themselves once they were changed. 0: no file is open. */
uint64_t cp_image_identity(struct cp_image *image);
uint16_t cp_image_machine(const struct cp_image *image); /* e_machine */
bool cp_image_is_64bit(const struct cp_image *image);

/* Load-time address of a file offset, by the program headers: false when no
 * PT_LOAD maps it. (run-time address = vaddr + load bias.) The page where one
 * segment ends and the next begins is mapped twice, so ask with the offset of
 * a byte that is really used (a pc's), or with 0 for the first mapping. */
bool cp_image_vaddr_of_offset(const struct cp_image *image, uint64_t offset, struct cp_vaddr *ret);

/* Copies bytes of the file by link-time address, up to the end of what the
 * file has of that segment; how many there were. */
size_t cp_image_read(const struct cp_image *image, struct cp_vaddr at, void *buffer, size_t size);
/* The same by where they are in the file, whether a segment has them or not: pages that
 * are mapped hold more of the file than the segment that they were mapped for. */
size_t cp_image_read_file(const struct cp_image *image, uint64_t offset, void *buffer, size_t size);
/* Copies bytes as they are when the program begins: zeros where the file has none, and
 * pointers into the image itself relocated. */
size_t cp_image_read_initial(struct cp_image *image, struct cp_vaddr at, void *buffer, size_t size);
/* Copies bytes of segments that are not written to, so as they are in memory, with
 * zeros to the end of the last page. */
size_t cp_image_read_constant(const struct cp_image *image, struct cp_vaddr at, void *buffer,
			      size_t size);
/* True when `at` is in a segment that may be executed; *end_ret is where its
 * section ends, or the segment in a file without sections. */
bool cp_image_code(const struct cp_image *image, struct cp_vaddr at, struct cp_vaddr *end_ret);
/* True when a segment that may be executed has a byte from `start` to before `end`. */
bool cp_image_has_code(const struct cp_image *image, struct cp_vaddr start, struct cp_vaddr end);

/* The entry of a program; 0: the image is none. */
struct cp_vaddr cp_image_entry(const struct cp_image *image);

/* The contents of a section, uncompressed, from the file or, when it has none,
 * from its separate debug file: what the unwinder wants (.eh_frame,
 * .debug_frame). Not for the other .debug_ sections. False: there is none.
 * The bytes live as long as the image. */
bool cp_image_section(struct cp_image *image, const char *name, const uint8_t **bytes_ret,
		      size_t *size_ret, struct cp_vaddr *addr_ret);

/* The roots of the program's own annotations: what notes of cprof/trace.h in loaded
 * segments point to, each once, up to `max`. Answers how many there are. */
size_t cp_image_trace_roots(const struct cp_image *image, struct cp_vaddr *ret, size_t max);

enum cp_symbol_kind {
	CP_SYMBOL_FUNCTION,
	CP_SYMBOL_PLT, /* name is that of the target, "memcpy@plt"; ".plt": the lazy stub */
	CP_SYMBOL_IFUNC, /* the resolver */
	CP_SYMBOL_UNWIND, /* no symbol: bounds from .eh_frame, name "fn_<hex>" */
	/* A word of the global offset table, no code, which calls go through without
	 * a stub; named as the stub would be. */
	CP_SYMBOL_SLOT,
};

struct cp_symbol {
	const char *name; /* linkage name; lives as long as the image */
	struct cp_vaddr start;
	uint64_t size; /* 0: unknown */
	enum cp_symbol_kind kind;
	bool local; /* not to be seen from other objects; UNWIND ones are */
	/* UNWIND: what begins in the middle of a frame is no function, but a part
	 * of one that the compiler moved away. PLT: nobody calls it, it is the way
	 * from a stub to the dynamic linker. */
	bool part;
};

/* The symbol that covers `at`. False: none. With several at one address, the
 * one a person would name: with a size before without, no leading underscores
 * before some, global before local, short before long; without @version. So
 * names go everywhere, see rank_of() in raw_symbols.c. */
bool cp_image_symbol(struct cp_image *image, struct cp_vaddr at, struct cp_symbol *ret);
/* All symbols, sorted by address; for plans and tests. */
CP_ERROR cp_image_symbols(struct cp_image *image, const struct cp_symbol **ret, size_t *count_ret);

/* A word of the global offset table that the dynamic linker, or a static
 * program's start, fills with the address of a function. */
struct cp_got_word {
	struct cp_vaddr at;
	const char *name; /* of the symbol; lives as long as the image; NULL: none */
	bool elsewhere; /* which another object defines, and which may be a function */
	struct cp_vaddr resolver; /* without a name: whose answer it gets, if there is one */
};
/* False: enough, and cp_image_got() answers false. */
typedef bool (*cp_got_word_fn)(void *ctx, const struct cp_got_word *word);
bool cp_image_got(struct cp_image *image, cp_got_word_fn fn, void *ctx);

/* The static variable that covers `at`, demangled, and how far in it that is; to be
 * free()d. NULL: none, or no symbol tells. */
char *cp_image_variable_at(struct cp_image *image, struct cp_vaddr at, uint64_t *offset_ret);
/* The bytes of the one that begins at `at`, by its symbol; 0: none tells. */
uint64_t cp_image_variable_size(struct cp_image *image, struct cp_vaddr at);

/* Where C++ keeps whether the static variable of a function at `at` is constructed: a
 * byte that is 0 until then. False: it needs none. */
bool cp_image_guard(struct cp_image *image, struct cp_vaddr at, struct cp_vaddr *ret);

/* Is what begins the image's block of thread-local variables another than that of this
 * name, mangled or a last part, and none called so? The linker lets debug information say of one that it
 * left out that it is there. False where symbols don't tell. */
bool cp_image_lacks_thread_local(struct cp_image *image, const char *name);

/* Is there a dynamic linker that a program of it is begun with? */
bool cp_image_has_interpreter(const struct cp_image *image);

/* The parts of segments that can still be written to when the program runs (not
 * those that are only relocated), up to `max`; answers how many there are. */
size_t cp_image_writable(const struct cp_image *image, struct cp_vaddr *starts, uint64_t *sizes,
			 size_t max);
/* The thread-local variables of a thread. False: there are none. */
bool cp_image_tls(const struct cp_image *image, uint64_t *size_ret, uint64_t *align_ret);
/* Copies what they begin with, from `offset` on; zeros where the file has none. */
void cp_image_tls_initial(const struct cp_image *image, uint64_t offset, void *buffer, size_t size);

/* A function at an address: the inlined ones come innermost first, the real one
 * last. Strings live as long as the image; NULL and 0 where unknown. */
struct cp_inline_frame {
	/* The mangled name where there is one, else the name with what it is in:
	 * "outer::(anonymous namespace)::Square::area". */
	const char *function;
	const char *file; /* source path, with its directory */
	uint32_t line, column; /* where in this function: the call of the inner one */
	uint32_t decl_line;
	bool inlined;
};

/* Writes up to `max` frames for `at`; returns how many there are (0: no
 * debug information for it). Reads debug information: may be slow at first. */
size_t cp_image_frames(struct cp_image *image, struct cp_vaddr at, struct cp_inline_frame *frames,
		       size_t max);

/* Demangles C++ (Itanium) and Rust (legacy, hash dropped, and v0); a copy of
 * `name` when it is neither. malloc()ed; NULL without memory. Names that
 * would expand without bound come back as they are. */
char *cp_demangle(const char *name);

/* A line of /proc/PID/maps. */
struct cp_mapping {
	uint64_t start, end, offset;
	uint64_t device, inode;
	bool readable, writable, executable, shared, deleted;
	char *path; /* "" for anonymous ones; octal escapes undone, " (deleted)" cut off */
};
/* Parses the text of a maps file (hostile names included). Free with
 * cp_mappings_free(). */
CP_ERROR cp_mappings_parse(const char *text, size_t size, struct cp_mapping **ret,
			   size_t *count_ret);
void cp_mappings_free(struct cp_mapping *mappings, size_t count);

#endif
