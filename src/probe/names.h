/* SPDX-License-Identifier: MIT
 *
 * Demangled names taken apart, and patterns over them.
 *
 *     std::vector<int>::const_iterator ns::Foo<T>::bar<int>(int, char) const
 *                                      └─ start   └─ plain └─ params  └─ end
 */
#ifndef CP_PROBE_NAMES_H
#define CP_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Offsets into a demangled name. */
struct cp_name_parts {
	size_t start; /* after the result type that templates have */
	size_t scope; /* end of what it is in, before "::"; `start`: in nothing */
	size_t plain; /* end without template arguments of the last component */
	size_t params; /* the opening parenthesis; or the end */
	size_t end; /* after the closing parenthesis */
	size_t size; /* all of it */
};
void cp_name_split(const char *name, struct cp_name_parts *ret);

/* Length of an operator's name at the end of `text` after the word "operator"
 * (which ends at `at`), 0 when it is not a symbol: "<<", ",", "()", "[]". */
size_t cp_name_operator(const char *text, size_t size, size_t at);

/* Copies `size` bytes of `from` to `to` (as large) without the blanks that
 * mean nothing; answers how many were left. */
size_t cp_name_squeeze(char *to, const char *from, size_t size);

/* Copies without the tags of an ABI, "[abi:cxx11]". */
size_t cp_name_untag(char *to, const char *from, size_t size);

/* A pattern without blanks with texts as demanglers have them, std::basic_string<...> for
 * std::string, to be free()d; NULL without memory. */
char *cp_name_spell_texts(const char *pattern);

/* The longest word that every name has which a pattern matches and which has neither blanks nor
 * tags; to be free()d. Empty: there is none; NULL without memory. */
char *cp_name_word(const char *pattern);

/* `*` is any text, `?` any character, `[...]` one of a set, `\` takes what
 * follows literally. A `[` that closes nothing, or `[]`, is itself. */
bool cp_glob_match(const char *glob, const char *text, size_t size);

#endif
