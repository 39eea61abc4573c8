/* SPDX-License-Identifier: MIT
 *
 * The parts of src/image that need no file made by a compiler: maps, spans,
 * demangling, perf maps, sources.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "image/image.h"
#include "image/perfmap.h"
#include "image/spans.h"
#include "test.h"

/* ---- maps ---- */

static void maps_of_this_process(void)
{
	struct cp_mapping *m = NULL;
	struct cp_buf text = { 0 };
	size_t count = 0, i, hits = 0;
	char exe[4096] = "";
	struct stat st;
	uint64_t here = (uint64_t)(uintptr_t)&maps_of_this_process;

	CHECK_OK(cp_file_read(AT_FDCWD, "/proc/self/maps", SIZE_MAX, &text));
	CHECK_OK(cp_mappings_parse(text.bytes, text.size, &m, &count));
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK(!stat(exe, &st));
	for (i = 0; i < count; i++) {
		if (here < m[i].start || here >= m[i].end)
			continue;
		hits++;
		CHECK_STR(m[i].path, exe);
		CHECK(m[i].executable && m[i].readable && !m[i].writable && !m[i].shared);
		CHECK(!m[i].deleted);
		CHECK_U64(m[i].inode, st.st_ino);
	}
	CHECK_U64(hits, 1);
	cp_mappings_free(m, count);
	cp_buf_free(&text);
}

static void maps_with_hostile_names(void)
{
	static const char text[] =
		"00400000-00401000 r-xp 00001000 fd:1f 4711                       /a\\012b c\n"
		"7f0000000000-7f0000002000 rw-s 0000f000 00:01 18446744073709551615 "
		"/memfd:x (deleted) (deleted)\n"
		"7f0000002000-7f0000003000 ---p 00000000 00:00 0 \n"
		"7f0000003000-7f0000004000 r--p 00000000 00:00 0                  [vdso]\n"
		"7f0000004000-7f0000005000 r--p 00000000 08:01 5 "
		"/x\\0127f0000004000-7f0000009000 rwxp 0 0:0 0 /\\134\n"
		"7f0000005000-7f0000006000 r--p 00000000 08:01 5 /cut in the mid";
	struct cp_mapping *m = NULL;
	size_t count = 0;

	CHECK_OK(cp_mappings_parse(text, sizeof(text) - 1, &m, &count));
	CHECK_U64(count, 5);
	if (count != 5)
		return;
	CHECK_U64(m[0].start, 0x400000);
	CHECK_U64(m[0].end, 0x401000);
	CHECK_U64(m[0].offset, 0x1000);
	CHECK_U64(m[0].device, makedev(0xfd, 0x1f));
	CHECK_U64(m[0].inode, 4711);
	CHECK_STR(m[0].path, "/a\nb c");
	CHECK(m[1].deleted && m[1].shared && m[1].writable);
	CHECK_STR(m[1].path, "/memfd:x (deleted)");
	CHECK_U64(m[1].inode, UINT64_MAX);
	CHECK_STR(m[2].path, "");
	CHECK(!m[2].readable);
	CHECK_STR(m[3].path, "[vdso]");
	CHECK_STR(m[4].path, "/x\n7f0000004000-7f0000009000 rwxp 0 0:0 0 /\\134");
	cp_mappings_free(m, count);
}

static void maps_that_make_no_sense(void)
{
	static const char *const bad[] = {
		"x\n",
		"\n",
		"1000-2000\n",
		"2000-1000 r-xp 0 0:0 0 \n",
		"1000-2000 r-xp 0 0:0 \n",
		"11111111111111111-2 r-xp 0 0:0 0 \n",
		"1000-2000 r-xp 0 0:0 99999999999999999999 \n",
		"1000-2000 r-",
	};
	struct cp_mapping *m;
	struct cp_error *err;
	size_t count, i;

	for (i = 0; i < CP_ARRAY_SIZE(bad); i++) {
		m = NULL;
		count = 0;
		err = cp_mappings_parse(bad[i], strlen(bad[i]), &m, &count);
		CHECK(err ? err->code == CP_ERR_FORMAT : count == 0);
		cp_error_free(err);
		cp_mappings_free(m, count);
	}
}

