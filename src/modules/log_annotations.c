/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for what the program itself announces (cprof/trace.h).
 *
 *   log:annotations    spans, instants, counters, fibers
 */
