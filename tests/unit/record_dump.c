/* SPDX-License-Identifier: MIT
 *
 * record_dump FILE: every sample and call of a recording in words.
 * record_dump FILE SEED SAMPLES [SEED SAMPLES]: records made-up programs into
 * FILE first; two of them merged.
 * record_dump FILE calls|annotations SEED EVENTS: the same with calls or annotations.
 * record_dump FILE few SEED SAMPLES: with few stacks.
 */
#include <fcntl.h>
#include <unistd.h>

#include "record/merge.h"
#include "annotation_model.h"
#include "base/error.h"
#include "call_model.h"
#include "record_model.h"
#include "test.h"

static struct cp_record *made(const char *seed, const char *samples)
{
	struct cp_record *r;
	int fd = scratch_file();

	model_write(dup(fd), strtoull(seed, NULL, 10), strtoull(samples, NULL, 10));
	r = load_file(fd);
	close(fd);
	return r;
}

static void few_write(int fd, uint64_t seed, size_t samples, struct cp_buf *text)
{
	struct model m;
	size_t i;

	(void)text;
	model_make(&m, seed, samples);
	for (i = 0; i < samples; i++) {
		m.samples[i].stack = (uint32_t)(i % 3);
		m.samples[i].thread = m.samples[i].flags = 0;
	}
	CHECK_OK(model_write_to(&m, fd, NULL, NULL));
	model_free(&m);
}

int main(int argc, char **argv)
{
	struct cp_buf text = { 0 };
	struct cp_record *r;
	int fd;
	size_t i;

	if (argc == 4) {
		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		model_write(fd, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	} else if (argc == 5) {
		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		(*argv[2] == 'c'   ? call_model_write
		 : *argv[2] == 'f' ? few_write
				   : annotation_model_write)(fd, strtoull(argv[3], NULL, 10),
							     strtoull(argv[4], NULL, 10), NULL);
	} else if (argc == 6) {
		struct cp_record *two[] = { made(argv[2], argv[3]), made(argv[4], argv[5]) };

		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		CHECK_OK(cp_record_merge(two, 2, fd));
		cp_record_destroy(two[0]);
		cp_record_destroy(two[1]);
	}
	CHECK_OK(cp_record_load(argv[1], &r));
	for (i = 0; !test_failures && i < cp_record_sample_count(r); i++) {
		record_text(r, i, &text);
		puts(text.bytes);
	}
	cp_buf_clear(&text);
	call_text(r, &text);
	annotation_text(r, &text);
	fwrite(text.bytes, 1, text.size, stdout);
	cp_buf_free(&text);
	cp_record_destroy(r);
	return test_failures != 0;
}
