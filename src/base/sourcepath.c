/* SPDX-License-Identifier: MIT */
#include "base/sourcepath.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

/* Behind `dir` in `path`, when it is that directory or lies below. */
static const char *below(const char *path, const char *dir, size_t size)
{
	while (size > 1 && dir[size - 1] == '/')
		size--;
	if (!size || strncmp(path, dir, size) != 0)
		return NULL;
	path += size;
	return *path == '/' || !*path || dir[size - 1] == '/' ? path : NULL;
}

const char *cp_path_map_broken(const char *const *path_map)
{
	for (; path_map && *path_map; path_map++)
		if (**path_map == '=' || !strchr(*path_map, '='))
			return *path_map;
	return NULL;
}

/* The entry of the map with the longest OLD; *rest_ret is what follows it. */
static const char *find_new(const char *const *map, const char *path, const char **rest_ret)
{
	const char *best = NULL, *equals, *rest;
	size_t longest = 0, size;

	for (; map && *map; map++) {
		equals = strchr(*map, '=');
		size = equals ? (size_t)(equals - *map) : 0;
		rest = below(path, *map, size);
		if (!rest || size <= longest)
			continue;
		longest = size;
		best = equals + 1;
		*rest_ret = rest;
	}
	return best;
}

/* Made absolute and shortened. */
static char *settle(const char *root, const char *path, const char *rest)
{
	struct cp_buf whole = { 0 }, out = { 0 };

	if (*path != '/') {
		cp_buf_str(&whole, root);
		cp_buf_u8(&whole, '/');
	}
	cp_buf_str(&whole, path);
	cp_buf_u8(&whole, '/');
	cp_buf_str(&whole, rest);
	if (!whole.failed)
		cp_path_shorten(&out, whole.bytes);
	cp_buf_free(&whole);
	if (out.failed)
		cp_buf_free(&out);
	return out.bytes;
}

char *cp_source_path(const struct cp_source_paths *paths, const char *recorded)
{
	CP_FREE char *absolute = settle(paths->root, recorded, "");
	const char *rest = "", *found;
	char *path, *real;

	if (!absolute)
		return NULL;
	found = find_new(paths->path_map, recorded, &rest);
	if (!found)
		found = find_new(paths->path_map, absolute, &rest);
	path = found ? settle(paths->root, found, rest) : cp_steal(absolute);
	/* Compilers keep the working directory as the shell names it, through
	 * links; and ".." behind a link leads elsewhere. */
	if (!path || below(path, paths->root, strlen(paths->root)))
		return path;
	real = realpath(found ? path : recorded, NULL);
	if (real && below(real, paths->root, strlen(paths->root))) {
		free(path);
		return real;
	}
	free(real);
	return path;
}

const char *cp_source_name(const struct cp_source_paths *paths, const char *path)
{
	const char *rest = below(path, paths->root, strlen(paths->root));

	while (rest && *rest == '/')
		rest++;
	return rest && *rest ? rest : path;
}

static bool in_any(const char *path, const char *const *dirs)
{
	for (; *dirs; dirs++)
		if (below(path, *dirs, strlen(*dirs)))
			return true;
	return false;
}

/* Cargo's directory of a registry or of a repository: NAME-, and a hash. */
static bool has_hash(const char *name)
{
	size_t size = strcspn(name, "/");

	return size > 17 && name[size - 17] == '-' &&
	       strspn(name + size - 16, "0123456789abcdef") >= 16;
}

/* True for sources that cargo fetched, wherever its home is. */
static bool is_fetched(const char *path)
{
	static const char *const below[] = { "/registry/src/", "/git/checkouts/" };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(below) / sizeof(*below); i++)
		for (at = strstr(path, below[i]); at; at = strstr(at + 1, below[i]))
			if (has_hash(at + strlen(below[i])))
				return true;
	return false;
}

bool cp_path_is_rust_library(const char *path)
{
	return below(path, "/rustc", strlen("/rustc")) ||
	       below(path, "/rust/deps", strlen("/rust/deps")) ||
	       cp_starts_with(path, "/usr/src/rustc-") || cp_starts_with(path, "/opt/rust") ||
	       strstr(path, "/lib/rustlib/src/") || strstr(path, "/.rustup/");
}

/* True for Rust's own sources, and other people's crates. */
static bool is_rust(const char *path)
{
	return cp_path_is_rust_library(path) || strstr(path, "/.cargo/registry/") ||
	       is_fetched(path);
}

bool cp_path_is_system(const char *path)
{
	static const char *const system[] = { "/usr",	 "/lib", "/lib32", "/lib64",
					      "/libx32", "/bin", "/sbin",  NULL };
	static const char *const own[] = { "/usr/src", "/usr/local/src", NULL };

	return (in_any(path, system) && !in_any(path, own)) || is_rust(path);
}

bool cp_path_is_system_image(const char *path)
{
	return cp_path_is_system(path) && !below(path, "/usr/local", strlen("/usr/local"));
}

static bool matches(const char *glob, const char *text)
{
	size_t size = strlen(glob);

	if (size > 1 && glob[size - 1] == '/')
		return below(text, glob, size) != NULL;
	return !fnmatch(glob, text, 0);
}

static bool any_matches(const char *const *globs, bool *used, const char *const *forms)
{
	bool found = false;
	size_t i, f;

	for (i = 0; globs && globs[i]; i++) {
		for (f = 0; forms[f] && !matches(globs[i], forms[f]);)
			f++;
		if (!forms[f])
			continue;
		found = true;
		if (used)
			used[i] = true;
	}
	return found;
}

bool cp_source_wanted(const struct cp_source_paths *paths, const char *recorded)
{
	CP_FREE char *path = cp_source_path(paths, recorded);
	const char *forms[4] = { recorded, path };
	bool included, excluded;

	if (path)
		forms[2] = cp_source_name(paths, path);
	/* Both lists are asked, for the notes of what was matched. */
	included = any_matches(paths->include, paths->include_used, forms);
	excluded = any_matches(paths->exclude, paths->exclude_used, forms);
	if (excluded)
		return false;
	if (paths->include && *paths->include)
		return included;
	return !cp_path_is_system(path ? path : recorded);
}
