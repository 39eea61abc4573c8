/* SPDX-License-Identifier: MIT
 *
 * A program that checksums its own text, the C library's and the vdso's, over
 * and over from two threads, and compares with the file on disk.
 */
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tracee.h"

struct area {
	const uint8_t *start;
	size_t size;
	uint64_t sum;
	uint64_t offset;
	bool own;
};

static struct area areas[32];
static size_t count;

static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		h = (h ^ word) * 0x100000001b3;
	}
	return h;
}

static int add(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct area *a = &areas[count];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || count == 32)
			continue;
		a->start = (const uint8_t *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
		a->size = p->p_memsz;
		a->offset = p->p_offset;
		a->own = (*(int *)arg)++ == 0;
		a->sum = checksum(a->start, a->size);
		count++;
	}
	return 0;
}

static void compare_with_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *file;

	CHECK(fd != -1 && !fstat(fd, &st), "/proc/self/exe: %s", strerror(errno));
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(file != MAP_FAILED, "mmap: %s", strerror(errno));
	for (size_t i = 0; i < count; i++)
		if (areas[i].own)
			CHECK(checksum(file + areas[i].offset, areas[i].size) == areas[i].sum,
			      "text differs from the file");
	munmap(file, (size_t)st.st_size);
	close(fd);
}

static void *check(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < count; i++)
		CHECK(checksum(areas[i].start, areas[i].size) == areas[i].sum,
		      "text at %p has changed", (const void *)areas[i].start);
	return NULL;
}

int main(int argc, char **argv)
{
	int number = 0;

	tracee_begin("self_check", argc, argv, (struct tracee_options){ .rounds = 50 });
	dl_iterate_phdr(add, &number);
	while (tracee_more()) {
		pthread_t other = tracee_thread(check, NULL);

		check(NULL);
		compare_with_file();
		pthread_join(other, NULL);
	}
	return tracee_ok("text unchanged");
}
