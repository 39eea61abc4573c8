/* SPDX-License-Identifier: MIT
 *
 * What is mapped in a process. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_IMAGES_H
#define CP_ENGINE_TARGET_IMAGES_H

#include <cprof/cprof.h>

struct cp_buf;
struct cp_unwind_space;
struct engine_text;

/* Is the image the program itself, and not a library? */
bool engine_is_program(const cprof_image *image);
/* Reads the mappings now, however recently they were read, so that new images get their
 * breakpoints. */
void engine_maps_look(cprof_process *p);
/* The image of an assembly at a place, made when there is none; NULL without memory. */
cprof_image *engine_image_add(cprof_process *p, cprof_assembly *a, uint64_t start, uint64_t end,
			      uint64_t bias);
/* The image of a forked process that is a copy of its parent's. */
cprof_image *engine_image_inherit(cprof_process *p, const cprof_image *from);
/* Nothing stands in it any more. */
void engine_image_forget_sites(cprof_image *image);
void engine_image_free(cprof_image *image);
/* Appends the text of the process's maps file; false when the process is gone. */
bool engine_read_maps(const cprof_process *p, struct cp_buf *out);
/* Reads the mappings again if `force` or the last time was long ago. True
 * when they changed. */
bool engine_refresh_maps(cprof_process *p, uint64_t now, bool force);
/* The executable piece at `pc`, or NULL. */
const struct engine_text *engine_find_text(const cprof_process *p, uint64_t pc);
/* A frame is at `pc`, or returns there: code made at run time is looked for. */
void engine_code_met(cprof_process *p, uint64_t pc);
/* For walks over the mappings that were read last; NULL: there are none. */
struct cp_unwind_space *engine_unwind_space(cprof_process *p);
/* Forgets what is known of the process's memory: it runs another program, or is gone. */
void engine_forget_maps(cprof_process *p);
/* An ELF object by its path, not opened yet; NULL without memory. */
cprof_assembly *engine_assembly_create(cprof_session *s, const char *path);
void engine_assembly_free(cprof_assembly *a);
/* engine_started_as() of the image's process if the image is its program; else NULL. */
const char *engine_image_started_as(const cprof_image *image);

/* The path that a process's program was started by, where that is another name of the
 * file; or NULL. */
const char *engine_started_as(const cprof_process *process);

#endif
