/* SPDX-License-Identifier: MIT
 *
 * The flame graph that lives: zoom, search, tooltips, keys. It draws anew from
 * the data what the file shows without it, so that zooming reveals frames that
 * were too narrow before.
 *
 * Names come from the profiled program: they only ever become text nodes.
 */
"use strict";
(function () {
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const ROW = 20, FOOT = 14, LEAST = 1;
const INLINED = 1, GUESSED = 2;

/* ---- data ---- */

const svg = document.querySelector("svg.flame");
/* An SVG has the tools in it; a page of HTML above it. */
const alone = document.documentElement === svg, HEAD = alone ? 92 : 4;
const recorded = JSON.parse(document.getElementById("flame-data").textContent);
let data = recorded; /* or what was chosen of it */
/* A node is FIELDS numbers, parents before children, in data.nodes. */
const FIELDS = data.old === undefined ? 6 : 8;
let count, depth, func, flags, total, self, ticks, start, parent, end, heat, before, deepest;

/* By node: what its times are at most, or -1. */
const bounds = new Map();
for (let i = 0; i < (data.bounds || []).length; i += 3)
	bounds.set(data.bounds[i], data.bounds.slice(i + 1, i + 3));

function load(nodes) {
	const open = [], used = [];
	count = nodes.length / FIELDS;
	[depth, func, parent, end] = [0, 0, 0, 0].map(() => new Int32Array(count));
	[total, self, ticks, start, before] = [0, 0, 0, 0, 0].map(() => new Float64Array(count));
	[flags, heat] = [new Uint8Array(count), new Int8Array(count)];
	deepest = 0;
	for (let i = 0, at = 0; i < count; i++, at += FIELDS) {
		const d = nodes[at];
		while (open.length > d) end[open.pop()] = i;
		depth[i] = d;
		func[i] = nodes[at + 1];
		total[i] = nodes[at + 2];
		self[i] = nodes[at + 3];
		ticks[i] = nodes[at + 4];
		flags[i] = nodes[at + 5];
		if (FIELDS > 6) {
			heat[i] = nodes[at + 6];
			before[i] = nodes[at + 7];
		}
		parent[i] = d ? open[d - 1] : -1;
		start[i] = d ? used[d - 1] : 0;
		if (d) used[d - 1] += total[i];
		used[d] = start[i];
		open[d] = i;
		open.length = d + 1;
		if (d > deepest) deepest = d;
	}
	while (open.length) end[open.pop()] = count;
}

/* The graph turned inside out: functions in which it was spent, and below
 * each its callers. Made from the arrays of the graph as it is. */
function bottomUp() {
	const own = total.slice(), ownTicks = ticks.slice();
	const top = { func: func[0], flags: 0, ns: 0, ticks: 0, last: 0, callers: new Map() };
	for (let i = 1; i < count; i++) {
		own[parent[i]] -= total[i];
		ownTicks[parent[i]] -= ticks[i];
	}
	for (let i = 0; i < count; i++) {
		if (!own[i]) continue;
		let n = top;
		for (let k = i; ; k = parent[k]) {
			n.ns += own[i];
			n.ticks += ownTicks[i];
			if (k <= 0) break;
			const key = func[k] * 4 + flags[k];
			if (!n.callers.has(key)) n.callers.set(key, { func: func[k], flags: flags[k], ns: 0,
				ticks: 0, last: 0, callers: new Map() });
			n = n.callers.get(key);
		}
		n.last += own[i];
	}
	const nodes = [], stack = [[top, 0]];
	while (stack.length) {
		const [n, d] = stack.pop();
		nodes.push(d, n.func, n.ns, n.last, n.ticks, n.flags);
		for (const c of [...n.callers.values()].sort((x, y) => x.ns - y.ns)) stack.push([c, d + 1]);
	}
	return nodes;
}
load(data.nodes);

const nameOf = i => data.functions[func[i]][0];
const imageOf = i => data.images[data.functions[func[i]][1]];

/* What a function weighs wherever it is, recursion counted once. */
const everywhere = new Map();
function totalEverywhere(f) {
	let sum = everywhere.get(f);
	if (sum !== undefined) return sum;
	sum = 0;
	for (let i = 0; i < count;) {
		if (func[i] === f) {
			sum += total[i];
			i = end[i];
		} else {
			i++;
		}
	}
	everywhere.set(f, sum);
	return sum;
}

/* ---- words ---- */

function time(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
	const [unit, scale] = units.find(u => ns >= u[1] * 0.9995) || units[3];
	const v = ns / scale;
	return v.toFixed(scale === 1 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + " " + unit;
}

function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; v >= 1023.5 && i + 1 < units.length; i++) v /= 1024;
	return v.toFixed(!i || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + " " + units[i];
}

/* A weight, in the unit of the data. */
const amounts = { ns: time, bytes: bytes, count: v => v.toLocaleString("en") };
const amount = v => amounts[data.unit](v);
const amountOf = (v, bound) => bound < 0 ? amount(v) : "<= " + amount(bound);

function percent(part, whole) {
	const p = whole ? 100 * part / whole : 0;
	return (p > 0 && p < 0.095 ? Math.max(p, 0.01).toFixed(2) : p.toFixed(1)) + "%";
}

/* "a::b<c>::d(e)" is "a::b::d", and "d"; operators are left as they are. */
function lastPart(bare) {
	const at = bare.lastIndexOf("::");
	return at >= 0 && !bare.includes("operator") ? bare.slice(at + 2) || bare : bare;
}

const pen = document.createElementNS(HTML, "canvas").getContext("2d");
const look = getComputedStyle(svg);
pen.font = look.fontSize + " " + look.fontFamily;
const dots = pen.measureText("…").width;
const labels = new Map(); /* function: its forms with their widths, longest first */

const widths = new Map();
function widthOf(text) {
	let width = widths.get(text);
	if (width === undefined) widths.set(text, width = pen.measureText(text).width);
	return width;
}

function labelsOf(f) {
	let forms = labels.get(f);
	if (!forms) {
		const name = data.functions[f][0];
		const brief = data.functions[f][5] || name;
		forms = [...new Set([name, brief, lastPart(brief)])]
			.map(text => [text, widthOf(text)]);
		labels.set(f, forms);
	}
	return forms;
}

/* What of a function's name is readable in `room` pixels. */
function label(f, room) {
	if (room < 16) return "";
	const forms = labelsOf(f);
	for (const [text, width] of forms)
		if (width <= room) return text;
	const [text, width] = forms[forms.length - 1];
	let letters = Math.ceil(text.length * (room - dots) / width);
	while (letters > 1 && widthOf(text.slice(0, letters)) > room - dots) letters--;
	return letters < 2 ? "" : text.slice(0, letters) + "…";
}

/* ---- elements ---- */

function make(space, tag, attributes, ...children) {
	const e = document.createElementNS(space, tag);
	for (const key in attributes) {
		if (key.startsWith("on")) e.addEventListener(key.slice(2), attributes[key]);
		else e.setAttribute(key, attributes[key]);
	}
	e.append(...children);
	return e;
}
const html = (tag, attributes, ...children) => make(HTML, tag, attributes, ...children);

const still = svg.querySelector("g.still");
const frames = make(SVG, "g", { class: "frames" });
const field = html("input", { type: "text", placeholder: "Search   /", spellcheck: "false",
	"aria-label": "Search functions: a regular expression", oninput: () => search(field.value) });
const matched = html("span", { class: "flame-count", role: "status" });
const resetButton = html("button", { type: "button", title: "Show all (Esc)",
	onclick: () => zoom(0) }, "Reset zoom");
const flipButton = html("button", { type: "button", title: "Turn upside down (i)",
	onclick: () => flip(!flipped) }, "Flip");
const turnButton = html("button", { type: "button", onclick: () => turn(!turned),
	title: "Functions " + (data.unit === "ns" ? "in which time was spent" : "that allocated") +
		", below each its callers (b)" }, "Bottom up");
const helpButton = html("button", { type: "button", title: "Keys (?)",
	onclick: () => toggleHelp() }, "?");
const legend = html("div", { class: "flame-legend" });
const note = html("div", { class: "flame-note" }, data.note);
const bar = html("div", { class: "flame-ui flame-bar" },
	html("div", { class: "flame-row" }, html("div", { class: "flame-title", title: data.title },
		data.title), matched, field, resetButton, turnButton, flipButton, helpButton),
	html("div", { class: "flame-row" }, note), legend);
const tip = html("div", { class: "flame-ui flame-tip" });
const tipBox = make(SVG, "foreignObject", { class: "flame-tipbox", width: 560, height: 400,
	visibility: "hidden" }, tip);
const barBox = make(SVG, "foreignObject", { x: 0, y: 0, width: "100%", height: Math.max(HEAD - 7, 0) }, bar);
function chip(image) {
	const dot = html("i", {});
	dot.style.background = "var(--f" + image[1] + ")";
	return html("button", { class: "flame-chip", type: "button",
		title: image[0] + ": " + percent(image[2], data.total) + " " + data.whole + " is in it itself",
		onclick: () => setSearch(field.value === "image:" + image[0] ? "" : "image:" + image[0]) },
		dot, html("span", {}, image[0]), html("b", {}, percent(image[2], data.total)));
}

function showLegend() {
	legend.replaceChildren(...data.images.filter(i => i[2] > 0).sort((a, b) => b[2] - a[2])
		.slice(0, 16).map(chip));
}

/* ---- drawing ---- */

let flipped = false, turned = false, root = 0, at = -1;
let shownDepth = deepest; /* of what is drawn when nothing moves */
let view = { from: 0, to: total[0] || 1 };
let hits = null; /* by function: true where it matches */
const pool = [];

function poolItem(n) {
	if (n < pool.length) return pool[n];
	const rect = make(SVG, "rect", { height: ROW - 1, rx: 2 });
	const text = make(SVG, "text", { y: 14 });
	const g = make(SVG, "g", {}, rect, text);
	const item = { g, rect, text, node: -1, shown: true };
	g.flameItem = item;
	frames.append(g);
	pool.push(item);
	return item;
}

function classOf(i) {
	let c = "";
	if (flags[i] & INLINED) c += "inlined ";
	if (flags[i] & GUESSED) c += "guessed ";
	if (i !== root && start[i] <= view.from && start[i] + total[i] >= view.to &&
	    depth[i] < depth[root]) c += "above ";
	if (hits && hits[func[i]]) c += "hit ";
	if (i === at) c += "at ";
	else if (at >= 0 && func[i] === func[at]) c += "same ";
	return c;
}

function colorOf(i) {
	return FIELDS > 6 ? "d" + (data.reversed ? -heat[i] : heat[i]) : data.functions[func[i]][4];
}

const rowOf = i => HEAD + (flipped ? shownDepth - depth[i] : depth[i]) * ROW;
const sideOf = width => width * 0.01;

function place(item, i, x, width) {
	item.node = i;
	item.g.setAttribute("transform", "translate(" + x.toFixed(2) + "," + rowOf(i) + ")");
	item.g.setAttribute("class", classOf(i));
	item.rect.setAttribute("width", Math.max(width - 0.6, 0.4).toFixed(2));
	item.rect.setAttribute("class", colorOf(i));
	const text = label(func[i], width - 8);
	if (item.text.firstChild) item.text.firstChild.data = text;
	else item.text.append(text);
	item.text.setAttribute("x", 4);
	if (!item.shown) item.g.removeAttribute("visibility");
	item.shown = true;
}

/* Draws the view; answers how deep it goes. */
function draw() {
	const width = svg.clientWidth || svg.getBoundingClientRect().width || 1200;
	const side = sideOf(width), inner = width - 2 * side, scale = inner / (view.to - view.from);
	let n = 0, down = 0;
	for (let i = 0; i < count;) {
		const left = Math.max((start[i] - view.from) * scale, 0);
		const right = Math.min((start[i] + total[i] - view.from) * scale, inner);
		if (right - left < LEAST) {
			i = end[i];
			continue;
		}
		place(poolItem(n++), i, side + left, right - left);
		if (depth[i] > down) down = depth[i];
		i++;
	}
	for (let k = n; k < pool.length; k++) {
		if (pool[k].shown) pool[k].g.setAttribute("visibility", "hidden");
		pool[k].shown = false;
		pool[k].node = -1;
	}
	frames.setAttribute("class", hits ? "frames searching" : "frames");
	return down;
}

/* Draws, and makes the graph as high as what is drawn. */
function settle() {
	const down = draw();
	if (down !== shownDepth) {
		shownDepth = down;
		if (flipped) draw();
	}
	/* Alone, there must be room for tooltips. */
	svg.setAttribute("height", Math.max(HEAD + (down + 1) * ROW + FOOT,
		alone ? window.innerHeight - 1 : 0));
}

/* Scrolls so that the row of frame i can be seen, and some of what is on it. */
function reveal(i, around) {
	const frame = alone ? null : svg.parentNode.getBoundingClientRect();
	const from = alone ? HEAD : frame.top, to = alone ? window.innerHeight : frame.bottom;
	const top = svg.getBoundingClientRect().top + rowOf(i);
	if (top >= from && top + around <= to) return;
	(alone ? window : svg.parentNode).scrollBy({ top: top - from -
		(flipped ? to - from - around : Math.min(3 * ROW, (to - from) / 3)) });
}

function paint() {
	for (const item of pool)
		if (item.node >= 0) item.g.setAttribute("class", classOf(item.node));
}

/* ---- zoom ---- */

let moving = 0;
function glide(from, to) {
	const began = performance.now(), id = ++moving;
	const step = now => {
		if (id !== moving) return;
		const t = Math.min((now - began) / 190, 1), e = 1 - Math.pow(1 - t, 3);
		view = { from: from.from + (to.from - from.from) * e,
			to: from.to + (to.to - from.to) * e };
		draw();
		if (t < 1) requestAnimationFrame(step);
		else settle();
	};
	requestAnimationFrame(step);
}

function zoom(i, at_once) {
	const to = { from: start[i], to: start[i] + (total[i] || 1) };
	root = i;
	resetButton.disabled = i === 0;
	if (at_once || matchMedia("(prefers-reduced-motion: reduce)").matches) {
		moving++;
		view = to;
		settle();
	} else {
		glide(view, to);
	}
	reveal(i, 6 * ROW);
	remember(true);
	if (i) document.dispatchEvent(new CustomEvent("flamepick", { detail: nameOf(i) }));
}

function flip(to) {
	flipped = to;
	hideTip();
	settle();
	reveal(root, 6 * ROW);
	remember(true);
}

/* Bottom up, or back. */
function turn(to) {
	if (FIELDS > 6 || to === turned) return;
	hideTip();
	if (turned) load(data.nodes); /* callers are found from the other one */
	if (to) load(bottomUp());
	turned = to;
	turnButton.textContent = turned ? "Top down" : "Bottom up";
	zoom(0, true);
}

/* ---- search ---- */

/* A test of (name, image): "image:NAME", a regular expression, or plain text
 * where it is none. Without capitals, capitals don't matter. */
function matcher(text) {
	if (text.startsWith("image:")) return (name, image) => image === text.slice(6);
	const how = text === text.toLowerCase() ? "iu" : "u";
	let pattern;
	field.classList.remove("bad");
	try {
		pattern = new RegExp(text, how);
	} catch (e) {
		field.classList.add("bad");
		pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), how);
	}
	return name => pattern.test(name);
}

