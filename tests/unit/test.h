/* SPDX-License-Identifier: MIT
 *
 * The unit tests' whole framework: CHECK() prints what failed and goes on,
 * TEST_MAIN_END reports. A test that can't run here calls SKIP().
 */
#ifndef CP_TEST_H
#define CP_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures, test_checks;

#define CHECK(cond) \
	do { \
		test_checks++; \
		if (!(cond)) { \
			test_failures++; \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

#define CHECK_U64(got, want) \
	do { \
		uint64_t got_ = (got), want_ = (want); \
		test_checks++; \
		if (got_ != want_) { \
			test_failures++; \
			fprintf(stderr, \
				"%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), want %" PRIu64 \
				" (0x%" PRIx64 ")\n", \
				__FILE__, __LINE__, #got, got_, got_, want_, want_); \
		} \
	} while (0)

#define CHECK_STR(got, want) \
	do { \
		const char *got_ = (got), *want_ = (want); \
		test_checks++; \
		if (!got_ || strcmp(got_, want_)) { \
			test_failures++; \
			fprintf(stderr, "%s:%d: %s is \"%s\", want \"%s\"\n", __FILE__, __LINE__, \
				#got, got_ ? got_ : "(null)", want_); \
		} \
	} while (0)

/* Fails the test with the error's text; frees it. */
#define CHECK_OK(call) \
	do { \
		struct cp_error *err_ = (call); \
		test_checks++; \
		if (err_) { \
			test_failures++; \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, err_->what); \
			cp_error_free(err_); \
		} \
	} while (0)

/* Meson counts exit status 77 as skipped. */
#define SKIP(reason) \
	do { \
		printf("skipped: %s\n", reason); \
		exit(77); \
	} while (0)

#define TEST_MAIN_END \
	do { \
		printf("%d checks, %d failed\n", test_checks, test_failures); \
		return test_failures != 0; \
	} while (0)

#endif
