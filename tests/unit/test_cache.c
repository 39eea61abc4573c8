/* SPDX-License-Identifier: MIT
 *
 * What is kept for later runs: who may, what is believed, that many may write at once,
 * and that there is an end to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/types.h"
#include "test.h"

static char dir[] = "/tmp/cprof-cache-XXXXXX";
static const struct cp_cache_key key = { "0123abcd", "thing", 3, 77 };
#define ENTRY "cprof/0123abcd.thing"

static bool get(const struct cp_cache *cache, const struct cp_cache_key *of, const char *want)
{
	struct cp_buf got = { 0 };
	bool found;

	cp_buf_str(&got, "x");
	found = cp_cache_get(cache, of, &got);
	CHECK(got.size == 1 + (found ? strlen(want) : 0));
	CHECK(!found || !memcmp(got.bytes + 1, want, strlen(want)));
	cp_buf_free(&got);
	return found;
}

static void put(const struct cp_cache *cache, const char *bytes)
{
	cp_cache_put(cache, &key, bytes, strlen(bytes));
}

static void check_keeps(void)
{
	struct cp_cache *cache = cp_cache_open();
	struct cp_cache_key other = key;
	struct stat st;

	CHECK(cache && !get(cache, &key, ""));
	put(cache, "some bytes");
	CHECK(get(cache, &key, "some bytes"));
	CHECK(!stat(ENTRY, &st) && (st.st_mode & 07777) == 0600);
	CHECK(!stat("cprof", &st) && (st.st_mode & 07777) == 0700);
	other.of++;
	CHECK(!get(cache, &other, ""));
	other = key, other.format++;
	CHECK(!get(cache, &other, ""));
	other = key, other.build_id = "";
	cp_cache_put(cache, &other, "a", 1);
	CHECK(!get(cache, &other, ""));
	other = key, other.build_id = "../0123abcd";
	cp_cache_put(cache, &other, "a", 1);
	CHECK(!get(cache, &other, ""));
	/* None of that took it away. */
	CHECK(get(cache, &key, "some bytes"));
	put(cache, "");
	CHECK(get(cache, &key, ""));
	cp_cache_close(cache);
	cp_cache_close(NULL);
	CHECK(!cp_cache_get(NULL, &key, NULL));
}

/* Each byte of an entry, and each length. */
static void check_damaged(void)
{
	struct cp_cache *cache = cp_cache_open();
	struct stat st;
	uint8_t byte;
	off_t i, size;
	int fd;

	put(cache, "some bytes");
	CHECK(!stat(ENTRY, &st));
	size = st.st_size;
	for (i = 0; i < 2 * size; i++) {
		put(cache, "some bytes");
		fd = open(ENTRY, O_RDWR);
		CHECK(fd >= 0);
		if (i < size) {
			CHECK(pread(fd, &byte, 1, i) == 1);
			byte ^= (uint8_t)(1u << i % 8);
			CHECK(pwrite(fd, &byte, 1, i) == 1);
		} else {
			CHECK(!ftruncate(fd, i - size));
		}
		close(fd);
		CHECK(!get(cache, &key, ""));
		CHECK(access(ENTRY, F_OK) && errno == ENOENT);
	}
	put(cache, "some bytes");
	CHECK(!truncate(ENTRY, size + 1));
	CHECK(!get(cache, &key, ""));
	cp_cache_close(cache);
}

/* Whatever stands in an entry's place is removed, and nothing behind it is touched. */
static void check_strange(void)
{
	struct cp_cache *cache = cp_cache_open();

	put(cache, "some bytes");
	CHECK(!rename(ENTRY, "real") && !symlink("../real", ENTRY));
	CHECK(!get(cache, &key, "") && access(ENTRY, F_OK) && !access("real", F_OK));
	CHECK(!mkfifo(ENTRY, 0600));
	CHECK(!get(cache, &key, "") && access(ENTRY, F_OK));
	put(cache, "some bytes");
	CHECK(!chmod(ENTRY, 0622));
	CHECK(!get(cache, &key, "") && access(ENTRY, F_OK));
	cp_cache_close(cache);
}

