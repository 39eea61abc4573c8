/* SPDX-License-Identifier: MIT
 *
 * Symbols made into functions:
 *
 *     symbols at one address     one function and its aliases
 *     foo.isra.0, foo.part.1     functions of their own, called foo
 *     foo.cold                   no function: a range of foo
 *     label without a size       a function up to the next one, unless it is
 *                                inside one that has a size
 *     memcpy@plt                 a stub; or a slot that calls go through without
 *                                one, of which there is no code
 */
#include "probe/functions.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "probe/sequences.h"

/* Bytes that functions may have together, of so many bytes of code. */
#define MOST_BYTES(code) (16 * (code) + (64u << 20))
#define PADDING 16 /* less than this between functions is that */

/* ---- names ---- */

/* True when the `size` bytes at `word` are what compilers append to a name,
 * without the dot: "isra", "constprop", ... */
static bool is_clone_word(const char *word, size_t size)
{
	static const char *const words[] = { "isra", "constprop", "part",  "lto_priv",
					     "cold", "llvm",	  "clone", "localalias" };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(words); i++) {
		if (strlen(words[i]) == size && !strncmp(words[i], word, size))
			return true;
	}
	return false;
}

/* Length of `name` (of `size` bytes) without its last clone suffix, ".isra.0"
 * or ".cold"; `size` when it has none. */
static size_t without_suffix(const char *name, size_t size)
{
	size_t end = size, at;

	while (end) {
		for (at = end; at && name[at - 1] != '.'; at--)
			;
		if (at < 2)
			return size;
		if (is_clone_word(name + at, end - at))
			return at - 1;
		if (strspn(name + at, "0123456789") < end - at)
			return size;
		end = at - 1;
	}
	return size;
}

static size_t without_suffixes(const char *name)
{
	size_t size = strlen(name), less;

	while ((less = without_suffix(name, size)) < size)
		size = less;
	return size;
}

/* Length of the name of the function whose part `name` is; 0: it is none.
 * gcc: NAME.cold, older ones NAME.cold.N, clang also NAME.__part.N. */
static size_t owner_of_part(const char *name)
{
	size_t size = strlen(name), less = without_suffix(name, size);
	const char *part = strstr(name, ".__part.");

	if (less < size && !strncmp(name + less, ".cold", 5))
		return less;
	return part ? (size_t)(part - name) : 0;
}

char *cp_probe_name(const char *linkage_name)
{
	char *cut = strndup(linkage_name, without_suffixes(linkage_name)), *name;

	if (!cut)
		return NULL;
	name = cp_demangle(cut);
	free(cut);
	return name;
}

const char *cp_probe_function_name(struct cp_probe_function *function)
{
	if (!function->name)
		function->name = cp_probe_name(function->linkage_name);
	return function->name;
}

const char *cp_probe_alias_name(struct cp_probe_alias *alias)
{
	if (!alias->name)
		alias->name = cp_probe_name(alias->linkage_name);
	return alias->name;
}

/* ---- from symbols ---- */

struct reading {
	struct cp_image *image;
	struct cp_probe_functions *to;
	size_t capacity;
	uint64_t covered; /* end of the symbols with a size so far */
};

static bool add_function(struct reading *r, const struct cp_symbol *s)
{
	static const uint8_t kinds[] = {
		[CP_SYMBOL_FUNCTION] = CP_PROBE_FUNCTION, [CP_SYMBOL_PLT] = CP_PROBE_PLT,
		[CP_SYMBOL_IFUNC] = CP_PROBE_IFUNC,	  [CP_SYMBOL_UNWIND] = CP_PROBE_FUNCTION,
		[CP_SYMBOL_SLOT] = CP_PROBE_PLT,
	};
	struct cp_probe_functions *to = r->to;
	struct cp_probe_function *f;

	if (!cp_vec_grow((void **)&to->items, &r->capacity, to->count + 1, sizeof(*to->items)))
		return false;
	f = &to->items[to->count++];
	*f = (struct cp_probe_function){
		.linkage_name = s->name,
		.kind = kinds[s->kind],
		.address = s->start.v,
		.size = s->size,
		.range_count = 1,
		.first_alias = (uint32_t)to->aliases.count,
	};
	if (s->kind == CP_SYMBOL_UNWIND)
		f->flags |= CP_PROBE_UNNAMED;
	else if (strchr(s->name, '.') && s->name[without_suffixes(s->name)])
		f->flags |= CP_PROBE_CLONE;
	if (s->local)
		f->flags |= CP_PROBE_LOCAL;
	if (s->kind == CP_SYMBOL_SLOT)
		f->flags |= CP_PROBE_SLOT;
	return true;
}

