/* SPDX-License-Identifier: MIT
 *
 * A program at the limit of its address space: what it holds it keeps, a
 * mapping more is refused, and its size never changes by itself.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "tracee.h"

static long vm_pages(void)
{
	char buf[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	CHECK(n > 0, "statm: %s", strerror(errno));
	buf[n] = 0;
	close(fd);
	return strtol(buf, NULL, 10);
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;
	char *last;
	long pages;

	tracee_begin("rlimit_as", argc, argv, (struct tracee_options){ .rounds = 3000 });
	pages = vm_pages();
	limit.rlim_cur = limit.rlim_max = (rlim_t)(pages + 1) * page;
	TRY(setrlimit(RLIMIT_AS, &limit));
	tracee_ready();
	while (tracee_more()) {
		last = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(last != MAP_FAILED, "the last page is taken");
		CHECK(mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
				      MAP_FAILED &&
			      errno == ENOMEM,
		      "a page beyond the limit");
		*last = 1;
		munmap(last, page);
		CHECK(vm_pages() == pages, "%ld pages, not %ld", vm_pages(), pages);
	}
	return tracee_ok("not a page more or less");
}
