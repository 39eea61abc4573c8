/* SPDX-License-Identifier: MIT
 *
 * The time line of each thread, on which a range is chosen: by the mouse, by the two handles
 * that take keys, by the fields, or by a row of the table that says the same in words.
 *
 * Tracks are paths in buckets, which the browser stretches; nothing is drawn anew when the
 * window or the colors change.
 */
"use strict";
(function () {
const c = window.cprof;
if (!c) return;
const SVG = "http://www.w3.org/2000/svg";
const { data, state } = c, B = data.buckets;
const HIGH = 24; /* of a track's area */

function make(space, tag, attributes, ...children) {
	const e = space ? document.createElementNS(space, tag) : document.createElement(tag);
	for (const key in attributes) {
		if (key.startsWith("on")) e.addEventListener(key.slice(2), attributes[key]);
		else if (attributes[key] !== undefined) e.setAttribute(key, attributes[key]);
	}
	e.append(...children);
	return e;
}
const html = (tag, attributes, ...children) => make(null, tag, attributes, ...children);
const svg = (tag, attributes, ...children) => make(SVG, tag, attributes, ...children);

/* ---- sums by thread and bucket ---- */

/* By thread: what a series has in each bucket. */
function byBucket(name, counts) {
	const sums = new Map(), s = c.series[name];
	if (!s) return sums;
	for (const thread of s.threads.keys()) {
		const a = new Float64Array(B);
		c.eachCell(s, thread, 0, B, k => { a[s.bucket[k]] += counts ? s.ticks[k] : s.weight[k]; });
		sums.set(thread, a);
	}
	return sums;
}
const lines = { running: byBucket("running"), waiting: byBucket("waiting"), calls: byBucket("calls"),
	locks: byBucket("locks"), thrown: byBucket("thrown", true) };

function together(sums) {
	const all = new Float64Array(B);
	for (const a of sums.values()) for (let b = 0; b < B; b++) all[b] += a[b];
	return all;
}

const onCPU = "on CPU";
const sampled = lines.running.size || lines.waiting.size;
/* A bucket of a thread that runs all the time; of events, the highest. */
const greatest = a => a.reduce((x, y) => Math.max(x, y), 0);
const full = data.event ? Math.max(1, ...[...lines.running.values()].map(greatest)) : data.bucket;
const told = data.event ? v => c.amounts.count(v) : c.time;
const busy = a => a ? a.reduce((x, y) => x + y, 0) : 0;
const usage = t => busy(sampled ? lines.running.get(t) : lines.calls.get(t)) +
	1e-6 * busy(lines.waiting.get(t));
const used = new Set(Object.values(c.series).flatMap(s => [...s.threads.keys()]));
const threads = [...used].sort((x, y) => data.threads[x][1] - data.threads[y][1] || usage(y) - usage(x) ||
	x - y);
const processes = [...new Set(threads.map(t => data.threads[t][1]))];

/* ---- tracks ---- */

/* The outline of values of buckets, from `base` upwards (the sum of both is shown). */
function area(values, base, most, high, bottom) {
	let d = "", open = false;
	const y = v => (bottom - high * Math.min(1, v / most)).toFixed(1);
	for (let b = 0; b < B; b++) {
		if (!(values[b] > 0)) {
			open = false;
			continue;
		}
		let end = b + 1;
		const top = y((base ? base[b] : 0) + values[b]), low = y(base ? base[b] : 0);
		if (top === low) continue;
		while (end < B && values[end] > 0 && y((base ? base[end] : 0) + values[end]) === top &&
			y(base ? base[end] : 0) === low) end++;
		d += "M" + b + " " + low + "V" + top + "H" + end + "V" + low + "z";
		b = end - 1;
	}
	return d;
}

/* Where something is, as a strip. */
function strip(values, top, bottom) {
	let d = "";
	for (let b = 0; b < B; b++) {
		if (!(values[b] > 0)) continue;
		let end = b + 1;
		while (end < B && values[end] > 0) end++;
		d += "M" + b + " " + top + "H" + end + "V" + bottom + "H" + b + "z";
		b = end;
	}
	return d;
}

/* The span of each bucket in which most of it was spent: strips by color. */
function spanStrips(thread) {
	const s = c.series.spans;
	if (!s || !s.threads.has(thread)) return [];
	const most = new Float64Array(B), which = new Int32Array(B).fill(-1);
	c.eachCell(s, thread, 0, B, k => {
		if (s.weight[k] > most[s.bucket[k]]) {
			most[s.bucket[k]] = s.weight[k];
			which[s.bucket[k]] = c.label[s.node[k]];
		}
	});
	const colors = new Map();
	for (let b = 0; b < B; b++) {
		if (which[b] < 0) continue;
		let end = b + 1;
		while (end < B && which[end] === which[b]) end++;
		const color = "tl-span" + which[b] % 6;
		colors.set(color, (colors.get(color) || "") + "M" + b + " 25H" + end + "V30H" + b + "z");
		b = end - 1;
	}
	return [...colors].map(([color, d]) => svg("path", { class: color, d }));
}

function track(...paths) {
	return svg("svg", { class: "tl-track", viewBox: "0 0 " + B + " 31", preserveAspectRatio: "none",
		"aria-hidden": "true" }, ...paths);
}
/* Where what is searched for is, over what is there at all. By thread, and of all as null. */
const hits = new Map();
let found = null; /* the search's test; null: nothing is searched for */

function withHits(thread, picture, most) {
	const hit = svg("path", { class: "tl-hit" });
	picture.append(hit);
	hits.set(thread, { hit, most });
	return picture;
}

function showHits() {
	if (!found) {
		for (const { hit } of hits.values()) hit.removeAttribute("d");
		return;
	}
	const matches = data.labels.map(l => found(l[0], l[1] < 0 ? "" : c.images[l[1]]));
	const inside = new Uint8Array(c.parent.length), sums = new Map(), m = state.measure;
	for (let n = 0; n < inside.length; n++)
		inside[n] = matches[c.label[n]] || (n && inside[c.parent[n]]) ? 1 : 0;
	for (const [name, sign] of m.parts) {
		const s = c.series[name];
		if (!s || sign < 0) continue;
		for (const thread of s.threads.keys()) {
			if (!sums.has(thread)) sums.set(thread, new Float64Array(B));
			const a = sums.get(thread);
			c.eachCell(s, thread, 0, B, k => {
				if (inside[s.node[k]]) a[s.bucket[k]] += m.counts ? s.ticks[k] : s.weight[k];
			});
		}
	}
	sums.set(null, together(sums));
	for (const [thread, { hit, most }] of hits)
		hit.setAttribute("d", sums.has(thread) ? area(sums.get(thread), null, most, thread === null ?
			HIGH - 1 : HIGH - 5, HIGH) : "");
}

document.addEventListener("showchosen", () => showHits());
let searching = 0;
document.addEventListener("flamesearch", event => {
	found = event.detail;
	cancelAnimationFrame(searching);
	searching = requestAnimationFrame(showHits);
});

const path = (kind, d) => d ? [svg("path", { class: kind, d })] : [];

/* Time: how much of each bucket. Other weights: as much as the most of any. */
function threadPaths(thread, other, most) {
	const lock = lines.locks.get(thread), thrown = lines.thrown.get(thread);
	const running = lines.running.get(thread), waiting = lines.waiting.get(thread);
	const marks = [...(lock ? path("tl-lock", strip(lock, 0, 4)) : []),
		...(thrown ? path("tl-thrown", strip(thrown, 0, 9)) : []), ...spanStrips(thread)];
	if (other) {
		const values = other.get(thread);
		return [...(values ? path("tl-other", area(values, null, most, HIGH - 5, HIGH)) : []), ...marks];
	}
	if (!sampled) {
		const calls = lines.calls.get(thread);
		return [...(calls ? path("tl-calls", area(calls, null, data.bucket, HIGH - 5, HIGH)) : []), ...marks];
	}
	return [...(running ? path("tl-run", area(running, null, full, HIGH - 5, HIGH)) : []),
		...(waiting ? path("tl-wait", area(waiting, running, full, HIGH - 5, HIGH)) : []), ...marks];
}

/* Bytes that a process has at the end of each bucket. */
function memory(process) {
	const in_use = new Float64Array(B);
	for (const [name, sign] of [["allocated", 1], ["freed", -1]]) {
		const s = c.series[name];
		if (!s) continue;
		for (const thread of s.threads.keys()) {
			if (data.threads[thread][1] !== process) continue;
			c.eachCell(s, thread, 0, B, k => { in_use[s.bucket[k]] += sign * s.weight[k]; });
		}
	}
	for (let b = 1; b < B; b++) in_use[b] += in_use[b - 1];
	return in_use;
}

/* ---- the frame around them ---- */

const measure = html("select", { id: "tl-measure", onchange: () =>
	c.choose({ measure: c.measures[measure.selectedIndex] }) },
	...c.measures.map(m => html("option", { value: m.key }, m.name)));
const fields = ["from", "to"].map(end => html("input", { type: "text", inputmode: "decimal", size: 9,
	id: "tl-" + end, "aria-label": end === "from" ? "Range from, in seconds" : "Range to, in seconds",
	onchange: event => {
		const s = Number(event.target.value), b = Math.round((s * 1e9 - data.from) / data.bucket);
		if (!(s >= 0)) showRange();
		else if (end === "from") c.choose({ from: c.within(b, 0, B - 1), to: Math.max(state.to, b + 1) });
		else c.choose({ to: c.within(b, 1, B), from: Math.min(state.from, c.within(b, 1, B) - 1) });
	} }));
const whole = html("button", { type: "button", title: "The whole recording, all threads",
	onclick: () => c.choose({ from: 0, to: B, threads: null }) }, "Show all");
const said = html("span", { class: "tl-said", role: "status" });
const bar = html("div", { class: "flame-ui tl-bar" }, html("label", {}, "Weight ", measure),
	html("span", { class: "tl-fields" }, "Range ", fields[0], " – ", fields[1], " s"), whole, said);

const axis = html("div", { class: "tl-axis" });
const rows = html("div", { class: "tl-rows" });
const shades = [html("div", { class: "tl-shade" }), html("div", { class: "tl-shade" })];
const over = html("div", { class: "tl-over", "aria-hidden": "true" }, ...shades);
const tip = html("div", { class: "flame-ui flame-tip tl-tip", "aria-hidden": "true" });
const names = new Map();

function handle(which) {
	const h = html("div", { class: "tl-handle tl-" + which, role: "slider", tabindex: 0, "data-keys": 1,
		"aria-label": which === "from" ? "Beginning of the range" : "End of the range",
		"aria-valuemin": 0, "aria-valuemax": B, onkeydown: event => handleKey(event, which),
		onpointerdown: event => beginDrag(event, which) });
	return h;
}
const handles = { from: handle("from"), to: handle("to") };

function handleKey(event, which) {
	const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -B / 16,
		PageUp: B / 16, Home: -B, End: B };
	const by = steps[event.key] * (event.shiftKey && event.key.startsWith("Arrow") ? 10 : 1);
	if (event.key === "Escape") {
		c.choose({ from: 0, to: B });
	} else if (by) {
		if (which === "from") c.choose({ from: c.within(state.from + by, 0, state.to - 1) });
		else c.choose({ to: c.within(state.to + by, state.from + 1, B) });
	} else {
		return;
	}
	event.preventDefault();
}

/* ---- the mouse ---- */

let drag = null;
function bucketAt(event) {
	const box = axis.getBoundingClientRect();
	return c.within((event.clientX - box.left) / box.width * B, 0, B);
}

function beginDrag(event, which) {
	if (event.button) return;
	const b = bucketAt(event);
	drag = { anchor: which === "from" ? state.to : which === "to" ? state.from : b, x: event.clientX,
		moved: !!which, target: event.currentTarget, before: { from: state.from, to: state.to } };
	try {
		event.currentTarget.setPointerCapture(event.pointerId);
	} catch (gone) {
		/* of a pointer that is no more */
	}
	if (which) event.stopPropagation();
}

function moveDrag(event) {
	if (!drag) return;
	if (!drag.moved && Math.abs(event.clientX - drag.x) < 4) return;
	drag.moved = true;
	hideTip();
	const b = bucketAt(event), from = Math.floor(Math.min(b, drag.anchor));
	c.choose({ from, to: Math.max(Math.ceil(Math.max(b, drag.anchor)), from + 1) }, true);
	event.preventDefault();
}

function endDrag(event, cancelled) {
	if (!drag) return;
	const done = drag;
	drag = null;
	if (cancelled) c.choose(done.before, true);
	else if (done.moved) c.choose({});
}

/* What a thread did at a time: the most of each series in that bucket. */
function fillTip(thread, b) {
	const table = html("table", {});
	for (const [name, what, amount] of [["running", data.event || onCPU, told],
		["waiting", "waiting", c.time], ["calls", "in calls", c.time], ["locks", "for locks", c.time],
		["thrown", "exceptions", String], ["spans", "announced", c.time], ["allocated", "allocated", c.bytes],
		["freed", "freed", c.bytes]]) {
		const s = c.series[name], sums = new Map();
		let sum = 0;
		if (!s || (thread !== null && !s.threads.has(thread))) continue;
		for (const t of thread === null ? s.threads.keys() : [thread])
			c.eachCell(s, t, b, b + 1, k => {
				const l = s.own[s.node[k]];
				sum += s.weight[k];
				sums.set(l, (sums.get(l) || 0) + s.weight[k]);
			});
		if (!(sum > 0)) continue;
		const [most] = [...sums].sort((x, y) => y[1] - x[1])[0];
		const label = data.labels[most];
		table.append(html("tr", {}, html("td", {}, what), html("td", {}, amount(sum)),
			html("td", { class: "what" }, (name === "thrown" || sums.size < 2 ? "" : "mostly ") +
				(label[5] || label[0]))));
	}
	tip.replaceChildren(html("h1", {}, thread === null ? "All threads" : data.threads[thread][0]),
		html("p", {}, "at " + c.moment(b) + " s, " + c.time(data.bucket)), table);
	if (!table.children.length) tip.append(html("p", {}, "nothing"));
}

function hideTip() {
	tip.style.display = "none";
}

rows.addEventListener("mousemove", event => {
	const row = event.target.closest(".tl-row");
	if (!row || drag || !event.target.closest(".tl-lane") || row.dataset.thread === undefined) {
		hideTip();
		return;
	}
	fillTip(row.dataset.thread === "" ? null : Number(row.dataset.thread),
		Math.min(Math.floor(bucketAt(event)), B - 1));
	tip.style.display = "block";
	const box = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth;
	tip.style.left = Math.max(6, Math.min(event.clientX + 14, wide - box.width - 8)) + "px";
	tip.style.top = (event.clientY + 20 + box.height < innerHeight ? event.clientY + 18 :
		event.clientY - box.height - 12) + "px";
});
rows.addEventListener("mouseleave", hideTip);

/* ---- rows ---- */

function toggle(thread, add) {
	const now = new Set(add ? state.threads || [] : []);
	const alone = state.threads && state.threads.size === 1 && state.threads.has(thread);
	if (add && now.has(thread)) now.delete(thread);
	else if (add || !alone) now.add(thread);
	c.choose({ threads: now });
}

function lane(picture) {
	const e = html("div", { class: "tl-lane", onpointerdown: event => beginDrag(event),
		onpointermove: moveDrag, onpointerup: event => endDrag(event, false),
		onpointercancel: event => endDrag(event, true), ondblclick: () => c.choose({ from: 0, to: B }) });
	e.append(picture);
	return e;
}

function addRow(name, picture, thread, note) {
	const row = html("div", { class: "tl-row", "data-thread": thread === undefined ? undefined :
		thread === null ? "" : thread });
	if (thread === undefined || thread === null) {
		row.append(html("div", { class: "tl-name" }, html("span", {}, name), html("small", {}, note || "")));
	} else {
		const button = html("button", { type: "button", class: "tl-name", "aria-pressed": "false",
			title: name + ": this thread alone; with Ctrl or Shift: this one, too",
			onclick: event => toggle(thread, event.ctrlKey || event.metaKey || event.shiftKey) },
			html("span", {}, name), html("small", {}, note || ""));
		names.set(thread, button);
		row.append(button);
	}
	row.append(lane(picture));
	rows.append(row);
}


function overview(other) {
	if (other) {
		const sum = together(other);
		return track(...path("tl-other", area(sum, null, greatest(sum) || 1, HIGH - 1, HIGH)));
	}
	const run = together(sampled ? lines.running : lines.calls);
	/* Who waits fills any number of rows: it is left to the threads. */
	return track(...path(sampled ? "tl-run" : "tl-calls", area(run, null, greatest(run) || 1, HIGH - 1, HIGH)));
}

function showRows() {
	const m = state.measure, name = m.parts[0][0];
	const other = ["running", "waiting", "calls"].includes(name) ? null : byBucket(name, m.counts);
	const most = other ? Math.max(1, ...[...other.values()].map(greatest)) : 1;
	names.clear();
	hits.clear();
	rows.replaceChildren();
	const run = together(sampled ? lines.running : lines.calls);
	addRow("All threads", withHits(null, overview(other), greatest(other ? together(other) : run) || 1), null, other ? "" : (sampled ? told : c.time)(busy(run)) +
		(sampled ? " " + (data.event || onCPU) : " in calls"));
	if (c.series.allocated && !data.live_unknown) for (const process of processes) {
		const in_use = memory(process), high = greatest(in_use);
		if (high > 0) addRow("Memory in use", track(...path("tl-memory", area(in_use, null, high, HIGH - 1,
			HIGH))), undefined, "at most " + c.bytes(high) + (processes.length > 1 && process >= 0 ?
			", " + data.processes[process] : ""));
	}
	for (const thread of threads) {
		const note = sampled ? told(busy(lines.running.get(thread))) : lines.calls.has(thread) ?
			c.time(busy(lines.calls.get(thread))) : "";
		addRow(data.threads[thread][0], withHits(thread, track(...threadPaths(thread, other, most)),
			other ? most : full), thread, note);
	}
	rows.append(over);
	showHits();
}

/* Marks of the axis: 1, 2 or 5 times a power of ten seconds apart. */
function showAxis() {
	/* Rows may have a scroll bar, which the axis has not. */
	section.style.setProperty("--bar", rows.offsetWidth - rows.clientWidth + "px");
	const span = B * data.bucket / 1e9, rough = span / Math.max(2, Math.min(12, axis.clientWidth / 90));
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
	const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), start = data.from / 1e9;
	axis.replaceChildren(handles.from, handles.to);
	for (let n = Math.ceil(start / step - 1e-9); n * step <= start + span; n++) {
		const share = 100 * (n * step - start) / span;
		const mark = html("span", { class: "tl-mark" + (axis.clientWidth * (1 - share / 100) < 46 ? " tl-last" : "") },
			(n * step).toFixed(digits) + " s");
		mark.style.left = share + "%";
		axis.append(mark);
	}
}

