/* SPDX-License-Identifier: MIT
 *
 * What is known of the functions of ELF objects. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_OBJECTS_H
#define CP_ENGINE_PROBES_OBJECTS_H

#include <cprof/cprof.h>

struct cp_decoder;
struct cp_probe_function;
struct cp_probe_image;
struct engine_calls;
struct engine_plans;

/* Made when it isn't there; NULL without memory. */
struct cp_decoder *engine_decoder(struct engine_calls *c);
/* What is known of the object's functions, made when it isn't there; NULL: nothing can
 * be written to it. */
struct engine_plans *engine_plans_of(cprof_assembly *a);
/* Fills plans->functions once. False: there are none. */
bool engine_plans_read(cprof_assembly *a, struct engine_plans *plans);
/* Reads functions.pads, once. Without memory they are missed. */
void engine_plans_pads(const cprof_assembly *a, struct engine_plans *plans);
/* Do exceptions come to link-time `address`? Then nothing returns there. */
bool engine_plans_is_pad(cprof_assembly *a, uint64_t address);
/* The image as src/probe sees it. Its functions have been read. */
struct cp_probe_image engine_probe_image(const cprof_image *image);
/* The function as src/probe knows it; NULL: it is in no file, or not known there. */
struct cp_probe_function *engine_function_probe(const cprof_function *f);
/* The other way round; NULL without memory. */
const cprof_function *engine_probe_function(cprof_session *s, cprof_image *image,
					    struct cp_probe_function *f);
/* The traced function `number`, in an image that has its object. */
const cprof_function *engine_traced_function(cprof_session *s, const cprof_image *image,
					     uint32_t number);
/* Is the code at a link-time address of the image part of a function that is
 * traced? */
bool engine_traced_at(const cprof_session *s, const cprof_image *image, uint64_t address);

#endif
