/* SPDX-License-Identifier: MIT
 *
 * Coverage as pages: writes the directory. A page is built beside its place
 * and moved there, and what did not come from us is not replaced.
 */
#include "report/export/pages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "report/coverage/coverage.h"
#include "report/export/pages_assets.h"
#include "report/export/pages_file.h"
#include "report/export/pages_index.h"
#include "report/export/pages_pieces.h"
#include "report/look/sink.h"

#define MARK "cprof coverage report" /* in the first bytes of all that is ours */
#define MARK_WITHIN 160
#define STYLE "cprof-coverage.css"
#define SCRIPT "cprof-coverage.js"
#define NAME_LONGEST 120 /* of the name of a page without its end */

/* ---- names of pages ---- */

static char plain(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    c == '.' || c == '_' || c == '+' || c == '-')
		return c;
	return c == '/' ? '-' : '_';
}

/* "src/main.c" is src-main.c.html. A name that had to change in another way,
 * or is taken (also by one that differs in case only), gets a hash. */
static void page_name(const char *name, unsigned attempt, char *ret, size_t size)
{
	size_t length = strlen(name), skip = length > NAME_LONGEST ? length - NAME_LONGEST : 0, i;
	char text[NAME_LONGEST + 1];
	bool odd = skip || attempt || !length || *name == '.' || !strcmp(name, "index");
	uint64_t hash = cp_hash_bytes(name, length) + attempt;

	for (i = 0; i < length - skip; i++) {
		text[i] = plain(name[skip + i]);
		odd = odd || (text[i] != name[skip + i] && name[skip + i] != '/');
	}
	text[i] = 0;
	if (*text == '.' || *text == '-')
		*text = '_';
	if (odd)
		snprintf(ret, size, "%s@%08x.html", text, (unsigned)(hash & 0xffffffff));
	else
		snprintf(ret, size, "%s.html", text);
}

