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
/* Comments, strings (raw ones: their beginning), characters, numbers, names. */
const CHARACTER = "'(?:[^'\\\\]|\\\\(?:x[\\da-fA-F]+|u\\{?[\\da-fA-F]+\\}?|[0-7]{1,3}|.)){1,4}'";
const REST = "|(?:0[xX][\\da-fA-F'_]+|0[bB][01'_]+|\\d[\\d'_]*(?:\\.\\d[\\d'_]*)?(?:[eE][+-]?\\d+)?)\\w*|[A-Za-z_]\\w*";
const C_TOKEN = new RegExp("\\/\\/.*|\\/\\*|(?:u8|[uUL])?R\"[^\\s()\\\\]{0,16}\\(|" +
	"(?:u8|[uUL])?\"(?:[^\"\\\\]|\\\\.)*\"?|(?:u8|[uUL])?" + CHARACTER + REST, "g");
const RUST_TOKEN = new RegExp("\\/\\/.*|\\/\\*|b?r#*\"|b?\"(?:[^\"\\\\]|\\\\.)*\"?|b?" +
	CHARACTER.replace("{1,4}", "") + "|'[A-Za-z_]\\w*" + REST, "g");

/* Of a line: [kind, text] each, kind "" of what is nothing of these. `state.open` is what
 * ends what is open: "*" + "/" of a comment, else of a string. */
function lex(line, rust, state) {
	const out = [];
	const token = rust ? RUST_TOKEN : C_TOKEN;
	let at = 0, m;
	const put = (kind, to) => { if (to > at) out.push([kind, line.slice(at, to)]); at = Math.max(at, to); };
	const close = kind => {
		let end = at;
		if (state.open !== "*/") {
			end = line.indexOf(state.open, at);
			put(kind, end < 0 ? line.length : end + state.open.length);
			if (end >= 0) state.open = "";
			return;
		}
		for (const mark = /\/\*|\*\//g; state.depth;) { /* those of Rust are within each other */
			mark.lastIndex = end;
			const m = mark.exec(line);
			end = m ? m.index + 2 : line.length;
			if (!m) break;
			state.depth += m[0] === "*/" ? -1 : rust ? 1 : 0;
		}
		put(kind, end);
		if (!state.depth) state.open = "";
	};
	if (state.open) close(state.open === "*/" ? "comment" : "string");
	const directive = !rust && !at && line.match(/^\s*#\s*(\w+)(\s*[<"][^>"]*[>"])?/);
	if (directive) {
		put("word", directive[0].length - (directive[2] || "").length);
		if (directive[2]) put("string", directive[0].length);
	}
	while (!state.open) {
		token.lastIndex = at;
		m = token.exec(line);
		if (!m) break;
		const t = m[0], end = m.index + t.length;
		put("", m.index);
		if (t.startsWith("//")) put("comment", end);
		else if (t === "/*") {
			state.open = "*/";
			state.depth = 1;
			put("comment", end);
			close("comment");
		} else if (/R"[^"]*\($/.test(t)) {
			state.open = ")" + t.slice(t.indexOf('"') + 1, -1) + '"';
			put("string", end);
			close("string");
		} else if (rust && /^b?r#*"$/.test(t)) {
			state.open = '"' + "#".repeat(t.split("#").length - 1);
			put("string", end);
			close("string");
		} else if (/^(?:u8|[uULb])?"/.test(t)) put("string", end);
		else if (t.endsWith("'") && t.length > 2) put("string", end);
		else if (t.startsWith("'")) put("type", end); /* a lifetime */
		else if (/^\d/.test(t)) put("number", end);
		else if ((rust ? RUST_WORDS : C_WORDS).has(t)) put("word", end);
		else if ((rust ? RUST_TYPES : C_TYPES).has(t) || (!rust && /_t$/.test(t))) put("type", end);
		else put("", end);
	}
	put("", line.length);
	/* What follows each other in one color is one piece. */
	return out.reduce((all, [kind, text]) => {
		if (all.length && all[all.length - 1][0] === kind && kind !== "word") all[all.length - 1][1] += text;
		else all.push([kind, text]);
		return all;
	}, []);
}

/* A function that gives a line's nodes, for the lines of a file in their order. */
function colored(file) {
	const rust = /\.rs$/.test(file), state = { open: "", depth: 0 };
	const known = /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|ipp|tcc|def|m|rs)$|^[^.]*$|\/include\//.test(file);
	const line = text => known ? lex(text, rust, state).map(([kind, piece]) => {
		if (!kind) return document.createTextNode(piece);
		const span = document.createElement("span");
		span.className = "sy-" + kind;
		span.textContent = piece;
		return span;
	}) : [document.createTextNode(text)];
	line.known = known;
	line.rust = rust;
	line.begin = at => { Object.assign(state, at); };
	line.forget = () => line.begin({ open: "", depth: 0 });
	return line;
}
return { lex, colored };
})();
