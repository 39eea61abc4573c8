/* SPDX-License-Identifier: MIT
 *
 * How long calls of each function took, of those that are chosen: a histogram and what
 * shares of them do not exceed.
 */
"use strict";
(function () {
const c = window.cprof, table = document.querySelector("#durations");
if (!c || !table) return;
const SVG = "http://www.w3.org/2000/svg", s = c.series.durations, cell = c.cell;
const MOST = 1000; /* rows */
const GROUP = 8; /* buckets of a bar: half an octave */

/* The least duration of a bucket: they are a sixteenth of an octave, as base/spread.h has
 * them by two. */
function least(bucket) {
	const b = bucket * 2;
	if (b < 64) return b;
	const shift = Math.floor(b / 32) - 1;
	return (b - shift * 32) * 2 ** shift;
}
const most = bucket => least(bucket + 1) - 1;
/* As a whole it is told by its middle. */
const middle = bucket => (least(bucket) + most(bucket)) / 2;

/* By label: how many calls are in each bucket. */
function count() {
	const all = new Map();
	c.eachCell(s, null, c.state.from, c.state.to, k => {
		const label = s.node[k] >> 10, bucket = s.node[k] & 1023;
		if (!all.has(label)) all.set(label, { label, calls: 0, together: 0, buckets: new Map() });
		const f = all.get(label);
		f.calls += s.weight[k];
		f.together += s.weight[k] * middle(bucket);
		f.buckets.set(bucket, (f.buckets.get(bucket) || 0) + s.weight[k]);
	});
	for (const f of all.values()) f.buckets = [...f.buckets].sort((x, y) => x[0] - y[0]);
	return [...all.values()].sort((x, y) => y.together - x.together);
}

/* The nearest rank. */
function quantile(f, share) {
	let left = Math.max(1, Math.ceil(share * f.calls - 1e-9));
	for (const [bucket, n] of f.buckets) {
		left -= n;
		if (left <= 0) return middle(bucket);
	}
	return 0;
}

function draw(tag, attributes) {
	const e = document.createElementNS(SVG, tag);
	for (const key in attributes) e.setAttribute(key, attributes[key]);
	return e;
}

/* Bars from `low` to `high`, which all rows have in common; the median is marked. */
function histogram(f, low, high, words) {
	const bars = new Map(), wide = high - low + 1;
	for (const [bucket, n] of f.buckets) {
		const bar = Math.floor(bucket / GROUP);
		bars.set(bar, (bars.get(bar) || 0) + n);
	}
	const tallest = Math.max(...bars.values());
	let d = "";
	for (const [bar, n] of bars)
		d += "M" + (bar - low + 0.04) + " 25v" + -Math.max(1, 23 * n / tallest).toFixed(1) + "h0.92V25z";
	const svg = draw("svg", { class: "histogram", viewBox: "0 0 " + wide + " 26", role: "img",
		preserveAspectRatio: "none", "aria-label": words });
	svg.append(draw("path", { d }), draw("line", { class: "ground", x1: 0, x2: wide, y1: 25.5, y2: 25.5 }));
	return svg;
}

function row(f, low, high) {
	const tr = document.createElement("tr"), label = c.data.labels[f.label];
	const shares = [0.5, 0.9, 0.99, 0.999].map(p => quantile(f, p));
	const greatest = most(f.buckets[f.buckets.length - 1][0]);
	const name = cell("name", ""), button = document.createElement("button"), picture = document.createElement("td");
	button.type = "button";
	button.textContent = label[5] || label[0];
	button.title = label[0];
	button.addEventListener("click", () => document.dispatchEvent(new CustomEvent("flamefind",
		{ detail: "^" + label[0].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") + "$" })));
	name.append(button);
	picture.append(histogram(f, low, high, "half take " + c.time(shares[0]) + " or less, 99 % " +
		c.time(shares[2])));
	tr.append(cell("n", c.time(f.together), f.together), cell("n", f.calls.toLocaleString("en"), f.calls),
		...shares.map(v => cell("n", c.time(v), v)), cell("n", c.time(greatest), greatest), picture, name);
	return tr;
}

function show() {
	const all = count().slice(0, MOST), groups = all.flatMap(f => [f.buckets[0][0],
		f.buckets[f.buckets.length - 1][0]]).map(b => Math.floor(b / GROUP));
	const low = groups.reduce((x, y) => Math.min(x, y), Infinity);
	const high = groups.reduce((x, y) => Math.max(x, y), 0);
	table.tBodies[0].replaceChildren(...all.map(f => row(f, low, high)));
	table.tHead.rows[0].cells[7].textContent = all.length ? c.time(least(low * GROUP)) + " … " +
		c.time(most((high + 1) * GROUP - 1)) : "";
	table.dispatchEvent(new Event("resort"));
}

show();
document.addEventListener("shown", show);
})();