/* ---- the same in words ---- */

const PIECES = 20;
const table = html("table", { class: "list", id: "timeline-table" });
const details = html("details", { class: "tl-details", ontoggle: () => showPieces() },
	html("summary", {}, "The time line as a table"), table);

function showPieces() {
	if (!details.open) return;
	const pieces = Math.min(PIECES, state.to - state.from), columns = c.measures.filter(m => m.key !== "live");
	table.replaceChildren(html("caption", {}, c.rangeWords() + (state.threads ? ", " + c.threadWords() : "")),
		html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "time"), ...columns.map(m => html("th",
			{ scope: "col", class: "n" }, m.name)), html("th", { scope: "col" }, "mostly in"))));
	const body = html("tbody", {});
	for (let i = 0; i < pieces; i++) {
		const from = state.from + Math.floor(i * (state.to - state.from) / pieces);
		const to = state.from + Math.floor((i + 1) * (state.to - state.from) / pieces);
		let most = -1, best = 0;
		const cells = columns.map((m, k) => {
			const s = c.addUp(m, from, to);
			if (m === (state.measure.key === "live" ? columns[0] : state.measure))
				s.self.forEach((v, l) => { if (v > best) [best, most] = [v, l]; });
			return html("td", { class: "n" }, s.total[0] > 0 ? c.amounts[m.unit](s.total[0]) : "");
		});
		const label = most < 0 ? null : data.labels[most];
		body.append(html("tr", {}, html("td", {}, html("button", { type: "button",
			onclick: () => c.choose({ from, to }) }, c.moment(from) + " to " + c.moment(to) + " s")), ...cells,
			html("td", { class: "name" }, label ? label[5] || label[0] : "")));
	}
	table.append(body);
}