/* A file whose name holds a newline, mapped: the kernel is the judge. */
static void maps_of_a_strange_file(void)
{
	char path[] = "/tmp/cprof\ntest XXXXXX";
	int fd = mkstemp(path);
	struct cp_mapping *m = NULL;
	struct cp_buf text = { 0 };
	size_t count = 0, i, hits = 0;
	void *at;

	CHECK(fd >= 0 && !ftruncate(fd, 4096));
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	unlink(path);
	CHECK_OK(cp_file_read(AT_FDCWD, "/proc/self/maps", SIZE_MAX, &text));
	CHECK_OK(cp_mappings_parse(text.bytes, text.size, &m, &count));
	for (i = 0; i < count; i++) {
		if (m[i].start != (uint64_t)(uintptr_t)at)
			continue;
		hits++;
		CHECK_STR(m[i].path, path);
		CHECK(m[i].deleted && m[i].shared);
	}
	CHECK_U64(hits, 1);
	munmap(at, 4096);
	close(fd);
	cp_mappings_free(m, count);
	cp_buf_free(&text);
}

/* ---- spans, against doing it address by address ---- */

static void spans_one_round(uint64_t *seed, size_t count)
{
	struct cp_span given[40], copy[40];
	struct cp_spans flat = { 0 };
	const struct cp_span *got, *best;
	uint64_t at;
	size_t i;

	for (i = 0; i < count; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		given[i].start = (*seed >> 33) % 60;
		given[i].end = given[i].start + (*seed >> 45) % 20;
		given[i].priority = ((*seed >> 55) % 4) << 8 | i;
		given[i].value = (uint32_t)i;
	}
	memcpy(copy, given, sizeof(copy));
	CHECK(cp_spans_build(given, count, &flat));
	for (at = 0; at < 90; at++) {
		best = NULL;
		for (i = 0; i < count; i++) {
			if (at >= copy[i].start && at < copy[i].end &&
			    (!best || copy[i].priority > best->priority))
				best = &copy[i];
		}
		got = cp_spans_find(&flat, at);
		CHECK(!got == !best);
		CHECK(!got || !best || got->value == best->value);
	}
	for (i = 1; i < flat.count; i++)
		CHECK(flat.items[i - 1].end <= flat.items[i].start);
	cp_spans_free(&flat);
}

static void spans(void)
{
	uint64_t seed = 1;
	size_t i;

	for (i = 0; i < 300; i++)
		spans_one_round(&seed, i % 40);
}

/* ---- demangling ---- */

static void demangles_to(const char *name, const char *want)
{
	char *got = cp_demangle(name);

	CHECK_STR(got, want);
	free(got);
}

static void demangling(void)
{
	demangles_to("main", "main");
	demangles_to("", "");
	demangles_to("_Z", "_Z");
	demangles_to("_ZN3foo3barEi", "foo::bar(int)");
	demangles_to("_ZN4core3fmt5write17h1a2b3c4d5e6f7a8bE", "core::fmt::write");
	demangles_to("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	demangles_to("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
	demangles_to("_Z3fooIiEvT_", "void foo<int>(int)");
	demangles_to("_Zx\n;<", "_Zx\n;<");
}

/* Each level uses the last one twice: 2^60 parts when printed. */
static void demangling_a_bomb(const char *head, const char *tail)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct cp_buf name = { 0 };
	char *got, sub[8];
	int i;

	cp_buf_str(&name, head);
	for (i = 0; i < 60; i++)
		cp_buf_str(&name, "1aI");
	cp_buf_str(&name, "ii");
	for (i = 0; i < 60; i++) {
		/* The template just closed, once more. */
		snprintf(sub, sizeof(sub), "ES%c%c_", i > 36 ? digits[(i - 1) / 36 - 1] : 0,
			 digits[(i + 35) % 36]);
		cp_buf_str(&name, "E");
		cp_buf_str(&name, "S_");
	}
	cp_buf_str(&name, tail);
	got = cp_demangle(name.bytes);
	CHECK(got && strlen(got) < (1 << 20));
	free(got);
	cp_buf_free(&name);
}

static void demangling_hostile_names(void)
{
	char *deep = malloc(70000), *got;
	size_t i, n;

	demangling_a_bomb("_Z1f", "E");
	demangling_a_bomb("_Z1fIJDp", "EEvv");
	/* Deep nesting at the lengths where something changes. */
	for (n = 500; n <= 64000; n = n * 3 / 2) {
		memcpy(deep, "_Z1f", 4);
		for (i = 4; i < n; i++)
			deep[i] = "PRKP"[i % 4];
		memcpy(deep + n, "i", 2);
		got = cp_demangle(deep);
		CHECK(got != NULL);
		free(got);
		/* Rust: nested tuples and references */
		memcpy(deep, "_RIC1aT", 7);
		for (i = 7; i < n; i++)
			deep[i] = "RTSR"[i % 4];
		got = cp_demangle(deep);
		CHECK(got != NULL);
		free(got);
	}
	free(deep);
}