/* The outermost frames that match. */
function outermostHits() {
	const found = [];
	for (let i = 0; hits && i < count;) {
		if (hits[func[i]]) found.push(i);
		i = hits[func[i]] ? end[i] : i + 1;
	}
	return found;
}

function search(text) {
	hits = null;
	matched.textContent = "";
	field.classList.remove("bad");
	const test = text ? matcher(text) : null;
	if (test) {
		hits = data.functions.map(f => test(f[0], f[1] < 0 ? "" : data.images[f[1]][0]));
		const sum = outermostHits().reduce((s, i) => s + total[i], 0);
		const functions = hits.filter(Boolean).length;
		matched.textContent = functions ? percent(sum, data.total) + ", " + amount(sum) + ", in " + functions +
			(functions === 1 ? " function" : " functions") : "no match";
	}
	matched.setAttribute("data-matched", matched.textContent);
	document.dispatchEvent(new CustomEvent("flamesearch", { detail: test }));
	draw();
	remember();
}

function setSearch(text) {
	field.value = text;
	search(text);
}

/* The next (or the previous) outermost hit after where we are. */
function step(by) {
	const found = outermostHits();
	if (!found.length) return;
	let k = by > 0 ? found.findIndex(i => i > at) : found.findLastIndex(i => i < at);
	if (k < 0) k = by > 0 ? 0 : found.length - 1;
	if (root && (found[k] < root || found[k] >= end[root])) zoom(0, true);
	goTo(found[k]);
}

