/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of a mapped file come from: a copy of this program runs as
 * a child, tells where two of its functions are, and waits; its file is
 * deleted, replaced, put below another root. The child's own word is the
 * judge.
 */
#include <elf.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "image/image.h"
#include "test.h"

int exported_function(int n); /* linked with -rdynamic: a dynamic symbol */

__attribute__((noinline, visibility("default"))) int exported_function(int n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) static int static_function(int n)
{
	return n * 5 + exported_function(n);
}

struct child {
	pid_t pid;
	int in, out; /* its standard input and output */
	uint64_t exported, hidden; /* addresses of the functions */
	struct cp_mapping *maps;
	size_t map_count;
	const struct cp_mapping *first; /* of its program */
};

static char dir[] = "/tmp/cprof-test-XXXXXX";
static char program[64], debug_dir[64];

static int be_child(void)
{
	char c;

	printf("%" PRIx64 " %" PRIx64 "\n", (uint64_t)(uintptr_t)exported_function,
	       (uint64_t)(uintptr_t)static_function);
	fflush(stdout);
	return read(0, &c, 1) == 0 ? 0 : static_function(1);
}

static void read_maps(struct child *c)
{
	struct cp_buf text = { 0 };
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)c->pid);
	CHECK_OK(cp_file_read(AT_FDCWD, path, 1 << 20, &text));
	CHECK_OK(cp_mappings_parse(text.bytes, text.size, &c->maps, &c->map_count));
	cp_buf_free(&text);
	c->first = NULL;
	for (i = 0; i < c->map_count && !c->first; i++) {
		if (!strcmp(c->maps[i].path, program) && !c->maps[i].offset)
			c->first = &c->maps[i];
	}
	CHECK(c->first != NULL);
	if (!c->first)
		exit(1);
}