/* ---- what is chosen ---- */

let shownMeasure = null;
function showRange() {
	const left = 100 * state.from / B, right = 100 * state.to / B;
	shades[0].style.cssText = "left:0;width:" + left + "%";
	shades[1].style.cssText = "left:" + right + "%;right:0";
	for (const [which, share, b] of [["from", left, state.from], ["to", right, state.to]]) {
		handles[which].style.left = share + "%";
		handles[which].setAttribute("aria-valuenow", b);
		handles[which].setAttribute("aria-valuetext", c.moment(b) + " seconds");
	}
	fields[0].value = c.moment(state.from);
	fields[1].value = c.moment(state.to);
	whole.disabled = c.isWhole() && !state.threads;
	measure.value = state.measure.key;
	for (const [thread, button] of names)
		button.setAttribute("aria-pressed", String(!!state.threads && state.threads.has(thread)));
	rows.classList.toggle("tl-some", !!state.threads);
	said.textContent = (c.isWhole() ? "" : c.time((state.to - state.from) * data.bucket) + " of " +
		c.time(B * data.bucket)) + (state.threads ? (c.isWhole() ? "" : ", ") + c.threadWords() : "");
}

function show() {
	if (shownMeasure !== state.measure) {
		shownMeasure = state.measure;
		showRows();
	}
	showRange();
	if (!drag) showPieces();
}