/* ---- where we are: the mouse's or the keyboard's frame ---- */

function row(table, key, value) {
	table.append(html("tr", {}, html("td", {}, key), html("td", {}, value)));
}

function fillTip(i) {
	const f = data.functions[func[i]], image = imageOf(i), table = html("table", {});
	const marks = [];
	if (flags[i] & INLINED) marks.push("inlined");
	if (flags[i] & GUESSED) marks.push("guessed: there is no unwind information here");
	tip.replaceChildren(html("h1", {}, f[0]));
	if (image) tip.append(html("p", {}, image[0] + (f[2] ? "  ·  " + f[2] + (f[3] ? ":" + f[3] :
		"") : "")));
	if (marks.length) tip.append(html("p", {}, marks.join(", ")));
	const bound = (!turned && data === recorded && bounds.get(i)) || [-1, -1];
	row(table, "total", percent(total[i], data.total) + "  ·  " + amountOf(total[i], bound[0]));
	if (!turned) row(table, "self", percent(self[i], data.total) + "  ·  " +
		amountOf(self[i], bound[1]));
	if (root) row(table, "of what is shown", percent(total[i], total[root]));
	if (i && parent[i] !== root) row(table, turned ? "of what it called" : "of its caller", percent(total[i], total[parent[i]]));
	const all = turned ? 0 : totalEverywhere(func[i]);
	if (image && all > total[i]) row(table, "everywhere", percent(all, data.total) + "  ·  " +
		(bounds.size ? "about " : "") + amount(all));
	if (data.unit !== "count") row(table, data.ticks, ticks[i].toLocaleString("en"));
	const points = 100 * total[i] / data.total - 100 * before[i] / (data.old || 1);
	if (FIELDS > 6) row(table, data.reversed ? "after" : "before", percent(before[i], data.old) + "  (" +
		signed(data.reversed ? -points : points) + " points)");
	tip.append(table);
}