/* Substitutions double the text: DAG of template arguments. */
static void demangling_doubling(void)
{
	struct cp_buf name = { 0 };
	char *got;
	int i;

	/* pair<A,A> where A is the previous pair, by substitution numbers:
	 * S_ is the first, S0_ the second, ... */
	cp_buf_str(&name, "_Z1f1aIiiE");
	for (i = 0; i < 30; i++)
		cp_buf_printf(&name, "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
			      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
	got = cp_demangle(name.bytes);
	CHECK_STR(got, name.bytes);
	free(got);
	cp_buf_free(&name);
}

/* ---- perf maps ---- */

static void put(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void find(struct cp_perf_map *map, uint64_t at, const char *want, uint64_t want_start,
		 uint64_t want_size)
{
	const char *name = "none";
	uint64_t start = 0, size = 0;

	cp_perf_map_find(map, at, &name, &start, &size);
	CHECK_STR(name, want);
	CHECK_U64(start, want_start);
	CHECK_U64(size, want_size);
}

static void perf_maps(void)
{
	char root[] = "/tmp/cprof-test-XXXXXX", path[128], other[128];
	struct cp_perf_map *map = NULL;
	struct cp_error *err;
	int root_fd;

	CHECK(mkdtemp(root) != NULL);
	root_fd = open(root, O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/tmp", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/tmp/perf-42.map", root);
	snprintf(other, sizeof(other), "%s/tmp/other", root);
	err = cp_perf_map_open(root_fd, 42, getuid(), &map);
	CHECK(err && err->code == CP_ERR_NOT_FOUND);
	cp_error_free(err);
	put(path, "1000 100 one two\n1050 10 three\nnonsense\n0x2000 20 0x\nzz 1 n\n3000 10 pa", 0);
	CHECK_OK(cp_perf_map_open(root_fd, 42, getuid(), &map));
	find(map, 0x1000, "one two", 0x1000, 0x100);
	find(map, 0x104f, "one two", 0x1000, 0x100);
	find(map, 0x1050, "three", 0x1050, 0x10);
	find(map, 0x1060, "one two", 0x1000, 0x100);
	find(map, 0x1100, "none", 0, 0);
	find(map, 0x2000, "0x", 0x2000, 0x20);
	find(map, 0x3000, "none", 0, 0);
	put(path, "rtial\nffffffffffffff00 ff end\n1000 200 newer\nffffffffffffffff 2 over\n",
	    O_APPEND);
	cp_perf_map_refresh(map);
	find(map, 0x3000, "partial", 0x3000, 0x10);
	find(map, 0x1055, "newer", 0x1000, 0x200);
	find(map, 0xffffffffffffff01, "end", 0xffffffffffffff00, 0xff);
	put(path, "5000 1 anew\n", O_TRUNC);
	cp_perf_map_refresh(map);
	find(map, 0x5000, "anew", 0x5000, 1);
	find(map, 0x1055, "none", 0, 0);
	cp_perf_map_destroy(map);

	/* A link is refused, and so is another user's file. */
	CHECK(!rename(path, other) && !symlink("other", path));
	err = cp_perf_map_open(root_fd, 42, getuid(), &map);
	CHECK(err && err->code == CP_ERR_PERMISSION);
	cp_error_free(err);
	unlink(path);
	CHECK(!rename(other, path));
	if (getuid() == 0) {
		CHECK(!chown(path, 12345, 12345));
		err = cp_perf_map_open(root_fd, 42, 54321, &map);
		CHECK(err && err->code == CP_ERR_PERMISSION);
		cp_error_free(err);
	}
	unlink(path);
	CHECK(!mkfifo(path, 0600));
	err = cp_perf_map_open(root_fd, 42, getuid(), &map);
	CHECK(err && err->code == CP_ERR_UNSUPPORTED);
	cp_error_free(err);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp", root);
	rmdir(path);
	rmdir(root);
	close(root_fd);
}

int main(void)
{
	maps_of_this_process();
	maps_with_hostile_names();
	maps_that_make_no_sense();
	maps_of_a_strange_file();
	spans();
	demangling();
	demangling_hostile_names();
	demangling_doubling();
	perf_maps();
	TEST_MAIN_END;
}