static bool add_alias(struct reading *r, const struct cp_symbol *s)
{
	struct cp_probe_function *f = &r->to->items[r->to->count - 1];

	if (s->kind == CP_SYMBOL_IFUNC)
		f->kind = CP_PROBE_IFUNC;
	if (!s->local)
		f->flags &= (uint8_t)~CP_PROBE_LOCAL;
	if (!f->size)
		f->size = s->size;
	f->alias_count++;
	return cp_vec_push(&r->to->aliases, (struct cp_probe_alias){ s->name, NULL });
}

static bool add_part(struct reading *r, const struct cp_symbol *s)
{
	return cp_vec_push(&r->to->parts, (struct cp_probe_part){
						  { s->start.v, s->start.v + s->size },
						  s->kind == CP_SYMBOL_UNWIND ? NULL : s->name,
					  });
}

/* Adds the symbols of one address, the best name first, as a function. */
static bool add_group(struct reading *r, const struct cp_symbol *s, size_t count)
{
	uint64_t size = 0;
	bool added = false;
	size_t i;

	for (i = 0; i < count; i++)
		size = s[i].size > size ? s[i].size : size;
	/* The way to the dynamic linker is no function, nor is a label in one. */
	if ((s[0].kind == CP_SYMBOL_PLT && s[0].part) || (!size && s[0].start.v < r->covered))
		return true;
	if (size && s[0].kind != CP_SYMBOL_SLOT && s[0].start.v + size > r->covered)
		r->covered = s[0].start.v + size;
	for (i = 0; i < count; i++) {
		if (size && (s[i].part || (strchr(s[i].name, '.') && owner_of_part(s[i].name)))) {
			if (!i)
				return add_part(r, &s[i]);
			continue;
		}
		if (!(added ? add_alias(r, &s[i]) : add_function(r, &s[i])))
			return false;
		added = true;
	}
	return true;
}

/* A symbol without a size reaches up to the next function, or to the end of its
 * section; so does one that is known by its frame alone. */
static void set_range(const struct reading *r, struct cp_probe_function *f, uint64_t next)
{
	struct cp_vaddr end;

	if (!f->size && cp_image_code(r->image, (struct cp_vaddr){ f->address }, &end))
		f->size = (next < end.v ? next : end.v) - f->address;
	else if ((f->flags & CP_PROBE_UNNAMED) && f->size > next - f->address)
		f->size = next - f->address;
	f->ranges[0] = (struct cp_probe_range){ f->address, f->address + f->size };
}

/* Sets the ranges of all functions, without the padding before one, where assembly
 * sources let its frame begin. */
static void set_ranges(struct reading *r)
{
	struct cp_probe_functions *to = r->to;
	struct cp_probe_function *f;
	uint64_t first = to->count ? to->items[0].address : 0, next, before;
	uint64_t left = MOST_BYTES(r->covered > first ? r->covered - first : 0);
	size_t i, kept = 0;

	for (i = 0; i < to->count; i++) {
		f = &to->items[i];
		next = i + 1 < to->count ? to->items[i + 1].address : UINT64_MAX;
		before = f->size;
		if (before > left) /* a file that says that everything is in everything */
			f->size = 0;
		set_range(r, f, next);
		left -= f->size < left ? f->size : left;
		if (f->size < before && f->size < PADDING)
			continue;
		to->items[kept++] = *f;
	}
	to->count = kept;
}

/* ---- parts ---- */

static uint64_t hash_name(const char *name, size_t size)
{
	return cp_hash_bytes(name, size);
}

/* Notes that a function has one of the names in `owners`. */
static void note_owner(struct cp_map *owners, const char *name, size_t function)
{
	uint64_t *value = cp_map_get(owners, hash_name(name, strlen(name)));

	if (!value)
		return;
	/* Two functions of one name (static ones of two files): neither is known to
	 * be it. */
	*value = *value == UINT64_MAX || *value == function ? function : UINT64_MAX - 1;
}

static void look_for_owners(const struct cp_probe_functions *to, struct cp_map *owners)
{
	const struct cp_probe_function *f;
	size_t i, k;

	for (i = 0; i < to->count; i++) {
		f = &to->items[i];
		note_owner(owners, f->linkage_name, i);
		for (k = 0; k < f->alias_count; k++)
			note_owner(owners, to->aliases.items[f->first_alias + k].linkage_name, i);
	}
}