const signed = v => (v < 0 ? "−" : "+") + Math.abs(v).toFixed(2);

/* Shows the tooltip near (x, y) of the viewport. */
function showTip(i, x, y) {
	fillTip(i);
	placeTip(0, 0);
	const box = tip.getBoundingClientRect();
	const wide = document.documentElement.clientWidth || window.innerWidth;
	let left = x + 14, top = y + 18;
	if (left + box.width > wide - 6) left = Math.max(6, x - box.width - 14);
	if (top + box.height > window.innerHeight - 6) top = Math.max(6, y - box.height - 12);
	placeTip(left, top);
}

/* Shows the tooltip at a place of the viewport. */
function placeTip(left, top) {
	if (alone) {
		const frame = svg.getBoundingClientRect();
		tipBox.removeAttribute("visibility");
		tipBox.setAttribute("x", left - frame.left);
		tipBox.setAttribute("y", top - frame.top);
	} else {
		tip.style.display = "block";
		tip.style.left = left + "px";
		tip.style.top = top + "px";
	}
}

function closeTip() {
	tipBox.setAttribute("visibility", "hidden");
	if (!alone) tip.style.display = "none";
}

function hideTip() {
	closeTip();
	if (at >= 0) {
		at = -1;
		paint();
	}
}

function goTo(i) {
	at = i;
	paint();
	const item = pool.find(p => p.node === i);
	if (!item) return;
	reveal(i, ROW);
	const now = item.rect.getBoundingClientRect();
	showTip(i, now.left + Math.min(now.width / 2, 60), now.bottom - 12);
}

