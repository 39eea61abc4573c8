/* SPDX-License-Identifier: MIT
 *
 * Profiler modules as files: where they are looked for, what they say of
 * themselves, and loading them. What a file says is read from its ELF notes by
 * our own reader: nothing of it runs before it was judged.
 */
#ifndef CP_ENGINE_API_MODULE_H
#define CP_ENGINE_API_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

/* What the notes of a file say. */
struct cp_module_file {
	bool has_version;
	uint32_t version; /* of the API; of several, the first that is not cprof's */
	char *summary; /* owned: what it does, or NULL */
};

/* Reads the notes. An error if the file is no shared library for this machine. */
CP_ERROR cp_module_read(const char *path, struct cp_module_file *ret);
void cp_module_file_free(struct cp_module_file *file);
/* An error if the file was built against another version of the API, or none. */
CP_ERROR cp_module_judge(const char *path, const struct cp_module_file *file);

/* A directory that modules are looked for in. */
struct cp_module_place {
	char *directory; /* owned */
	const char *by; /* static: who named it */
};

struct cp_module_places {
	CP_VEC(struct cp_module_place) list; /* in order */
};

/* Lists all places; `dirs` (NULL-terminated, or NULL) are those of --plugin-dir. */
bool cp_module_places_find(const char *const *dirs, struct cp_module_places *ret);
void cp_module_places_free(struct cp_module_places *places);

/* An error if no module can be called `name` (of `size` bytes). */
CP_ERROR cp_module_check_name(const char *name, size_t size);
/* The file of module `name`; *path_ret is malloc()ed. Where there is none, the error
 * names all places. */
CP_ERROR cp_module_find(const char *const *dirs, const char *name, char **path_ret);

typedef void (*cp_module_init_fn)(const char *desc);
/* Reads, judges and loads the file. It stays loaded for good, for something may still
 * refer to it. */
CP_ERROR cp_module_open(const char *path, const char *name, cp_module_init_fn *init_ret);
/* The init function that the running executable has itself, or NULL. */
cp_module_init_fn cp_module_embedded(const char *name);

#endif
