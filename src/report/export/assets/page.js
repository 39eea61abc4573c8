/* SPDX-License-Identifier: MIT
 *
 * The table of functions and the graph follow what is chosen; the table is narrowed by the
 * graph's search, too, and a click on a name searches for it.
 */
"use strict";
(function () {
const functions = document.querySelector("#functions"), body = functions.tBodies[0];
let test = () => true;

function addButton(cell) {
	const button = document.createElement("button");
	button.type = "button";
	if (cell.title === cell.textContent) button.title = "Search for it";
	button.textContent = cell.textContent;
	button.addEventListener("click", () => {
		const exact = cell.title.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
		document.dispatchEvent(new CustomEvent("flamefind", { detail: "^" + exact + "$" }));
		document.dispatchEvent(new CustomEvent("flamepick", { detail: cell.title })); /* its source */
		window.scrollTo({ top: 0, behavior: "smooth" });
	});
	cell.replaceChildren(button);
}
for (const cell of functions.querySelectorAll("td.name")) addButton(cell);

/* Where its lines are in the page, the place leads there. */
function addOpener(row) {
	const listed = window.cprof && window.cprof.listed, place = row.cells[8];
	const name = row.querySelector("td.name").title;
	if (!listed || !listed.has(name) || place.querySelector("button")) return;
	const button = document.createElement("button");
	button.type = "button";
	button.className = "li-open";
	button.title = "Its source lines and instructions";
	button.textContent = place.textContent || "instructions";
	button.addEventListener("click", () => listed.open(name));
	place.replaceChildren(button);
}
document.addEventListener("listed", () => { for (const row of body.rows) addOpener(row); });

function narrow() {
	for (const row of body.rows)
		row.hidden = !test(row.querySelector("td.name").title, row.dataset.image);
}
document.addEventListener("flamesearch", event => {
	test = event.detail || (() => true);
	if (window.cprof) window.cprof.search = event.detail;
	narrow();
});

/* ---- what is chosen ---- */

const c = window.cprof;
if (!c) return;
const ROWS = 2000; /* of a range; all are there when nothing is chosen */
const SVG = "http://www.w3.org/2000/svg";
const still = [...body.rows], images = JSON.parse(document.getElementById("flame-data").textContent)
	.images.map(i => i[0]);
c.images = images;
const made = new Map(), cell = c.cell;

function barCell() {
	const td = document.createElement("td"), span = document.createElement("span");
	const svg = document.createElementNS(SVG, "svg"), rect = document.createElementNS(SVG, "rect");
	span.className = "share";
	rect.setAttribute("height", "100%");
	svg.append(rect);
	span.append(svg);
	td.append(span);
	return td;
}

function rowOf(l) {
	let row = made.get(l);
	if (row) return row;
	const [name, image, file, line, , brief] = c.data.labels[l];
	row = document.createElement("tr");
	row.dataset.image = images[image] || "";
	const named = cell("name", brief || name);
	named.title = name;
	addButton(named);
	row.append(cell("n", ""), barCell(), cell("n", ""), cell("n", ""), cell("n", ""), cell("n", ""),
		named, cell("soft", images[image] || ""), cell("soft", file.slice(file.lastIndexOf("/") + 1) +
		(file && line ? ":" + line : "")));
	addOpener(row);
	made.set(l, row);
	return row;
}

function set(td, text, value) {
	td.textContent = text;
	td.dataset.v = value;
}

function showFunctions() {
	const s = c.chosen(), amount = c.amounts[s.measure.unit], whole = s.total[0];
	const shown = [...c.data.labels.keys()].filter(l => (c.data.labels[l][6] >= c.SMALL) &&
		(s.all[l] > 0 || s.self[l] > 0)).sort((x, y) => s.self[y] - s.self[x] || s.all[y] - s.all[x])
		.slice(0, ROWS);
	const most = shown.length ? s.self[shown[0]] : 0;
	body.replaceChildren(...shown.map(l => {
		const row = rowOf(l), cells = row.cells;
		set(cells[0], c.percent(s.self[l], whole), s.self[l]);
		cells[1].querySelector("rect").setAttribute("width", 100 * s.self[l] / (most || 1) + "%");
		set(cells[2], amount(s.self[l]), s.self[l]);
		set(cells[3], c.percent(s.all[l], whole), s.all[l]);
		set(cells[4], amount(s.all[l]), s.all[l]);
		set(cells[5], s.selfTicks[l].toLocaleString("en"), s.selfTicks[l]);
		return row;
	}));
	/* As it was sorted before. */
	const head = functions.querySelector("th[aria-sort]"), first = functions.tHead.rows[0].cells[0];
	if (head && (head !== first || head.getAttribute("aria-sort") !== "descending"))
		functions.dispatchEvent(new Event("resort"));
}

const headings = [...functions.tHead.rows[0].cells], unitHeads = [headings[2], headings[4]];
const stillHead = unitHeads[0].textContent;
const headOf = { ns: "time", bytes: "bytes", count: "number" };

function showTable() {
	if (c.isUsual()) body.replaceChildren(...still);
	else showFunctions();
	for (const head of unitHeads)
		(head.querySelector("button") || head).textContent = c.isUsual() ? stillHead :
			headOf[c.state.measure.unit];
	narrow();
}

/* ---- the graph ---- */

const WIDEST = 24000, MOST = 50000;

/* Nodes as flame.js has them, the biggest child first, without those that nobody can see. */
function flameNodes(s, least) {
	const nodes = [], stack = [0], depths = [0];
	while (stack.length) {
		const n = stack.pop(), depth = depths.pop();
		nodes.push(depth, c.label[n], s.total[n], Math.max(s.own[n], 0), s.ticks[n], c.flags[n]);
		const below = [];
		for (let k = c.children.first[n]; k >= 0; k = c.children.next[k])
			if (s.total[k] > 0 && s.total[k] >= least) below.push(k);
		below.sort((x, y) => s.total[x] - s.total[y]);
		for (const k of below) {
			stack.push(k);
			depths.push(depth + 1);
		}
	}
	return nodes;
}

function showGraph() {
	if (c.isUsual()) {
		document.dispatchEvent(new CustomEvent("flamedata", { detail: null }));
		return;
	}
	const s = c.chosen(), m = s.measure, amount = c.amounts[m.unit];
	let least = s.total[0] / WIDEST, nodes = flameNodes(s, least);
	while (nodes.length > 6 * MOST) nodes = flameNodes(s, least *= 1.5);
	const perImage = images.map(() => 0);
	c.data.labels.forEach((l, k) => { if (l[1] >= 0) perImage[l[1]] += s.self[k]; });
	const ticks = s.ticks[0].toLocaleString("en") + " " + m.ticks;
	const note = [m.unit === "count" ? ticks : amount(Math.max(s.total[0], 0)) + " " + m.of,
		(m.since ? "at " + c.moment(c.state.to) + " s" : c.rangeWords())];
	if (c.state.threads) note.push(c.threadWords());
	if (m.unit !== "count") note.push(ticks);
	document.dispatchEvent(new CustomEvent("flamedata", { detail: { nodes, functions: c.data.labels,
		perImage, unit: m.unit, whole: m.whole, ticks: m.ticks, total: Math.max(s.total[0], 0),
		note: note.join("  ·  ") } }));
}

let waiting = 0;
document.addEventListener("chosen", () => {
	/* While the mouse moves, not more often than can be drawn. */
	cancelAnimationFrame(waiting);
	waiting = requestAnimationFrame(show);
});
function show() {
	waiting = 0;
	showGraph();
	showTable();
	document.dispatchEvent(new CustomEvent("shown"));
}
/* At once, for who needs it drawn. */
document.addEventListener("showchosen", () => {
	cancelAnimationFrame(waiting);
	show();
});
})();