static bool give(struct cp_probe_functions *to, const struct cp_map *owners,
		 const struct cp_probe_part *part)
{
	uint64_t *owner = part->linkage_name
				  ? cp_map_get(owners, hash_name(part->linkage_name,
								 owner_of_part(part->linkage_name)))
				  : NULL;
	struct cp_probe_function *f;

	if (!owner || *owner >= to->count)
		return false;
	f = &to->items[*owner];
	if (f->range_count == CP_PROBE_RANGES)
		return false;
	f->ranges[f->range_count++] = part->range;
	return true;
}

/* Gives each part to the function of its name, where there is one of it. */
static bool give_parts(struct cp_probe_functions *to)
{
	struct cp_map owners = { 0 }; /* hash of a name -> number of the function */
	const struct cp_probe_part *part;
	size_t i, kept = 0;
	bool ok = true;

	cp_vec_for_each(&to->parts, part) {
		if (part->linkage_name)
			ok = ok && cp_map_put(&owners,
					      hash_name(part->linkage_name,
							owner_of_part(part->linkage_name)),
					      UINT64_MAX);
	}
	if (ok && owners.count)
		look_for_owners(to, &owners);
	for (i = 0; ok && i < to->parts.count; i++) {
		if (!give(to, &owners, &to->parts.items[i]))
			to->parts.items[kept++] = to->parts.items[i];
	}
	if (ok)
		to->parts.count = kept;
	cp_map_free(&owners);
	return ok;
}

/* ---- the door ---- */

static bool read_all(struct reading *r, const struct cp_symbol *symbols, size_t count)
{
	size_t i, n;

	for (i = 0; i < count; i += n) {
		for (n = 1; i + n < count && symbols[i + n].start.v == symbols[i].start.v; n++)
			;
		if (!add_group(r, &symbols[i], n))
			return false;
	}
	set_ranges(r);
	return give_parts(r->to);
}

CP_ERROR cp_probe_functions_read(struct cp_image *image, struct cp_probe_functions *ret)
{
	struct cp_probe_functions functions = { 0 };
	struct reading r = { .image = image, .to = &functions };
	const struct cp_symbol *symbols;
	size_t count;

	CP_TRY(cp_image_symbols(image, &symbols, &count));
	if (!read_all(&r, symbols, count) || !cp_probe_sequences_read(image, &functions)) {
		cp_probe_functions_free(&functions);
		return cp_error_nomem();
	}
	*ret = functions;
	return NULL;
}

struct cp_probe_function *cp_probe_functions_find(const struct cp_probe_functions *functions,
						  uint64_t address)
{
	size_t low = 0, high = functions->count, mid, steps;
	struct cp_probe_function *f;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (functions->items[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Functions may be inside others, but not many deep. */
	for (steps = 0; low-- && steps < 64; steps++) {
		f = &functions->items[low];
		if (address - f->address < f->size)
			return f;
	}
	return NULL;
}

void cp_probe_functions_free(struct cp_probe_functions *functions)
{
	size_t i;

	for (i = 0; i < functions->count; i++)
		free(functions->items[i].name);
	for (i = 0; i < functions->aliases.count; i++)
		free(functions->aliases.items[i].name);
	free(functions->items);
	cp_vec_free(&functions->aliases);
	cp_vec_free(&functions->parts);
	cp_vec_free(&functions->calls);
	cp_vec_free(&functions->sequences);
	free(functions->pads);
	*functions = (struct cp_probe_functions){ 0 };
}

uint64_t cp_probe_functions_hash(const struct cp_probe_functions *functions)
{
	uint64_t hash =
		cp_hash_bytes(functions->pads, functions->pad_count * sizeof(*functions->pads));
	const struct cp_probe_function *f;

	hash ^= cp_hash_bytes(functions->sequences.items,
			      functions->sequences.count * sizeof(*functions->sequences.items));
	for (f = functions->items; f < functions->items + functions->count; f++) {
		const uint64_t words[] = { hash, f->address, f->size,
					   (uint64_t)f->kind << 32 | f->flags };

		hash = cp_hash_bytes(words, sizeof(words)) ^
		       cp_hash_bytes(f->ranges, f->range_count * sizeof(*f->ranges));
	}
	return hash;
}

/* ---- a file's bytes ---- */

static size_t read_file(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	return cp_image_read(ctx, (struct cp_vaddr){ addr }, buffer, size);
}

struct cp_reader cp_probe_file_reader(struct cp_image *image)
{
	return (struct cp_reader){ read_file, image };
}
