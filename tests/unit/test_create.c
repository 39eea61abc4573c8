/* SPDX-License-Identifier: MIT
 *
 * Where recordings and what is made of them may be written, and what becomes
 * of what was there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/types.h"
#include "test.h"

static char dir[] = "/tmp/cprof-output-XXXXXX";

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void check_text(const char *name, const char *want)
{
	char got[64] = "";
	int fd = open(name, O_RDONLY);

	CHECK(fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0);
	CHECK_STR(got, want);
	close(fd);
}

static void check_refused_as(enum cp_create kind, const char *path, enum cp_error_code code)
{
	struct cp_error *err;
	int fd = -1;

	err = cp_create(kind, path, &fd);
	CHECK(err && err->code == code && err->hint && fd == -1);
	if (err && err->code != code)
		fprintf(stderr, "%s: %s\n", path, err->what);
	cp_error_free(err);
}

static void check_refused(const char *path, enum cp_error_code code)
{
	check_refused_as(CP_CREATE_RECORDING, path, code);
}

static void write_as(enum cp_create kind, const char *path, const char *text)
{
	int fd = -1;

	CHECK_OK(cp_create_check(kind, path));
	CHECK_OK(cp_create(kind, path, &fd));
	CHECK(fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void open_and_write(const char *path, const char *text)
{
	write_as(CP_CREATE_RECORDING, path, text);
}

static void test_new_file(void)
{
	struct stat st;
	mode_t before = umask(0277); /* the owner could not even write */

	open_and_write("new", "1");
	umask(0);
	open_and_write("new2", "2");
	umask(before);
	CHECK(!stat("new", &st) && (st.st_mode & 07777) == 0600);
	CHECK(!stat("new2", &st) && (st.st_mode & 07777) == 0600);
}

static void test_older_file(void)
{
	put("data", "oldest");
	open_and_write("data", "older");
	check_text("data.old", "oldest");
	open_and_write("data", "now");
	check_text("data.old", "older");
	check_text("data", "now");
	/* A link named FILE.old is replaced, not followed. */
	put("precious", "precious");
	CHECK(!unlink("data.old") && !symlink("precious", "data.old"));
	open_and_write("data", "again");
	check_text("data.old", "now");
	check_text("precious", "precious");
	CHECK(!mkdir("dir.old", 0700));
	put("dir", "x");
	check_refused("dir", CP_ERR_IO);
	check_text("dir", "x");
}

static void test_refused(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), master, slave;
	char name[64];

	put("target", "target");
	CHECK(!symlink("target", "link") && !symlink("nothing", "dangling"));
	check_refused("link", CP_ERR_USAGE);
	check_refused("dangling", CP_ERR_USAGE);
	CHECK(access("nothing", F_OK) && access("link.old", F_OK));
	check_text("target", "target");
	check_refused(".", CP_ERR_USAGE);
	check_refused("no/such/directory", CP_ERR_NOT_FOUND);
	check_refused("target/x", CP_ERR_IO);
	CHECK(!bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	check_refused("socket", CP_ERR_USAGE);
	close(s);
	CHECK(!openpty(&master, &slave, name, NULL, NULL));
	check_refused(name, CP_ERR_USAGE);
	snprintf(name, sizeof(name), "/dev/fd/%d", slave);
	check_refused(name, CP_ERR_USAGE);
	close(master);
	close(slave);
	check_refused("/dev/fd/1000", CP_ERR_IO);
}

static void test_pipes_and_devices(void)
{
	char name[64], got[8] = "";
	int fds[2], reader;

	open_and_write("/dev/null", "x");
	CHECK(!pipe(fds));
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
	open_and_write(name, "fd");
	CHECK(read(fds[0], got, sizeof(got)) == 2 && !strcmp(got, "fd"));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[1]);
	open_and_write(name, "FD");
	CHECK(read(fds[0], got, sizeof(got)) == 2 && !strcmp(got, "FD"));
	close(fds[0]);
	close(fds[1]);
	CHECK(!mkfifo("fifo", 0600));
	check_refused("fifo", CP_ERR_IO); /* nobody reads it */
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	open_and_write("fifo", "fifo");
	CHECK(read(reader, got, sizeof(got)) == 4 && !strcmp(got, "fifo"));
	close(reader);
}

/* What is made of a recording: an older file is overwritten, nothing else is. */
static void test_outputs(void)
{
	static const char *const bad[] = { "link", "dangling", ".", "socket" };
	struct stat st;
	mode_t before = umask(022);
	FILE *file = NULL;
	size_t i;

	write_as(CP_CREATE_OUTPUT, "table", "the first, longer");
	umask(before);
	CHECK(!stat("table", &st) && (st.st_mode & 07777) == 0644);
	CHECK(!chmod("table", 0640));
	write_as(CP_CREATE_OUTPUT, "table", "second");
	check_text("table", "second");
	CHECK(!stat("table", &st) && (st.st_mode & 07777) == 0640 && access("table.old", F_OK));
	write_as(CP_CREATE_OUTPUT, "/dev/null", "x");
	for (i = 0; i < CP_ARRAY_SIZE(bad); i++) {
		struct cp_error *err = cp_create_check(CP_CREATE_OUTPUT, bad[i]);

		CHECK(err && err->code == CP_ERR_USAGE);
		cp_error_free(err);
		check_refused_as(CP_CREATE_OUTPUT, bad[i], CP_ERR_USAGE);
	}
	check_text("target", "target");
	CHECK(access("nothing", F_OK));
	check_refused_as(CP_CREATE_OUTPUT, "no/such/directory", CP_ERR_NOT_FOUND);
	CHECK_OK(cp_create_check(CP_CREATE_OUTPUT, "no/such/directory"));
	CHECK_OK(cp_create_stream("table", &file));
	CHECK(file && fputs("third", file) > 0 && !fclose(file));
	check_text("table", "third");
}

/* Standard output that is a file: goes on where it is, is not cut. */
static void test_stdout(void)
{
	int saved = dup(1), fd = open("out", O_RDWR | O_CREAT, 0600);

	CHECK(write(fd, "before ", 7) == 7);
	fflush(stdout);
	dup2(fd, 1);
	open_and_write("-", "dash ");
	open_and_write("/dev/stdout", "name");
	dup2(saved, 1);
	check_text("out", "before dash name");
	close(fd);
	close(saved);
}

int main(void)
{
	CHECK(mkdtemp(dir) != NULL && !chdir(dir));
	test_new_file();
	test_older_file();
	test_refused();
	test_outputs();
	test_pipes_and_devices();
	test_stdout();
	CHECK(!system("exec rm -r \"$PWD\""));
	TEST_MAIN_END;
}