/* The frame that an arrow leads to, among those that are drawn. */
function neighbour(key) {
	const drawn = new Set(pool.map(p => p.node));
	if (at < 0) return root;
	if (key === "ArrowUp" || key === "ArrowDown") {
		if ((key === "ArrowDown") === flipped) return parent[at] >= 0 ? parent[at] : at;
		return at + 1 < end[at] && drawn.has(at + 1) ? at + 1 : at;
	}
	if (key === "ArrowRight") return drawn.has(end[at]) && depth[end[at]] === depth[at] ? end[at] : at;
	let last = at;
	for (let i = parent[at] + 1; parent[at] >= 0 && i < at; i = end[i]) last = i;
	return last;
}

function itemOf(event) {
	const g = event.target.closest ? event.target.closest("g") : null;
	return g && g.flameItem && g.flameItem.node >= 0 ? g.flameItem : null;
}

frames.addEventListener("mousemove", event => {
	const item = itemOf(event);
	if (!item) return;
	if (item.node !== at) {
		at = item.node;
		paint();
	}
	showTip(at, event.clientX, event.clientY);
});
frames.addEventListener("mouseleave", hideTip);
frames.addEventListener("click", event => {
	const item = itemOf(event);
	if (item) zoom(item.node);
});

/* ---- keys ---- */

