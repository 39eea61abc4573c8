/* SPDX-License-Identifier: MIT
 *
 * How near a name is to what somebody typed.
 */
#ifndef CP_PROBE_DISTANCE_H
#define CP_PROBE_DISTANCE_H

/* The distance of two names, for suggestions: 0 is equal, up to CP_NEAR worth
 * showing. */
#define CP_NEAR 3u
unsigned cp_name_distance(const char *wanted, const char *name);
/* The distance of a glob, which is near when its beginning is: `prase_*` to
 * parse_line. */
unsigned cp_name_glob_distance(const char *glob, const char *name);

#endif
