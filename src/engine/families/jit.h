/* SPDX-License-Identifier: MIT
 *
 * Code made at run time and registered for debuggers. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_JIT_H
#define CP_ENGINE_FAMILIES_JIT_H

#endif
