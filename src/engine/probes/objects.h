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

/* The session's decoder of instructions, made when it isn't there; NULL without memory. */
struct cp_decoder *engine_decoder(struct engine_calls *c);
/* What is known of the object's functions, made when it isn't there; NULL: the object
 * can have no breakpoints. */
struct engine_plans *engine_plans_of(cprof_assembly *a);
/* Fills plans->functions, once. False: the object has none. */
bool engine_plans_read(cprof_assembly *a, struct engine_plans *plans);
/* Reads functions.pads, once. Without memory landing pads are not known. */
void engine_plans_pads(const cprof_assembly *a, struct engine_plans *plans);
/* Is there a landing pad of exceptions at link-time `address`? Then no call returns
 * there. */
bool engine_plans_is_pad(cprof_assembly *a, uint64_t address);
/* The image as src/probe sees it, once its functions were read. */
struct cp_probe_image engine_probe_image(const cprof_image *image);
/* The function as src/probe knows it; NULL: it is in no file, or not known there. */
struct cp_probe_function *engine_function_probe(const cprof_function *f);
/* The engine's function for one of src/probe; NULL without memory. */
const cprof_function *engine_probe_function(cprof_session *s, cprof_image *image,
					    struct cp_probe_function *f);
/* The traced function `number`, as of an image of its object. */
const cprof_function *engine_traced_function(cprof_session *s, const cprof_image *image,
					     uint32_t number);
/* Is the code at a link-time address of the image part of a function that is
 * traced? */
bool engine_traced_at(const cprof_session *s, const cprof_image *image, uint64_t address);

#endif
