/* SPDX-License-Identifier: MIT
 *
 * C, C++ and Rust in colors: a line at a time, with what the lines before it left open.
 */
"use strict";
window.cprofSyntax = (function () {
const words = text => new Set(text.split(" "));
const C_WORDS = words("alignas alignof and asm auto break case catch class concept const consteval " +
	"constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do " +
	"dynamic_cast else enum explicit export extern false final for friend goto if inline mutable " +
	"namespace new noexcept not nullptr operator or override private protected public register " +
	"reinterpret_cast requires restrict return sizeof static static_assert static_cast struct switch " +
	"template this thread_local throw true try typedef typeid typename union using virtual volatile " +
	"while NULL _Atomic _Bool _Generic _Noreturn _Static_assert _Thread_local __attribute__ __inline");
const C_TYPES = words("bool char double float int long short signed unsigned void size_t ssize_t " +
	"wchar_t char8_t char16_t char32_t FILE");
const RUST_WORDS = words("as async await break const continue crate dyn else enum extern false fn for " +
	"if impl in let loop match mod move mut pub ref return self Self static struct super trait true " +
	"type union unsafe use where while");
const RUST_TYPES = words("bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize " +
	"Box Option Result String Vec Some None Ok Err");
const TOKEN = /\/\/.*|\/\*|(?:u8|[uUL])?R"[^\s()\\]{0,16}\(|b?r#*"|(?:u8|[uULb])?"(?:[^"\\]|\\.)*"?|b?'(?:[^'\\]|\\[^x u{]|\\x..|\\u\{[^}]*\}|\\.)+'|'[A-Za-z_]\w*|(?:0[xX][\da-fA-F'_]+|0[bB][01'_]+|\d[\d'_]*(?:\.\d[\d'_]*)?(?:[eE][+-]?\d+)?)[A-Za-z_\d]*|[A-Za-z_]\w*/g;

/* Of a line: [kind, text] each, kind "" of what is nothing of these. `state.open` is what
 * ends what is open: "*" + "/" of a comment, else of a string. */
function lex(line, rust, state) {
	const out = [];
	let at = 0, m;
	const put = (kind, to) => { if (to > at) out.push([kind, line.slice(at, to)]); at = Math.max(at, to); };
	const close = kind => {
		const end = line.indexOf(state.open, at);
		put(kind, end < 0 ? line.length : end + state.open.length);
		if (end >= 0) state.open = "";
	};
	if (state.open) close(state.open === "*/" ? "comment" : "string");
	const directive = !rust && !at && line.match(/^\s*#\s*(\w+)(\s*[<"][^>"]*[>"])?/);
	if (directive) {
		put("word", directive[0].length - (directive[2] || "").length);
		if (directive[2]) put("string", directive[0].length);
	}
	while (!state.open) {
		TOKEN.lastIndex = at;
		m = TOKEN.exec(line);
		if (!m) break;
		const t = m[0], end = m.index + t.length;
		put("", m.index);
		if (t.startsWith("//")) put("comment", end);
		else if (t === "/*") {
			state.open = "*/";
			const stop = line.indexOf("*/", end);
			put("comment", stop < 0 ? line.length : stop + 2);
			if (stop >= 0) state.open = "";
		} else if (/R"[^"]*\($/.test(t) && !rust) {
			state.open = ")" + t.slice(t.indexOf('"') + 1, -1) + '"';
			put("string", end);
			close("string");
		} else if (/^b?r#*"$/.test(t) && rust) {
			state.open = '"' + "#".repeat(t.split("#").length - 1);
			put("string", end);
			close("string");
		} else if (/^(?:u8|[uULb])?"/.test(t)) put("string", end);
		else if (t.endsWith("'") && t.length > 2) put("string", end);
		else if (t.startsWith("'")) put(rust ? "type" : "", end);
		else if (/^\d/.test(t)) put("number", end);
		else if ((rust ? RUST_WORDS : C_WORDS).has(t)) put("word", end);
		else if ((rust ? RUST_TYPES : C_TYPES).has(t) || (!rust && /_t$/.test(t))) put("type", end);
		else put("", end);
	}
	put("", line.length);
	return out;
}

/* A function that gives a line's nodes, for the lines of a file in their order. */
function colored(file) {
	const rust = /\.rs$/.test(file), state = { open: "" };
	const known = /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|ipp|tcc|def|m|rs)$|^[^.]*$|\/include\//.test(file);
	const line = text => known ? lex(text, rust, state).map(([kind, piece]) => {
		if (!kind) return document.createTextNode(piece);
		const span = document.createElement("span");
		span.className = "sy-" + kind;
		span.textContent = piece;
		return span;
	}) : [document.createTextNode(text)];
	line.forget = () => { state.open = ""; };
	return line;
}
return { lex, colored };
})();
