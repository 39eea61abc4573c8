/* SPDX-License-Identifier: MIT
 *
 *   locations ──► functions ──► code: bytes, the frames of each instruction, names
 *       │                                     │
 *       └──► files that were seen, then ◄─────┘ those of other lines of that code
 *
 * So what samples and calls lead to has its room first.
 */
#include "record/enclose.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"

struct cp_record_code_builder {
	const struct cp_record_enclose *what;
	struct cp_record_totals *totals;
	uint64_t key; /* of the image */
	struct cp_buf bytes;
	CP_VEC(struct cp_record_code_row) rows;
	CP_VEC(struct cp_record_code_name) names; /* names owned */
	struct cp_map known; /* addresses, with what is data apart */
	uint64_t start;
	bool no_memory;
};

static uint64_t value_of(const struct cp_record_encoder *e, unsigned table, uint64_t number,
			 unsigned column)
{
	return e->tables[table].values.items[number * cp_record_schemas[table].width + column];
}

/* ---- code ---- */

/* The frames of an address, as the resolver names it. */
static void add_row(struct cp_record_code_builder *b, uint64_t address)
{
	struct cp_record_names names = { 0 };
	struct cp_record_code_row row = { .offset = address - b->start };
	const struct cp_record_resolver *resolver = b->what->resolver;

	resolver->resolve(resolver->ctx, b->key, address, &names);
	row.frame =
		cp_record_encode_frames(b->what->encoder, names.frames.items, names.frames.count);
	b->no_memory |= names.no_memory;
	cp_record_names_free(&names);
	if (b->rows.count ? b->rows.items[b->rows.count - 1].frame != row.frame : row.frame)
		b->no_memory |= !cp_vec_push(&b->rows, row);
}

void cp_record_code_instruction(struct cp_record_code_builder *b, uint64_t address,
				const uint8_t *bytes, size_t size)
{
	if (!b->bytes.size)
		b->start = address;
	add_row(b, address);
	cp_buf_add(&b->bytes, bytes, size);
}

void cp_record_code_refers(struct cp_record_code_builder *b, uint64_t address, bool data,
			   const char *name, uint64_t offset)
{
	struct cp_record_code_name it = { address, data, NULL, offset };
	uint64_t key = address << 1 | data;

	if (!name || cp_map_get(&b->known, key))
		return;
	it.name = strdup(name);
	if (!it.name || !cp_map_put(&b->known, key, 1) || !cp_vec_push(&b->names, it)) {
		free((void *)(uintptr_t)it.name);
		b->no_memory = true;
	}
}

static void builder_free(struct cp_record_code_builder *b)
{
	const struct cp_record_code_name *name;

	cp_vec_for_each(&b->names, name)
		free((void *)(uintptr_t)name->name);
	cp_vec_free(&b->names);
	cp_vec_free(&b->rows);
	cp_map_free(&b->known);
	cp_buf_free(&b->bytes);
}

/* The code at `start` of an image. */
static void enclose_code(const struct cp_record_enclose *what, struct cp_record_totals *totals,
			 uint32_t image, uint64_t start)
{
	struct cp_record_code_builder b = { .what = what,
					    .totals = totals,
					    .key = what->image_keys[image] };
	uint64_t left = CP_ENCLOSED_CODES_MAX - totals->code_bytes;
	uint64_t most = left < CP_ENCLOSED_CODE_MAX ? left : CP_ENCLOSED_CODE_MAX;
	uint64_t size = what->resolver->code(what->resolver->ctx, b.key, start, most, &b);
	struct cp_record_code code = { .image = image,
				       .start = b.start,
				       .bytes = b.bytes.bytes ? (const uint8_t *)b.bytes.bytes
							      : NULL,
				       .size = b.bytes.size,
				       .names = b.names.items,
				       .name_count = b.names.count };

	if (cp_record_encode_ok(what->encoder, !b.no_memory && !b.bytes.failed) && b.bytes.size) {
		cp_record_encode_code(what->encoder, &code, b.rows.items, b.rows.count);
		totals->codes++;
		totals->code_bytes += b.bytes.size;
	} else if (size > most) {
		totals->codes_left_out++;
	}
	builder_free(&b);
}

