/* SPDX-License-Identifier: MIT
 *
 * Debug log, silent unless `-v` raised the level. Lines go to standard error;
 * text from the program must be escaped by the caller.
 */
#ifndef CP_BASE_LOG_H
#define CP_BASE_LOG_H

enum cp_log_level { CP_LOG_OFF, CP_LOG_INFO, CP_LOG_DEBUG };

/* The only mutable global of the project. */
extern enum cp_log_level cp_log_level;

void cp_log_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define cp_log(level, ...) \
	do { \
		if (cp_log_level >= (level)) \
			cp_log_write(__VA_ARGS__); \
	} while (0)
#define cp_info(...) cp_log(CP_LOG_INFO, __VA_ARGS__)
#define cp_debug(...) cp_log(CP_LOG_DEBUG, __VA_ARGS__)

#endif
