/* SPDX-License-Identifier: MIT
 *
 * Where a recording may be written, and what becomes of what was there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "record/record.h"
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

static void check_refused(const char *path, enum cp_error_code code)
{
	struct cp_error *err;
	int fd = -1;

	err = cp_record_open_output(path, &fd);
	CHECK(err && err->code == code && err->hint && fd == -1);
	if (err && err->code != code)
		fprintf(stderr, "%s: %s\n", path, err->what);
	cp_error_free(err);
}

static void open_and_write(const char *path, const char *text)
{
	int fd = -1;

	CHECK_OK(cp_record_open_output(path, &fd));
	CHECK(fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
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
	test_pipes_and_devices();
	test_stdout();
	CHECK(!system("exec rm -r \"$PWD\""));
	TEST_MAIN_END;
}