static void enclose_codes(const struct cp_record_enclose *what, struct cp_record_totals *totals)
{
	struct cp_record_encoder *e = what->encoder;
	size_t count = e->tables[CP_RECORD_LOCATIONS].written.count, i;
	struct cp_interner seen = { 0 };
	uint64_t key[2];
	uint32_t number;
	bool fresh;

	for (i = 0; i < count && !cp_record_sink_failed(e->sink); i++) {
		uint64_t image = value_of(e, CP_RECORD_LOCATIONS, i, CP_LOCATION_IMAGE);
		uint64_t start = value_of(e, CP_RECORD_LOCATIONS, i, CP_LOCATION_START);

		if (!image || !start || image > what->image_count)
			continue;
		key[0] = image - 1;
		key[1] = value_of(e, CP_RECORD_LOCATIONS, i, CP_LOCATION_ADDRESS) - (start - 1);
		if (cp_record_encode_ok(e, cp_intern(&seen, key, sizeof(key), &number, &fresh)) &&
		    fresh)
			enclose_code(what, totals, (uint32_t)key[0], key[1]);
	}
	cp_interner_free(&seen);
}

/* ---- sources ---- */

/* NULL: it can't be read, or (*large_ret) is too large. The caller's. */
static char *read_source(const char *path, uint64_t most, struct cp_record_source *ret,
			 bool *large_ret)
{
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text;

	*large_ret = false;
	if (*path != '/' || fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0)
		return NULL;
	*large_ret = (uint64_t)st.st_size > most;
	text = *large_ret ? NULL : malloc((size_t)st.st_size + 1);
	if (!text)
		return NULL;
	ret->path = path;
	ret->size = cp_pread(fd, text, (size_t)st.st_size, 0);
	ret->text = text;
	ret->written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return text;
}

static void enclose_source(const struct cp_record_enclose *what, struct cp_record_totals *totals,
			   const char *path)
{
	uint64_t left = CP_ENCLOSED_SOURCES_MAX - totals->source_bytes;
	struct cp_record_source s = { 0 };
	bool large;
	CP_FREE char *text =
		read_source(path, left < CP_ENCLOSED_SOURCE_MAX ? left : CP_ENCLOSED_SOURCE_MAX, &s,
			    &large);

	totals->sources_left_out += large;
	if (!text)
		return;
	cp_record_encode_source(what->encoder, &s);
	totals->sources++;
	totals->source_bytes += s.size;
}

/* Of a frame and those that it is inlined into; `seen` are references to strings. */
static void add_files(struct cp_record_encoder *e, uint64_t frame, struct cp_map *frames,
		      struct cp_map *files)
{
	for (; frame; frame = value_of(e, CP_RECORD_FRAMES, frame - 1, CP_FRAME_OUTER)) {
		uint64_t function = value_of(e, CP_RECORD_FRAMES, frame - 1, CP_FRAME_FUNCTION);
		uint64_t file = value_of(e, CP_RECORD_FUNCTIONS, function - 1, CP_FUNCTION_FILE);

		if (cp_map_get(frames, frame))
			return;
		cp_record_encode_ok(e, cp_map_put(frames, frame, 1) &&
					       (!file || cp_map_get(files, file) ||
						cp_map_put(files, file, 0)));
	}
}

/* Those of `files` that are not there yet; in the order of strings, which is that in which
 * they were met. */
static void enclose_files(const struct cp_record_enclose *what, struct cp_record_totals *totals,
			  struct cp_map *files)
{
	struct cp_record_encoder *e = what->encoder;
	uint64_t count = e->tables[CP_RECORD_STRINGS].written.count, i, *state;

	for (i = 1; i <= count && !cp_record_sink_failed(e->sink); i++) {
		state = cp_map_get(files, i);
		if (!state || *state)
			continue;
		*state = 1;
		enclose_source(what, totals, e->strings.items[i - 1].bytes);
	}
}

static void enclose_sources(const struct cp_record_enclose *what, struct cp_record_totals *totals)
{
	struct cp_record_encoder *e = what->encoder;
	struct cp_map frames = { 0 }, files = { 0 };
	size_t i;

	for (i = 0; i < e->tables[CP_RECORD_LOCATIONS].written.count; i++)
		add_files(e, value_of(e, CP_RECORD_LOCATIONS, i, CP_LOCATION_FRAME), &frames,
			  &files);
	enclose_files(what, totals, &files);
	for (i = 0; i < e->tables[CP_RECORD_FRAMES].written.count; i++)
		add_files(e, i + 1, &frames, &files);
	enclose_files(what, totals, &files);
	cp_map_free(&frames);
	cp_map_free(&files);
}

void cp_record_enclose(const struct cp_record_enclose *what, struct cp_record_totals *totals)
{
	if (what->holds & CP_RECORD_HAS_CODE && what->resolver->code)
		enclose_codes(what, totals);
	if (what->holds & CP_RECORD_HAS_SOURCE)
		enclose_sources(what, totals);
}
