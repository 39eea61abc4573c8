/* SPDX-License-Identifier: MIT
 *
 * Text for who can read no more than ASCII.
 */
#include "base/ascii.h"

#include <string.h>

#include "base/text.h"
#include "base/types.h"

static const struct {
	char sign[4];
	char ascii[4];
} signs[] = {
	{ "µ", "u" },  { "·", "-" },  { "…", "~" },  { "–", "-" },  { "×", "x" }, { "→", "->" },
	{ "⇒", "=>" }, { "✗", "x" },  { "✓", "+" },  { "‖", "||" }, { "↯", "!" }, { "▶", ">" },
	{ "◀", "<" },  { "►", ">" },  { "◄", "<" },  { "●", "*" },  { "∿", "~" }, { "⇄", "<>" },
	{ "⇉", "=>" }, { "⇇", "<=" }, { "≤", "<=" }, { "≥", ">=" }, { "─", "-" }, { "│", "|" },
	{ "└", "`" },  { "├", "|" },  { "█", "#" },  { "▉", "#" },  { "▊", "#" }, { "▋", "#" },
	{ "▌", "=" },  { "▍", "-" },  { "▎", "-" },  { "▏", "." },
};

/* The length of the UTF-8 sequence at `text`, and what it stands for; 0: none. */
static size_t sequence(const char *text, size_t size, unsigned *ret)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = *at >= 0xf0 && *at < 0xf8 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0, i;

	if (!length || *at >= 0xf8 || length > size)
		return 0;
	*ret = *at & (0xffu >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*ret = *ret << 6 | (at[i] & 0x3f);
	}
	return length;
}

static void add_sign(struct cp_buf *out, const char *text, size_t length, unsigned code)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(signs); i++) {
		if (strlen(signs[i].sign) == length && !memcmp(signs[i].sign, text, length)) {
			cp_buf_str(out, signs[i].ascii);
			return;
		}
	}
	cp_buf_printf(out, "\\u{%x}", code);
}

void cp_text_to_ascii(struct cp_buf *out, const char *text, size_t size)
{
	const char *end = text + size;
	unsigned code = 0;
	size_t length;

	for (; text < end; text += length) {
		length = 1;
		if (!(*text & 0x80)) {
			cp_buf_u8(out, (uint8_t)*text);
			continue;
		}
		length = sequence(text, (size_t)(end - text), &code);
		if (length)
			add_sign(out, text, length, code);
		else
			cp_buf_printf(out, "\\x%02x", (unsigned char)*text);
		length += !length;
	}
}