const keys = [["/, Ctrl-F", "search: a regular expression"], ["n, N", "next, previous match"],
	["arrows", "go from frame to frame"], ["Enter, click", "zoom to the frame"],
	["Backspace", "zoom out to its caller"], ["Esc", "clear the search, then the zoom"],
	["b", "bottom up: callers below what they call"], ["i", "turn upside down"], ["?", "this"]];

if (window.cprof) keys.push(["[, ]", "move the range of time by its length"],
	["Tab", "to the ends of the range, which arrows and Page Up move"]);

function toggleHelp() {
	const shown = tip.classList.toggle("flame-keys");
	if (!shown) {
		closeTip();
		return;
	}
	const table = html("table", {});
	for (const [key, what] of keys)
		table.append(html("tr", {}, html("td", {}, html("kbd", {}, key)), html("td",
			{ class: "what" }, what)));
	tip.replaceChildren(html("h1", {}, "Keys"), table);
	placeTip(0, 92);
	placeTip(Math.max(8, document.documentElement.clientWidth - tip.getBoundingClientRect().width - 12), 92);
}

function escape() {
	if (tip.classList.contains("flame-keys")) toggleHelp();
	else if (field.value) setSearch("");
	else zoom(0);
	field.blur();
	hideTip();
}

const actions = {
	"/": () => field.focus(), "?": toggleHelp, "i": () => flip(!flipped), "b": () => turn(!turned), "Escape": escape,
	"0": () => zoom(0), "Home": () => zoom(0), "n": () => step(1), "N": () => step(-1),
	"Enter": () => at >= 0 && zoom(at), "Backspace": () => root && zoom(parent[root]),
	"ArrowUp": () => goTo(neighbour("ArrowUp")), "ArrowDown": () => goTo(neighbour("ArrowDown")),
	"ArrowLeft": () => goTo(neighbour("ArrowLeft")),
	"ArrowRight": () => goTo(neighbour("ArrowRight")),
};

