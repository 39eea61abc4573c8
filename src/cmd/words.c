/* SPDX-License-Identifier: MIT */
#include "cmd/words.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "cmd/modules.h"
#include "cmd/objects.h"
#include "cmd/steering.h"
#include "image/find.h"
#include "probe/names.h"
#include "record/record.h"

const char *const cp_words_names[] = { "recordings", "profilers", "functions",
				       "types",	     "steering",  NULL };

/* A list of words, each once; what a line can't hold is left out. */
struct lines {
	struct cp_buf *out;
	struct cp_map seen;
};

static void add(struct lines *l, const char *text, size_t size)
{
	uint64_t hash = cp_hash_bytes(text, size);
	size_t i;

	for (i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return;
	if (!size || cp_map_get(&l->seen, hash) || !cp_map_put(&l->seen, hash, 1))
		return;
	cp_buf_add(l->out, text, size);
	cp_buf_u8(l->out, '\n');
}

/* ---- recordings ---- */

/* One, or a directory in which there may be some. */
static bool is_recording(int dir, const char *name)
{
	struct stat st;
	CP_CLOSE int fd = -1;

	if (fstatat(dir, name, &st, 0) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && cp_record_is(fd);
}

static void list_recordings(const char *prefix, struct lines *l)
{
	const char *base = cp_basename(prefix);
	CP_FREE char *directory = strndup(prefix, (size_t)(base - prefix));
	struct cp_buf path CP_CLEANUP(cp_buf_free) = { 0 };
	struct dirent **files;
	int i, count, dir;

	if (!directory)
		return;
	dir = open(*directory ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	count = dir < 0 ? -1 : scandir(*directory ? directory : ".", &files, NULL, alphasort);
	for (i = 0; i < count; i++) {
		const char *name = files[i]->d_name;

		cp_buf_clear(&path);
		cp_buf_printf(&path, "%s%s", directory, name);
		if (cp_starts_with(name, base) && (name[0] != '.' || base[0] == '.') &&
		    is_recording(dir, name) && !path.failed)
			add(l, path.bytes, path.size);
		free(files[i]);
	}
	if (count >= 0)
		free(files);
	if (dir >= 0)
		close(dir);
}

/* ---- what is in a program ---- */

static bool only_program(void *ctx, const char *path, const char *started_as, bool program)
{
	(void)ctx;
	(void)path;
	(void)started_as;
	return program;
}

static CP_ERROR open_objects(const char *operand, struct cp_objects *ret)
{
	const struct cp_image_options options = { 0 };
	uint64_t pid;

	if (cp_parse_u64(operand, INT32_MAX, &pid) && pid)
		return cp_objects_process((pid_t)pid, &options, only_program, NULL, ret);
	return cp_objects_file(operand, &options, ret);
}

/* Without parameters: a name stands for its overloads. */
static void add_function(const char *mangled, struct lines *l)
{
	CP_FREE char *name = cp_demangle(mangled);
	struct cp_name_parts parts;

	if (!name)
		return;
	cp_name_split(name, &parts);
	add(l, name + parts.start, parts.params - parts.start);
}

static CP_ERROR list_functions(struct cp_image *image, struct lines *l)
{
	const struct cp_symbol *symbols;
	size_t count, i;

	CP_TRY(cp_image_symbols(image, &symbols, &count));
	for (i = 0; i < count; i++)
		if (symbols[i].kind == CP_SYMBOL_FUNCTION)
			add_function(symbols[i].name, l);
	return NULL;
}

static void add_type(void *ctx, const char *name)
{
	add(ctx, name, strlen(name));
}

CP_ERROR cp_words_list(enum cp_words kind, const char *operand, struct cp_buf *out)
{
	struct lines l = { .out = out };
	struct cp_objects objects = { 0 };
	const struct cp_steering_command *c;
	struct cp_error *err = NULL;

	switch (kind) {
	case CP_WORDS_RECORDINGS:
		list_recordings(operand ? operand : "", &l);
		break;
	case CP_WORDS_PROFILERS:
		cp_modules_names(out);
		break;
	case CP_WORDS_FUNCTIONS:
	case CP_WORDS_TYPES:
		if (!operand || !*operand)
			break; /* nothing to look into yet */
		err = open_objects(operand, &objects);
		if (!err && kind == CP_WORDS_TYPES)
			cp_image_type_names(objects.list.items[0].image, add_type, &l);
		else if (!err)
			err = list_functions(objects.list.items[0].image, &l);
		break;
	case CP_WORDS_STEERING:
		for (c = cp_steering_commands; c->name; c++)
			add(&l, c->name, strlen(c->name));
		break;
	}
	cp_objects_free(&objects);
	cp_map_free(&l.seen);
	return err;
}
