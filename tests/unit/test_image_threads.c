/* SPDX-License-Identifier: MIT
 *
 * Several threads ask one image for symbols, lines and sections at once, from
 * its first use on; each must hear what a single thread hears. (Run it with
 * -Db_sanitize=thread to see races that did not show.)
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"
#include "test.h"

#define THREADS 6
#define ROUNDS 20
#define ASKED 64

struct answers {
	const char *symbols[ASKED];
	size_t frames[ASKED];
	uint32_t lines[ASKED];
	size_t section, bytes, other_bytes; /* of the file: read, and that it does not have */
};

struct asker {
	struct cp_image *image;
	const uint64_t *addresses;
	struct answers answers;
	bool backwards;
};

/* Pieces of the file of all sizes, across the places where it is read anew. */
static void ask_bytes(struct asker *a, int fd, size_t k)
{
	uint8_t got[5000], there[sizeof(got)];
	const off_t offset = (off_t)(k * 40503 % 90000 + 16384 * (k % 2));
	size_t size = k % 7 ? 1 + k * 37 % 60 : 1 + k * 997 % sizeof(got), n;
	struct cp_vaddr at;

	if (!cp_image_vaddr_of_offset(a->image, (uint64_t)offset, &at))
		return;
	n = cp_image_read(a->image, at, got, size);
	a->answers.bytes += n;
	a->answers.other_bytes +=
		pread(fd, there, n, offset) != (ssize_t)n || memcmp(got, there, n);
}

static void *ask(void *opaque)
{
	struct asker *a = opaque;
	struct cp_inline_frame f[8];
	struct cp_symbol s;
	struct cp_vaddr at, where;
	const uint8_t *bytes;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t i, k;

	for (i = 0; i < ASKED; i++) {
		k = a->backwards ? ASKED - 1 - i : i;
		ask_bytes(a, fd, k);
		at.v = a->addresses[k];
		a->answers.symbols[k] = cp_image_symbol(a->image, at, &s) ? s.name : "";
		a->answers.frames[k] = cp_image_frames(a->image, at, f, 8);
		a->answers.lines[k] = a->answers.frames[k] ? f[0].line : 0;
		if (i == ASKED / 2)
			cp_image_section(a->image, ".eh_frame", &bytes, &a->answers.section,
					 &where);
	}
	close(fd);
	return NULL;
}

static void same(const struct answers *a, const struct answers *b)
{
	size_t i;

	for (i = 0; i < ASKED; i++) {
		CHECK_STR(a->symbols[i], b->symbols[i]);
		CHECK_U64(a->frames[i], b->frames[i]);
		CHECK_U64(a->lines[i], b->lines[i]);
	}
	CHECK_U64(a->section, b->section);
	CHECK_U64(a->bytes, b->bytes);
	CHECK_U64(a->other_bytes, 0);
}

static void one_round(const uint64_t *addresses, const struct answers *want)
{
	struct asker askers[THREADS] = { 0 };
	struct cp_image *image = NULL;
	pthread_t threads[THREADS];
	size_t i;

	CHECK_OK(cp_image_open_file("/proc/self/exe", NULL, &image));
	for (i = 0; i < THREADS; i++) {
		askers[i].image = image;
		askers[i].addresses = addresses;
		askers[i].backwards = i % 2;
		CHECK(!pthread_create(&threads[i], NULL, ask, &askers[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		same(&askers[i].answers, want);
	}
	cp_image_destroy(image);
}

int main(void)
{
	struct asker alone = { 0 };
	const struct cp_symbol *s;
	uint64_t addresses[ASKED];
	size_t count, i, with_lines = 0;

	CHECK_OK(cp_image_open_file("/proc/self/exe", NULL, &alone.image));
	CHECK_OK(cp_image_symbols(alone.image, &s, &count));
	CHECK(count > ASKED);
	for (i = 0; i < ASKED; i++)
		addresses[i] = s[i * count / ASKED].start.v + s[i * count / ASKED].size / 2;
	alone.addresses = addresses;
	ask(&alone);
	CHECK(alone.answers.bytes > 1000 && !alone.answers.other_bytes);
	for (i = 0; i < ASKED; i++)
		with_lines += alone.answers.lines[i] != 0;
	if (!with_lines)
		printf("lines left out: built without debug information\n");
	for (i = 0; i < ROUNDS; i++)
		one_round(addresses, &alone.answers);
	cp_image_destroy(alone.image);
	TEST_MAIN_END;
}