document.addEventListener("keydown", event => {
	const typing = event.target === field;
	/* Who has keys of its own. */
	if (!typing && event.target.closest && event.target.closest("[data-keys]")) return;
	if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f" && !typing) {
		field.focus();
		field.select();
		event.preventDefault();
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (typing && event.key === "Enter") {
		step(event.shiftKey ? -1 : 1);
		return;
	}
	if (!typing && event.target.closest && event.target.closest("input, textarea, select")) return;
	if (!typing && event.key === "Enter" && event.target.closest &&
	    event.target.closest("button, a, summary")) return;
	if (typing ? event.key !== "Escape" : !actions[event.key]) return;
	event.preventDefault();
	actions[event.key]();
});

/* ---- the address keeps what is shown ---- */

/* Words of others are left as they are. */
function addressWords() {
	return new Map(location.hash.slice(1).split("&").filter(Boolean).map(w => {
		const k = w.indexOf("=");
		return [w.slice(0, k), w.slice(k + 1)];
	}));
}

let recalling = false;
/* `step`: a way back leads to what was shown before. */
function remember(step) {
	if (recalling) return;
	const words = addressWords();
	for (const [key, value] of [["s", encodeURIComponent(field.value)], ["z", root || ""],
		["i", flipped ? 1 : ""], ["b", turned ? 1 : ""]]) {
		words.delete(key);
		if (value) words.set(key, value);
	}
	const hash = "#" + [...words].map(([k, v]) => k + "=" + v).join("&");
	if (hash === (location.hash || "#")) return;
	try {
		history[step ? "pushState" : "replaceState"](null, "", hash);
	} catch (e) {
		/* not everywhere allowed */
	}
}

function recall() {
	const words = addressWords(), node = Number(words.get("z"));
	recalling = true;
	turn(words.get("b") === "1");
	flipped = words.get("i") === "1";
	try {
		field.value = decodeURIComponent(words.get("s") || "");
	} catch (e) {
		field.value = "";
	}
	zoom(Number.isInteger(node) && node > 0 && node < count ? node : 0, true);
	search(field.value);
	recalling = false;
}

/* ---- other data ---- */

/* Shows what was chosen, as page.js made it, or another recording; null: all that was
 * recorded. */
function adopt(chosen) {
	data = chosen ? Object.assign({}, recorded, chosen) : recorded;
	if (chosen && chosen.perImage)
		data.images = recorded.images.map((image, i) => [image[0], image[1], chosen.perImage[i]]);
	hideTip();
	everywhere.clear();
	labels.clear();
	load(data.nodes);
	if (turned) load(bottomUp());
	note.textContent = data.note;
	showLegend();
	recall();
}

/* ---- beginning ---- */

function pin() {
	if (alone) barBox.setAttribute("y", Math.max(window.scrollY, 0));
}

function begin() {
	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	if (still) still.remove();
	showLegend();
	svg.append(frames);
	if (alone) svg.append(barBox, tipBox);
	else (document.body.prepend(bar), document.body.append(tip));
	if (FIELDS > 6) turnButton.remove(); /* what changed is known of stacks only */
	document.addEventListener("flamefind", event => setSearch(event.detail));
	document.addEventListener("flamedata", event => adopt(event.detail));
	window.addEventListener("scroll", pin, { passive: true });
	window.addEventListener("resize", settle);
	window.addEventListener("hashchange", recall);
	recall();
	pin();
	svg.setAttribute("data-ready", "1");
}
begin();
})();