static bool is_taken(struct cp_interner *taken, const char *name)
{
	char folded[NAME_LONGEST + 32];
	bool fresh = false;
	uint32_t id;
	size_t i;

	for (i = 0; name[i] && i < sizeof(folded); i++)
		folded[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
	return cp_intern(taken, folded, i, &id, &fresh) && !fresh;
}

static char *new_name(struct cp_interner *taken, const char *name)
{
	char page[NAME_LONGEST + 32];
	unsigned attempt = 0;

	do
		page_name(name, attempt++, page, sizeof(page));
	while (is_taken(taken, page));
	return strdup(page);
}

char **cp_pages_names(const struct cp_coverage *c)
{
	struct cp_interner taken CP_CLEANUP(cp_interner_free) = { 0 };
	size_t files = c->files.count, binaries = c->binaries.count, i;
	char **names = calloc(files + binaries + 1, sizeof(*names));

	for (i = 0; names && i < files + binaries; i++) {
		names[i] = new_name(&taken, i < files ? c->files.items[i].name
						      : c->binaries.items[i - files].name);
		if (!names[i]) {
			cp_pages_names_free(c, names);
			return NULL;
		}
	}
	return names;
}

void cp_pages_names_free(const struct cp_coverage *c, char **names)
{
	size_t i;

	for (i = 0; names && i < c->files.count + c->binaries.count; i++)
		free(names[i]);
	free(names);
}

/* ---- files of the directory ---- */

/* Is `name` a file, and one that a report of ours wrote? */
static bool is_ours(const struct cp_pages *g, const char *name)
{
	char bytes[MARK_WITHIN + 1];
	struct stat st;
	size_t n = 0;

	if (!fstatat(g->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
		CP_CLOSE int fd =
			openat(g->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		n = fd < 0 ? 0 : cp_pread(fd, bytes, MARK_WITHIN, 0);
	}
	bytes[n] = 0;
	return strstr(bytes, MARK);
}

/* A file in the place of a page is replaced only if an earlier report wrote it. */
static CP_ERROR check_ours(const struct cp_pages *g, const char *name)
{
	struct stat st;

	if (fstatat(g->dir, name, &st, AT_SYMLINK_NOFOLLOW) || is_ours(g, name))
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "%s/%s is in the way: it is not from a coverage report",
					  g->directory, name),
			     "give a directory of its own, or remove that file");
}

static CP_ERROR failed(const struct cp_pages *g, const char *name, int errnum)
{
	return cp_error_new(CP_ERR_IO, errnum, "cannot write %s/%s", g->directory, name);
}

typedef CP_ERROR (*writer)(struct cp_pages *g, struct cp_sink *sink, const void *what);

static CP_ERROR fill(struct cp_pages *g, const char *name, int fd, writer write, const void *what)
{
	CP_FCLOSE FILE *file = fdopen(fd, "w");
	struct cp_sink sink = { .file = file };
	struct cp_error *err;

	if (!file) {
		close(fd);
		return failed(g, name, errno);
	}
	err = write(g, &sink, what);
	if (err)
		cp_buf_free(&sink.buf);
	else
		err = cp_sink_finish(&sink);
	if (err && err->code == CP_ERR_IO) {
		int errnum = err->errnum;

		cp_error_free(err);
		return failed(g, name, errnum);
	}
	return err;
}

static CP_ERROR write_file(struct cp_pages *g, const char *name, writer write, const void *what)
{
	char fresh[64];
	struct cp_error *err;
	int fd;

	CP_TRY(check_ours(g, name));
	snprintf(fresh, sizeof(fresh), ".cprof-%ld.new", (long)getpid());
	unlinkat(g->dir, fresh, 0);
	fd = openat(g->dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return failed(g, name, errno);
	err = fill(g, name, fd, write, what);
	if (!err && renameat(g->dir, fresh, g->dir, name))
		err = failed(g, name, errno);
	if (err)
		unlinkat(g->dir, fresh, 0);
	return err;
}

static CP_ERROR make_directory(const char *path)
{
	CP_FREE char *part = strdup(path);
	char *slash;

	if (!part)
		return cp_error_nomem();
	for (slash = part; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(part, 0777); /* what can't be made fails at the last one */
		*slash = '/';
	}
	if (mkdir(part, 0777) && errno != EEXIST)
		return cp_error_new(CP_ERR_IO, errno, "cannot make the directory %s", path);
	return NULL;
}

static CP_ERROR open_directory(struct cp_pages *g)
{
	CP_TRY(make_directory(g->directory));
	g->dir = open(g->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir < 0)
		return cp_error_new(CP_ERR_IO, errno, "cannot write into %s", g->directory);
	return NULL;
}

static bool is_page(const char *name)
{
	size_t size = strlen(name);

	return size > 5 && !strcmp(name + size - 5, ".html");
}

/* Pages of an earlier report, of sources that count no more: nothing leads to
 * them, and who has a bookmark would take them for news. */
static void remove_stale(const struct cp_pages *g)
{
	size_t count = g->c->files.count + g->c->binaries.count, i;
	struct cp_interner names CP_CLEANUP(cp_interner_free) = { 0 };
	int fd = openat(g->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool ok = dir, fresh = false;
	struct dirent *entry;
	uint32_t id;

	for (i = 0; ok && i < count; i++)
		ok = cp_intern(&names, g->names[i], strlen(g->names[i]), &id, NULL);
	ok = ok && cp_intern(&names, "index.html", strlen("index.html"), &id, NULL);
	while (ok && (entry = readdir(dir))) {
		if (!is_page(entry->d_name))
			continue;
		ok = cp_intern(&names, entry->d_name, strlen(entry->d_name), &id, &fresh);
		if (ok && fresh && is_ours(g, entry->d_name))
			unlinkat(g->dir, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* ---- pages ---- */

static CP_ERROR write_style(struct cp_pages *g, struct cp_sink *sink, const void *what)
{
	(void)g, (void)what;
	cp_buf_str(&sink->buf, cp_asset_coverage_css);
	cp_buf_str(&sink->buf, cp_asset_syntax_css);
	return NULL;
}

static CP_ERROR write_script(struct cp_pages *g, struct cp_sink *sink, const void *what)
{
	(void)g, (void)what;
	cp_buf_str(&sink->buf, cp_asset_coverage_js);
	cp_buf_str(&sink->buf, cp_asset_syntax_js);
	cp_buf_str(&sink->buf, cp_asset_sort_js);
	return NULL;
}

struct page {
	const char *title;
	const char *kind; /* class of the body */
	cp_pages_body body;
	const void *what;
};

static CP_ERROR write_page(struct cp_pages *g, struct cp_sink *sink, const void *what)
{
	const struct page *page = what;
	struct cp_buf *out = &sink->buf;

	cp_buf_str(out,
		   "<!DOCTYPE html>\n<!-- " MARK " -->\n<html lang=\"en\"><head>"
		   "<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width\">\n"
		   "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	cp_pages_text(out, page->title, strlen(page->title));
	cp_buf_printf(out,
		      " – coverage</title>\n<link rel=\"stylesheet\" href=\"" STYLE "\">\n"
		      "<script src=\"" SCRIPT "\"></script>\n</head><body class=\"%s%s%s\">\n",
		      page->kind, g->c->counted ? " counted" : "",
		      g->c->test_count ? " tested" : "");
	CP_TRY(page->body(g, sink, page->what));
	cp_buf_str(out, "</body></html>\n");
	return NULL;
}

static CP_ERROR write_pages(struct cp_pages *g)
{
	const struct cp_coverage *c = g->c;
	struct page index = { *c->command ? c->command : "cprof", "index", cp_pages_index, NULL };
	size_t i;

	CP_TRY(check_ours(g, "index.html"));
	CP_TRY(write_file(g, STYLE, write_style, NULL));
	CP_TRY(write_file(g, SCRIPT, write_script, NULL));
	for (i = 0; i < c->files.count; i++) {
		struct page page = { c->files.items[i].name, "file", cp_pages_file,
				     &c->files.items[i] };

		CP_TRY(write_file(g, g->names[i], write_page, &page));
	}
	for (i = 0; i < c->binaries.count; i++) {
		struct page page = { c->binaries.items[i].name, "binary", cp_pages_binary,
				     &c->binaries.items[i] };

		CP_TRY(write_file(g, g->names[c->files.count + i], write_page, &page));
	}
	/* Last, so that all that it leads to is there. */
	return write_file(g, "index.html", write_page, &index);
}

CP_ERROR cp_coverage_html(const struct cp_coverage *c, const char *directory)
{
	struct cp_pages g = { .c = c, .directory = directory, .dir = -1 };
	struct cp_error *err;

	err = open_directory(&g);
	g.names = cp_pages_names(c);
	if (!err)
		err = g.names ? write_pages(&g) : cp_error_nomem();
	if (!err)
		remove_stale(&g);
	cp_pages_names_free(c, g.names);
	if (g.dir >= 0)
		close(g.dir);
	return err;
}
