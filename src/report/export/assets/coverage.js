/* SPDX-License-Identifier: MIT
 *
 * cprof coverage report: what its pages can do beyond being read. All of them
 * say the same without it.
 */
"use strict";
(function () {
const root = document.documentElement;

function remembered(key, value) {
	try { /* may be forbidden for files */
		if (value === undefined) return localStorage.getItem("cprof-" + key);
		localStorage.setItem("cprof-" + key, value);
	} catch (refused) { /* then it is forgotten */ }
	return null;
}

function make(name, properties, ...children) {
	const made = Object.assign(document.createElement(name), properties);
	made.append(...children);
	return made;
}

/* ---- light and dark ---- */

const theme = remembered("theme");
if (theme === "dark" || theme === "light") root.dataset.theme = theme;

function isDark() {
	return root.dataset.theme ? root.dataset.theme === "dark" :
		matchMedia("(prefers-color-scheme: dark)").matches;
}

function addSwitch() {
	const button = make("button", { type: "button" });
	const show = () => { button.textContent = isDark() ? "☀ Light" : "☾ Dark"; };
	button.addEventListener("click", () => {
		root.dataset.theme = isDark() ? "light" : "dark";
		remembered("theme", root.dataset.theme);
		show();
	});
	show();
	document.querySelector("header").append(button);
}

/* ---- keys ---- */

const keys = {};
document.addEventListener("keydown", event => {
	const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
	if (event.ctrlKey || event.metaKey || event.altKey || typing || !keys[event.key]) return;
	event.preventDefault();
	keys[event.key]();
});

/* ---- the table of files ---- */

function numbers(cell) { /* "66.7% 2/3" */
	const small = cell.querySelector("small");
	return small ? small.textContent.replace(/,/g, "").split("/").map(Number) : [0, 0];
}

function share(covered, of) {
	if (!of) return "–";
	const percent = 100 * covered / of;
	return Math.max(covered ? 0.1 : 0, covered < of ? Math.min(percent, 99.9) : percent).toFixed(1) + "%";
}

/* The row above those of a directory, with their sum. */
function groupRow(directory, rows) {
	const row = rows[0].cloneNode(true);
	row.className = "group";
	const button = make("button", { type: "button" }, directory || "(top)");
	button.setAttribute("aria-expanded", "true");
	button.addEventListener("click", () => {
		const open = button.getAttribute("aria-expanded") !== "true";
		button.setAttribute("aria-expanded", String(open));
		for (const one of rows) one.classList.toggle("folded", !open);
		document.dispatchEvent(new Event("narrowed"));
	});
	row.cells[0].replaceChildren(button, make("small", {}, rows.length + (rows.length === 1 ? " file" : " files")));
	row.cells[0].scope = "rowgroup";
	for (let k = 2; k < row.cells.length; k++) {
		const cell = row.cells[k];
		if (k === 3) {
			cell.textContent = rows.reduce((sum, one) =>
				sum + Number(one.cells[3].dataset.v), 0).toLocaleString("en-US");
			continue;
		}
		const [covered, of] = rows.map(one => numbers(one.cells[k])).reduce(
			(sum, one) => [sum[0] + one[0], sum[1] + one[1]], [0, 0]);
		cell.replaceChildren(share(covered, of) + " ");
		if (of) cell.append(make("small", {}, covered.toLocaleString("en-US") + "/" +
			of.toLocaleString("en-US")));
		if (k === 2) row.querySelector("rect").setAttribute("width", of ? 100 * covered / of + "%" : "0");
	}
	return row;
}

function fileTools(table) {
	const rows = () => [...table.querySelectorAll("tbody tr:not(.group)")];
	const directory = row => {
		const span = row.querySelector(".name span");
		return span ? span.textContent : "";
	};
	let ordered = rows(); /* as sorted last */
	const all = ordered, directories = new Set(all.map(directory));
	const search = make("input", { type: "search", placeholder: "Search files  /" });
	search.setAttribute("aria-label", "Search files");
	const hide = make("input", { type: "checkbox" }), group = make("input", { type: "checkbox" });
	const found = make("output");
	const tools = make("div", { className: "tools" }, search,
		make("label", {}, group, "by directory"), make("label", {}, hide, "hide what is covered"),
		found);

	function narrow() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		for (const row of all) {
			const name = row.cells[0].textContent.toLowerCase();
			const fits = words.every(word => name.includes(word)) &&
				!(hide.checked && row.cells[3].dataset.v === "0" &&
					!(Number(row.cells[4].dataset.v) >= 0 && Number(row.cells[4].dataset.v) < 1));
			shown += fits;
			row.hidden = !fits || row.classList.contains("folded") && !words.length;
			row.dataset.fits = fits ? "1" : "";
		}
		for (const row of table.querySelectorAll("tr.group"))
			row.hidden = ![...row.parentNode.rows].some(one => one.dataset.fits);
		document.dispatchEvent(new CustomEvent("shown", { detail: all.filter(row => row.dataset.fits) }));
		found.textContent = shown === all.length ? "" : shown + " of " + all.length;
	}

	function regroup() {
		for (const row of table.querySelectorAll("tr.group")) row.remove();
		const parts = new Map();
		for (const row of ordered) {
			const key = group.checked ? directory(row) : "";
			if (!parts.has(key)) parts.set(key, []);
			parts.get(key).push(row);
		}
		const bodies = [...parts].map(([key, part]) => {
			if (!group.checked) for (const row of part) row.classList.remove("folded");
			return make("tbody", {}, ...(group.checked ? [groupRow(key, part)] : []), ...part);
		});
		for (const row of ordered) row.classList.remove("folded");
		for (const body of [...table.tBodies]) body.remove();
		table.append(...bodies);
		table.classList.toggle("grouped", group.checked);
		narrow();
	}

	search.addEventListener("input", narrow);
	search.addEventListener("keydown", event => {
		if (event.key !== "Escape") return;
		search.value = "";
		search.blur();
		narrow();
	});
	hide.addEventListener("change", narrow);
	document.addEventListener("narrowed", narrow);
	group.addEventListener("change", () => {
		remembered("group", group.checked ? "1" : "0");
		regroup();
	});
	table.addEventListener("sorted", () => {
		ordered = rows();
		regroup();
	});
	keys["/"] = () => search.focus();
	table.parentNode.before(tools);
	if (directories.size < 2) group.parentNode.hidden = true;
	else group.checked = remembered("group") === null ? all.length > 60 : remembered("group") === "1";
	if (group.checked) regroup();
}

/* ---- the files as areas ---- */

/* Splits [from, to) of items in the room that is given, so that no part is much
 * longer than wide: halves by weight across the longer side, again and again. */
function divide(items, x, y, w, h, place) {
	if (items.length < 2) {
		if (items.length) place(items[0], x, y, w, h);
		return;
	}
	const all = items.reduce((sum, one) => sum + one.weight, 0);
	let part = items[0].weight, n = 1;
	while (n < items.length - 1 && part + items[n].weight / 2 < all / 2) part += items[n++].weight;
	const share = part / all, wide = w >= h;
	divide(items.slice(0, n), x, y, wide ? w * share : w, wide ? h : h * share, place);
	divide(items.slice(n), wide ? x + w * share : x, wide ? y : y + h * share,
		wide ? w * (1 - share) : w, wide ? h : h * (1 - share), place);
}

function addMap(table) {
	const rows = [...table.tBodies[0].rows], tiles = new Map();
	const items = rows.map(row => ({ row, lines: numbers(row.cells[2]) }))
		.map(item => ({ ...item, weight: item.lines[1] })).filter(item => item.weight)
		.sort((a, b) => b.weight - a.weight).slice(0, 400);
	if (items.length < 2) return;
	const map = make("div", { className: "map" });
	map.setAttribute("aria-hidden", "true"); /* the table says it all */
	const room = { w: 1000, h: 170 };
	room.w = Math.max(300, table.parentNode.clientWidth);
	divide(items, 0, 0, room.w, room.h, (item, x, y, w, h) => {
		const link = item.row.querySelector(".name a"), part = share(...item.lines);
		const name = link.textContent.slice(link.textContent.lastIndexOf("/") + 1);
		const tile = make("a", { href: link.getAttribute("href"), tabIndex: -1,
			title: link.textContent + "\n" + part + " of " + item.weight + " lines" });
		if (w > 40 && h > 18) tile.append(make("b", {}, name));
		if (w > 40 && h > 34) tile.append(part);
		if (h < 12 || w < 14) tile.style.padding = 0;
		tile.style.left = 100 * x / room.w + "%";
		tile.style.top = 100 * y / room.h + "%";
		tile.style.width = 100 * w / room.w + "%";
		tile.style.height = 100 * h / room.h + "%";
		const filled = 100 * item.lines[0] / item.weight + "%";
		tile.style.background = `linear-gradient(to top, var(--tile-ran) ${filled}, var(--tile) ${filled})`;
		tiles.set(item.row, tile);
		map.append(tile);
	});
	document.addEventListener("shown", event => {
		const fits = new Set(event.detail);
		for (const [row, tile] of tiles) tile.classList.toggle("off", !fits.has(row));
	});
	table.closest("section").before(map);
}

/* ---- the source ---- */

function lineOf(li) {
	return Number(li.id.slice(1));
}

/* Where runs of lines with one of the marks begin; lines without code between
 * two of them don't end one. */
function stopsOf(code, marks) {
	const stops = [];
	let last = false;
	for (const li of code.querySelectorAll("li[class]")) {
		const is = marks.find(mark => li.classList.contains(mark)) || false;
		if (!is && !/[cpxq]/.test(li.className)) continue;
		if (is && is !== last) stops.push(li);
		last = is;
	}
	return stops;
}

/* What a click on a count or a branch tells: its title, for those who can't hover. */
function addWords(code) {
	const words = make("div", { id: "words", hidden: true });
	words.setAttribute("role", "status");
	document.body.append(words);
	code.addEventListener("click", event => {
		const told = event.target.closest("[title]");
		words.hidden = !told;
		if (told) words.replaceChildren(make("strong", {}, "Line " + lineOf(told.closest("li"))),
			told.title);
	});
	keys.Escape = () => { words.hidden = true; };
}

/* The function that a line is in, by where functions begin. */
function functionAt(line) {
	let best = null;
	for (const link of document.querySelectorAll("#functions .name a")) {
		const at = Number(link.hash.slice(2));
		if (at <= line && (!best || at >= best.at)) best = { at, name: link.textContent };
	}
	return best ? best.name : "";
}

function sourceTools(code) {
	const known = {}, chips = document.querySelectorAll(".legend li");
	let marks = ["x", "p"], at = -1;
	const stops = () => known[marks] || (known[marks] = stopsOf(code, marks));
	const where = make("output"), box = make("div", { className: "moves" });

	function seen(li) {
		const box = li.getBoundingClientRect();
		return box.bottom > 0 && box.top < innerHeight;
	}
	/* Of the line to go on from. */
	function current() {
		const here = stops()[at];
		if (here && seen(here)) return lineOf(here);
		const box = code.getBoundingClientRect();
		if (box.top > innerHeight / 3) return 0;
		const li = document.elementFromPoint(box.left + 4, innerHeight / 3);
		return li && li.closest("#code li") ? lineOf(li.closest("#code li")) : 0;
	}
	function go(step) {
		const list = stops(), line = current();
		if (!list.length) return;
		at = step > 0 ? list.findIndex(li => lineOf(li) > line) :
			list.findLastIndex(li => lineOf(li) < line);
		if (at < 0) at = step > 0 ? 0 : list.length - 1;
		location.replace("#" + list[at].id);
		const inside = functionAt(lineOf(list[at]));
		where.textContent = (inside ? inside + " · " : "") + (at + 1) + " of " + list.length;
	}
	const button = (text, title, act) => {
		const made = make("button", { type: "button", title }, text);
		made.addEventListener("click", act);
		box.append(made);
		return made;
	};
	box.append(where);
	button("↑ p", "previous place that is not covered, or partly (p)", () => go(-1));
	button("↓ n", "next place that is not covered, or partly (n)", () => go(1));
	const wrap = button("wrap", "wrap long lines (w)", () => {
		const off = document.body.classList.toggle("nowrap");
		wrap.setAttribute("aria-pressed", String(!off));
	});
	wrap.setAttribute("aria-pressed", "true");
	keys.n = () => go(1);
	keys.p = () => go(-1);
	keys.w = () => wrap.click();
	document.querySelector("#tools").append(box);

	/* A mark of the legend chosen: n and p go through its lines. */
	for (const chip of chips) {
		const mark = chip.className, made = make("button", { type: "button", title: chip.title });
		made.append(...chip.childNodes);
		chip.append(made);
		chip.removeAttribute("title");
		made.setAttribute("aria-pressed", "false");
		made.addEventListener("click", () => {
			const on = made.getAttribute("aria-pressed") === "false";
			for (const other of document.querySelectorAll(".legend button"))
				other.setAttribute("aria-pressed", String(on && other === made));
			marks = on ? [mark] : ["x", "p"];
			at = -1;
			where.textContent = "";
			if (on) go(1);
		});
	}
	code.addEventListener("click", event => {
		const li = event.target.closest("li");
		if (!li || event.target !== li) return;
		const number = parseFloat(getComputedStyle(li, "::before").width);
		if (event.clientX - li.getBoundingClientRect().left < number) location.hash = li.id;
	});
}

/* Colors, a list of lines at a time, when it comes near; what is open at its beginning (a
 * comment) is told by the lines before, which are read without coloring them. */
function addColors(code) {
	const file = document.querySelector("h1").textContent, lists = [...code.querySelectorAll(".k")];
	const line = window.cprofSyntax.colored(file), starts = [{ open: "", depth: 0 }];
	const textOf = li => [...li.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).pop();
	const bodyOf = node => node ? node.data.replace(/\n$/, "") : "";
	if (!line.known) return;
	function startOf(n) {
		for (let k = starts.length; k <= n; k++) {
			const state = { ...starts[k - 1] };
			for (const li of lists[k - 1].querySelectorAll("li"))
				window.cprofSyntax.lex(bodyOf(textOf(li)), line.rust, state);
			starts.push(state);
		}
		return starts[n];
	}
	const done = new Set();
	function color(n) {
		if (done.has(n)) return;
		done.add(n);
		line.begin(startOf(n));
		startOf(n + 1); /* while the text is as it was */
		for (const li of lists[n].querySelectorAll("li")) {
			const node = textOf(li);
			if (node) node.replaceWith(...line(bodyOf(node)), "\n");
		}
	}
	const watch = new IntersectionObserver(seen => {
		for (const one of seen) {
			if (!one.isIntersecting) continue;
			watch.unobserve(one.target);
			color(lists.indexOf(one.target));
		}
	}, { rootMargin: "1500px" });
	for (const list of lists) watch.observe(list);
	addEventListener("beforeprint", () => lists.forEach((list, n) => color(n)));
}

function stripTools(strip, code) {
	const rows = strip.viewBox.baseVal.height, view = document.createElementNS(strip.namespaceURI, "rect");
	let waiting = false, held = false;

	function show() {
		const box = code.getBoundingClientRect();
		const from = Math.max(0, -box.top / box.height);
		const to = Math.min(1, (innerHeight - box.top) / box.height);
		waiting = false;
		view.setAttribute("y", from * rows);
		view.setAttribute("height", Math.max(0, to - from) * rows);
	}
	function soon() {
		if (!waiting) requestAnimationFrame(show);
		waiting = true;
	}
	function move(event) {
		const box = code.getBoundingClientRect(), part = event.clientY / strip.clientHeight;
		scrollTo(0, scrollY + box.top + part * box.height - innerHeight / 2);
	}
	view.setAttribute("width", strip.viewBox.baseVal.width);
	strip.append(view);
	strip.addEventListener("pointerdown", event => {
		held = true;
		strip.setPointerCapture(event.pointerId);
		move(event);
	});
	strip.addEventListener("pointermove", event => { if (held) move(event); });
	strip.addEventListener("pointerup", () => { held = false; });
	strip.addEventListener("pointercancel", () => { held = false; });
	addEventListener("scroll", soon, { passive: true });
	addEventListener("resize", soon);
	show();
}

document.addEventListener("DOMContentLoaded", () => {
	const files = document.querySelector("#files"), code = document.querySelector("#code");
	const strip = document.querySelector("#strip");
	addSwitch();
	if (files) {
		addMap(files);
		fileTools(files);
	}
	if (code) sourceTools(code);
	if (code) addWords(code);
	if (code) addColors(code);
	if (code && strip) stripTools(strip, code);
	root.dataset.ready = "1";
});
})();
