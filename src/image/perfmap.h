/* SPDX-License-Identifier: MIT
 *
 * Perf maps: the names of code made at run time, in /tmp/perf-PID.map.
 */
#ifndef CP_IMAGE_PERFMAP_H
#define CP_IMAGE_PERFMAP_H

#include "base/error.h"
#include "base/types.h"

/* /tmp/perf-PID.map (through `root_fd` when >= 0): code made at run time. */
struct cp_perf_map;
/* Trusted only when a regular file, no link, owned by root or `uid`. */
CP_ERROR cp_perf_map_open(int root_fd, int pid_in_namespace, uint32_t uid,
			  struct cp_perf_map **ret);
/* Reads what was appended since; cheap when nothing was. */
void cp_perf_map_refresh(struct cp_perf_map *map);
/* The newest entry that covers `at`. The name lives until the next refresh. */
bool cp_perf_map_find(const struct cp_perf_map *map, uint64_t at, const char **name_ret,
		      uint64_t *start_ret, uint64_t *size_ret);
void cp_perf_map_destroy(struct cp_perf_map *map);
/* The lines of a map in order, from 0; false: there are not that
 * many. The name lives until the next refresh. */
bool cp_perf_map_entry(const struct cp_perf_map *map, size_t n, const char **name_ret,
		       uint64_t *start_ret, uint64_t *size_ret);

#endif