const section = html("section", { id: "timeline", "aria-label": "Time line" }, bar,
	html("div", { class: "tl-body" }, html("div", { class: "tl-top" }, html("div", { class: "tl-legend",
		"aria-hidden": "true" }, ...[["tl-run", sampled ? data.event || onCPU : ""], ["tl-wait", lines.waiting.size ?
		"waiting" : ""], ["tl-calls", sampled ? "" : "in calls"], ["tl-lock", lines.locks.size ? "lock" : ""],
		["tl-thrown", lines.thrown.size ? "throw" : ""]].filter(l => l[1]).map(l => html("span", {},
		html("i", { class: l[0] }), l[1]))), axis), rows), details);
document.querySelector(".graph").before(section);
document.body.append(tip);
for (const h of Object.values(handles)) {
	h.addEventListener("pointermove", moveDrag);
	h.addEventListener("pointerup", event => endDrag(event, false));
	h.addEventListener("pointercancel", event => endDrag(event, true));
}
document.addEventListener("chosen", show);
addEventListener("resize", showAxis);
/* The range moves by its own length. */
document.addEventListener("keydown", event => {
	if (event.ctrlKey || event.metaKey || event.altKey ||
	    (event.target.closest && event.target.closest("input, select, textarea"))) return;
	const long = state.to - state.from, by = { "[": -long, "]": long }[event.key];
	if (!by || c.isWhole()) return;
	const from = c.within(state.from + by, 0, B - long);
	c.choose({ from, to: from + long });
	event.preventDefault();
});
found = c.search || null;
show();
showAxis();
c.recall();
section.dataset.ready = "1";
})();
