/* SPDX-License-Identifier: MIT
 *
 * Events of what is loaded. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_LOADED_H
#define CP_ENGINE_FAMILIES_LOADED_H

#include <cprof/cprof.h>

/* Raises runtime_initialized, once. */
void engine_initialized(cprof_session *s);
/* After mappings were read: raises the events of what came and went, unless
 * the dynamic linker is at work in the process. */
void engine_tell_images(cprof_process *p);
/* A forked process begins with the images that its parent has loaded: they are told. */
void engine_inherit_images(cprof_process *p, const cprof_process *parent);
/* Raises method_free for what is known of an image. */
void engine_free_methods(cprof_session *s, const cprof_image *image);
/* Tells that all images go, with the process or with an exec. */
void engine_drop_images(cprof_process *p);

#endif
