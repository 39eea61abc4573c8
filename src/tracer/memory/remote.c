/* SPDX-License-Identifier: MIT
 *
 * Reading without waiting for the program.
 *
 * What is missing of a range that is registered with userfaultfd(2) comes from a thread
 * of the program, and process_vm_readv() waits for it. We may have stopped that thread, or
 * it waits for what the stopped one holds. /proc/PID/mem never waits, and fails there; but
 * it also reads devices, where reading may mean something, and what the program itself
 * may not read. So
 *
 *     page is mapped             process_vm_readv() reads it
 *     page is not, mem has it    mem had it mapped; process_vm_readv() reads it
 *     page is not, mem fails     there is nothing, or somebody would have to serve it
 *
 * Whether a page is mapped is read in /proc/PID/pagemap, which costs half a microsecond a
 * piece. That it is unmapped by another thread before it is read takes some hundred
 * nanoseconds' luck. Who is not root has nothing of this: only faults of user mode come to
 * a descriptor of theirs, unless the machine allows more.
 */
#include "tracer/memory/remote.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PM_PRESENT (UINT64_C(1) << 63)
#define PAGES 512u /* are looked up at a time, at most */
#define NEAR 64u /* as many for one piece of several: the next one mostly is not far */

/* What /proc/PID/pagemap says of some pages. */
struct pages {
	uint64_t first;
	size_t count;
	uint64_t entries[PAGES];
};

/* May faults of the kernel's be the program's to serve? Its directory in /proc is root's as
 * well where it changed its user, or was started with more rights than its caller. */
static bool may_serve(pid_t pid)
{
	char path[64], allowed = '1';
	struct stat process, device;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &process) || !process.st_uid)
		return true;
	fd = open("/proc/sys/vm/unprivileged_userfaultfd", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* of a kernel before 5.2 */
	if (read(fd, &allowed, 1) != 1)
		allowed = '1';
	close(fd);
	if (allowed != '0')
		return true;
	snprintf(path, sizeof(path), "/proc/%d/root/dev/userfaultfd", (int)pid);
	return !stat(path, &device) &&
	       (device.st_uid == process.st_uid || device.st_mode & (S_IRWXG | S_IRWXO));
}

/* -2: nothing has to be looked up, or can be. */
static int open_pagemap(struct space *space)
{
	char path[64];

	if (space->pagemap != -1)
		return space->pagemap;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)space->pid);
	space->pagemap = may_serve(space->pid) ? open(path, O_RDONLY | O_CLOEXEC) : -2;
	if (space->pagemap < 0)
		space->pagemap = -2; /* not for each hit */
	return space->pagemap;
}

/* Is there something at `address` that comes without anybody's help? */
static bool comes(struct space *space, uint64_t address)
{
	uint8_t byte;

	return !space_open(space) && space_read(space, address, &byte, sizeof(byte));
}

static void look_up(int pagemap, struct pages *pages, uint64_t first, uint64_t last)
{
	size_t n = last - first < PAGES ? (size_t)(last - first) + 1 : PAGES;
	ssize_t got = pread(pagemap, pages->entries, n * 8, (off_t)(first * 8));

	pages->first = first;
	pages->count = n;
	for (n = got > 0 ? (size_t)got / 8 : 0; n < pages->count; n++)
		pages->entries[n] = 0;
}

/* So many of `size` bytes can be read without waiting. */
static size_t reach(struct space *space, int pagemap, struct pages *pages, uint64_t address,
		    size_t size, uint64_t more)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t page = address / page_size, last = (address + size - 1) / page_size, at;

	if (!size || last < page)
		return size;
	for (; page <= last; page++) {
		if (page - pages->first >= pages->count)
			look_up(pagemap, pages, page, page + more > last ? page + more : last);
		at = page * page_size;
		if (!(pages->entries[page - pages->first] & PM_PRESENT) &&
		    !comes(space, at > address ? at : address))
			return at > address ? at - address : 0;
	}
	return size;
}

/* Pieces that lie near each other are looked up at once. */
static void look_up_all(int pagemap, struct pages *pages, const struct iovec *from, size_t n)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE), low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base;
		uint64_t end = at + from[i].iov_len - 1;

		if (!from[i].iov_len || end < at)
			continue;
		low = at / page_size < low ? at / page_size : low;
		high = end / page_size > high ? end / page_size : high;
	}
	if (low <= high && high - low < PAGES)
		look_up(pagemap, pages, low, high);
}

/* process_vm_readv() ends at the first page that is not there, and is asked again for
 * what comes behind. */
void remote_read(struct space *space, pid_t tid, struct iovec *to, struct iovec *from,
		 uint32_t *got, size_t n)
{
	int pagemap = open_pagemap(space);
	struct pages pages;
	size_t i;

	pages.count = 0;
	pages.first = 0;
	if (pagemap >= 0 && n > 1)
		look_up_all(pagemap, &pages, from, n);
	for (i = 0; pagemap >= 0 && i < n; i++)
		to[i].iov_len = from[i].iov_len =
			reach(space, pagemap, &pages, (uint64_t)(uintptr_t)from[i].iov_base,
			      from[i].iov_len, n > 1 ? NEAR : 0);
	for (i = 0; i < n;) {
		ssize_t r = process_vm_readv(tid, to + i, n - i, from + i, n - i, 0);
		size_t left = r > 0 ? (size_t)r : 0;

		while (i < n && left >= from[i].iov_len) {
			got[i] = (uint32_t)from[i].iov_len;
			left -= from[i++].iov_len;
		}
		if (i < n)
			got[i++] = (uint32_t)left;
	}
}

size_t remote_read_one(struct space *space, pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	uint32_t got = 0;

	remote_read(space, tid, &local, &remote, &got, 1);
	return got;
}