static void start(struct child *c)
{
	int in[2], out[2];
	char line[128] = "";
	ssize_t n;

	CHECK(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	c->pid = fork();
	if (!c->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(program, program, "child", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->in = in[1];
	c->out = out[0];
	n = read(c->out, line, sizeof(line) - 1);
	CHECK(n > 0 && sscanf(line, "%" SCNx64 " %" SCNx64, &c->exported, &c->hidden) == 2);
	read_maps(c);
}

static void stop(struct child *c)
{
	close(c->in);
	close(c->out);
	waitpid(c->pid, NULL, 0);
	cp_mappings_free(c->maps, c->map_count);
}

static size_t read_child(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	const struct child *c = ctx;
	struct iovec local = { buffer, size }, remote = { (void *)(uintptr_t)addr, size };
	ssize_t n = process_vm_readv(c->pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static struct cp_image_source source_of(struct child *c, const struct cp_reader *memory)
{
	return (struct cp_image_source){
		.path = program,
		.root_fd = -1,
		.pid = c->pid,
		.map_start = c->first->start,
		.map_end = c->first->end,
		.device = c->first->device,
		.inode = c->first->inode,
		.memory = memory,
		.load_address = c->first->start,
	};
}

/* The name at the child's address `at`. */
static const char *name_at(struct cp_image *image, const struct child *c, uint64_t at,
			   struct cp_symbol *s)
{
	struct cp_vaddr base = { 0 };

	CHECK(cp_image_vaddr_of_offset(image, 0, &base));
	if (!cp_image_symbol(image, (struct cp_vaddr){ at - (c->first->start - base.v) }, s))
		return "(none)";
	CHECK_U64(s->start.v, at - (c->first->start - base.v));
	return s->name;
}

enum want { FULL, DYNAMIC, NOTHING };

static void check_source(struct child *c, const struct cp_image_source *source,
			 const struct cp_image_options *options, enum want want)
{
	struct cp_image *image = NULL;
	struct cp_symbol s = { 0 };
	struct cp_error *err;

	err = cp_image_open(source, options, &image);
	if (want == NOTHING) {
		CHECK(err != NULL);
		cp_error_free(err);
		cp_image_destroy(image);
		return;
	}
	CHECK_OK(err);
	if (!image)
		return;
	CHECK_STR(name_at(image, c, c->exported, &s), "exported_function");
	CHECK(s.kind == CP_SYMBOL_FUNCTION);
	if (want == FULL) {
		CHECK_STR(name_at(image, c, c->hidden, &s), "static_function");
	} else {
		CHECK(!strncmp(name_at(image, c, c->hidden, &s), "fn_", 3));
		CHECK(s.kind == CP_SYMBOL_UNWIND && s.size > 0);
	}
	CHECK(cp_image_build_id(image)[0]);
	cp_image_destroy(image);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	CHECK(system(command) == 0);
}

static bool can_read_map_files(const struct child *c)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)c->pid,
		 c->first->start, c->first->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else
		printf("map_files left out: not permitted\n");
	return fd >= 0;
}

static void check_gone(struct child *c)
{
	struct cp_reader memory = { read_child, c };
	const char *dirs[] = { debug_dir, NULL }, *nowhere[] = { NULL };
	struct cp_image_options options = { .debug_dirs = nowhere };
	struct cp_image_source source = source_of(c, NULL);

	check_source(c, &source, &options, FULL); /* by map_files or exe */
	source.map_start = source.map_end = 0;
	check_source(c, &source, &options, FULL); /* by exe */
	if (can_read_map_files(c)) {
		source = source_of(c, NULL);
		source.device = 1; /* so that exe is another file */
		check_source(c, &source, &options, FULL);
	}
	source = source_of(c, NULL);
	source.pid = 0;
	check_source(c, &source, &options, NOTHING);
	source.memory = &memory;
	check_source(c, &source, &options, DYNAMIC);
	options.debug_dirs = dirs;
	check_source(c, &source, &options, FULL); /* a debug file by build-id */
}

/* The file in the child's mapping isn't at its path any more. */
static void gone(void)
{
	struct child c;

	start(&c);
	check_source(&c, &(struct cp_image_source){ .path = program, .root_fd = -1 }, NULL, FULL);
	unlink(program);
	check_gone(&c);
	run("cp /bin/true %s", program); /* another one in its place */
	check_gone(&c);
	stop(&c);
	run("rm %s; cp /proc/%d/exe %s", program, (int)getpid(), program);
}

/* Other numbers in maps than in stat, as overlayfs has them: the bytes count. */
static void other_numbers(void)
{
	struct cp_image_source source;
	struct cp_reader memory;
	struct child c;

	start(&c);
	memory = (struct cp_reader){ read_child, &c };
	source = source_of(&c, &memory);
	source.inode += 1000000;
	source.pid = 0;
	check_source(&c, &source, NULL, FULL);
	source.memory = NULL;
	check_source(&c, &source, NULL, NOTHING);
	stop(&c);
}

static void opens(int root_fd, const char *path, bool want)
{
	struct cp_image_source source = { .path = path, .root_fd = root_fd };
	struct cp_image *image = NULL;
	struct cp_error *err = cp_image_open(&source, NULL, &image);

	CHECK(!err == want);
	if (!err != want)
		fprintf(stderr, "%s: %s\n", path, err ? err->what : "opened");
	cp_error_free(err);
	cp_image_destroy(image);
}

/* Paths are those of the process's root, and nothing leads out of it. */
static void other_root(void)
{
	int root_fd, slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char root[128];

	snprintf(root, sizeof(root), "%s/root", dir);
	run("mkdir -p %s/usr/bin && cp %s %s/usr/bin/only-here", root, program, root);
	run("ln -s /usr/bin/only-here %s/absolute", root);
	run("ln -s ../../../../../../../../../bin/sh %s/out", root);
	run("ln -s / %s/loop", root);
	run("mkfifo %s/fifo", root);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(root_fd >= 0);
	opens(root_fd, "/usr/bin/only-here", true);
	opens(root_fd, "/absolute", true);
	opens(root_fd, "/loop/loop/../usr/bin/../bin/only-here", true);
	opens(root_fd, "/bin/sh", false);
	opens(root_fd, "/out", false);
	opens(root_fd, "/../../../../bin/sh", false);
	opens(root_fd, "/usr", false);
	opens(root_fd, "/fifo", false); /* nor does it wait for a writer */
	opens(slash, program, true);
	opens(slash, "/proc/self/exe", false); /* a magic link */
	opens(slash, "/dev/null", false);
	close(root_fd);
	close(slash);
}

/* ---- the vdso ---- */

static size_t read_self(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	(void)ctx;
	memcpy(buffer, (const void *)(uintptr_t)addr, size);
	return size;
}

static void vdso_symbols(struct cp_image *image, const struct cp_mapping *m)
{
	char path[128], command[256], line[256], name[128];
	struct cp_symbol s;
	unsigned long at;
	unsigned found = 0;
	FILE *f;
	int fd;

	/* nm is the judge, over a copy. */
	snprintf(path, sizeof(path), "%s/vdso.so", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(write(fd, (const void *)(uintptr_t)m->start, m->end - m->start) > 0);
	close(fd);
	snprintf(command, sizeof(command), "nm -D %s", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx T %127[^@\n]", &at, name) != 2)
			continue;
		found++;
		CHECK(cp_image_symbol(image, (struct cp_vaddr){ at }, &s));
		/* Of "time" and "__vdso_time" it takes the former. */
		CHECK(cp_ends_with(name, s.name));
		CHECK_U64(s.start.v, at);
	}
	CHECK(f && !pclose(f));
	CHECK(found >= 2);
}

static void vdso(void)
{
	struct cp_reader memory = { read_self, NULL };
	struct cp_image_source source = { .path = "[vdso]", .root_fd = -1, .memory = &memory };
	struct cp_image *image = NULL;
	struct cp_buf text = { 0 };
	struct cp_mapping *m = NULL;
	size_t count = 0, i;

	if (!getauxval(AT_SYSINFO_EHDR)) {
		printf("vdso left out: there is none\n");
		return;
	}
	CHECK_OK(cp_file_read(AT_FDCWD, "/proc/self/maps", 1 << 20, &text));
	CHECK_OK(cp_mappings_parse(text.bytes, text.size, &m, &count));
	for (i = 0; i < count && strcmp(m[i].path, "[vdso]") != 0; i++)
		;
	CHECK(i < count);
	if (i < count) {
		source.map_start = source.load_address = m[i].start;
		source.map_end = m[i].end;
		CHECK_OK(cp_image_open(&source, NULL, &image));
	}
	if (image)
		vdso_symbols(image, &m[i]);
	cp_image_destroy(image);
	cp_mappings_free(m, count);
	cp_buf_free(&text);
}

static void make_files(void)
{
	char id[256] = "", *rest;
	struct cp_image *image = NULL;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", dir);
	run("cp /proc/%d/exe %s", (int)getpid(), program);
	CHECK_OK(cp_image_open_file(program, NULL, &image));
	if (!image)
		return;
	snprintf(id, sizeof(id), "%s", cp_image_build_id(image));
	cp_image_destroy(image);
	rest = id + 2;
	run("mkdir -p %s/.build-id/%.2s && cp %s %s/.build-id/%.2s/%s.debug", debug_dir, id,
	    program, debug_dir, id, rest);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "child"))
		return be_child();
	make_files();
	gone();
	other_numbers();
	other_root();
	vdso();
	run("rm -rf %s", dir);
	TEST_MAIN_END;
}