/* A directory that others may write to, or that is another's, is none. */
static void check_directories(void)
{
	struct cp_cache *cache;

	CHECK(!chmod("cprof", 0770));
	CHECK(!cp_cache_open());
	CHECK(!chmod("cprof", 0700) && !chmod(".", 0777));
	CHECK(!cp_cache_open());
	CHECK(!chmod(".", 0700));
	CHECK(!rename("cprof", "moved") && !symlink("moved", "cprof"));
	CHECK(!cp_cache_open());
	CHECK(!unlink("cprof") && !rename("moved", "cprof"));
	if (!geteuid()) { /* as under sudo: another's */
		CHECK(!chown(".", 65534, 65534));
		CHECK(!cp_cache_open());
		CHECK(!chown(".", 0, 0));
	}
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", dir, 1);
	cache = cp_cache_open();
	CHECK(cache && !access(".cache/cprof", F_OK));
	cp_cache_close(cache);
	unsetenv("HOME");
	CHECK(!cp_cache_open());
	setenv("XDG_CACHE_HOME", dir, 1);
}

/* Each finds what one of them wrote, whole, or nothing. */
static void check_many_writers(void)
{
	static const char *const texts[] = { "a", "bbbbbbbb", "", "cccccccccccccccccccccccccc" };
	pid_t pids[4];
	size_t i, n, k;
	int status;

	for (i = 0; i < CP_ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		struct cp_cache *cache = cp_cache_open();

		for (n = 0; n < 300; n++) {
			struct cp_buf got = { 0 };
			bool known = false;

			put(cache, texts[i]);
			if (!cp_cache_get(cache, &key, &got))
				_exit(1);
			for (k = 0; k < CP_ARRAY_SIZE(texts); k++)
				known |= got.size == strlen(texts[k]) &&
					 (!got.size || !memcmp(got.bytes, texts[k], got.size));
			if (!known)
				_exit(2);
			cp_buf_free(&got);
		}
		_exit(0);
	}
	for (i = 0; i < CP_ARRAY_SIZE(pids); i++)
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
}

static void make_old(const char *name, uint64_t size, time_t age)
{
	const time_t then = time(NULL) - age;
	const struct timespec times[2] = { { .tv_sec = then }, { .tv_sec = then } };
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size) && !futimens(fd, times));
	close(fd);
}

static void check_bound(void)
{
	struct cp_cache *cache = cp_cache_open();
	struct rlimit limit, before;
	struct stat st;

	make_old("cprof/1.thing", CP_CACHE_ALL_MAX / 2, 3000);
	make_old("cprof/2.thing", CP_CACHE_ALL_MAX / 2, 2000);
	make_old("cprof/3.thing", CP_CACHE_ALL_MAX / 8, 1000);
	make_old("cprof/.new-1-2-3", 10, 100000);
	make_old("cprof/.new-4-5-6", 10, 1);
	put(cache, "some bytes");
	CHECK(access("cprof/1.thing", F_OK) && !access("cprof/2.thing", F_OK));
	CHECK(!access("cprof/3.thing", F_OK) && get(cache, &key, "some bytes"));
	CHECK(access("cprof/.new-1-2-3", F_OK) && !access("cprof/.new-4-5-6", F_OK));
	/* What is used is not the oldest any more. */
	CHECK(!stat(ENTRY, &st));
	make_old(ENTRY, (uint64_t)st.st_size, 100000);
	CHECK(get(cache, &key, "some bytes"));
	CHECK(!stat(ENTRY, &st) && time(NULL) - st.st_mtime < 1000);
	/* Where files may not be as large, none is begun: that would be a signal. */
	CHECK(!getrlimit(RLIMIT_FSIZE, &before));
	limit = (struct rlimit){ 16, before.rlim_max };
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	put(cache, "other bytes");
	CHECK(!setrlimit(RLIMIT_FSIZE, &before));
	CHECK(get(cache, &key, "some bytes"));
	cp_cache_close(cache);
}

int main(void)
{
	CHECK(mkdtemp(dir) != NULL && !chdir(dir));
	setenv("XDG_CACHE_HOME", dir, 1);
	check_keeps();
	check_damaged();
	check_strange();
	check_directories();
	check_many_writers();
	check_bound();
	CHECK(!system("exec rm -r \"$PWD\""));
	TEST_MAIN_END;
}
