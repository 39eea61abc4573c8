/* SPDX-License-Identifier: MIT
 *
 * What is looked at: a range of time, threads, a weight; and the sums of it, by node of the
 * tree of stacks. The file holds cells of (thread, bucket of time, node); all views are made
 * of those that are chosen. Who draws listens for "chosen" at the document.
 */
"use strict";
window.cprof = (function () {
const at = document.getElementById("timeline-data");
if (!at) return null;
const data = JSON.parse(at.textContent);
const N = data.nodes.length / 2, B = data.buckets, LABELS = data.labels.length;
const PROCESS = 1, SMALL = 4, FUNCTION = 5;

/* ---- nodes ---- */

const parent = new Int32Array(N), label = new Int32Array(N), flags = new Uint8Array(N);
for (let i = 0; i < N; i++) {
	parent[i] = i - data.nodes[2 * i];
	label[i] = data.nodes[2 * i + 1] >> 2;
	flags[i] = data.nodes[2 * i + 1] & 3;
}
/* Is it the outermost one of its label? What stands on itself counts once. */
const outermost = new Uint8Array(N);
for (let i = 0; i < N; i++) {
	let up = i;
	do up = up ? parent[up] : -1;
	while (up >= 0 && label[up] !== label[i]);
	outermost[i] = up < 0;
}
const children = (function () {
	const first = new Int32Array(N).fill(-1), next = new Int32Array(N).fill(-1);
	for (let i = N - 1; i > 0; i--) {
		next[i] = first[parent[i]];
		first[parent[i]] = i;
	}
	return { first, next };
})();

/* ---- series ---- */

/* Cells of a thread: places [from, to) of the arrays, by bucket. */
function decode(raw) {
	const flat = raw.cells, threads = new Map();
	let count = 0;
	for (let k = 0; k < flat.length; k += 2 + 4 * flat[k + 1]) count += flat[k + 1];
	const s = { bucket: new Int32Array(count), node: new Int32Array(count),
		weight: new Float64Array(count), ticks: new Float64Array(count), threads,
		own: label.slice() };
	for (let k = 0, n = 0; k < flat.length;) {
		const thread = flat[k], many = flat[k + 1];
		threads.set(thread, [n, n + many]);
		for (k += 2; n < threads.get(thread)[1]; n++, k += 4) {
			s.bucket[n] = flat[k] + (n > threads.get(thread)[0] ? s.bucket[n - 1] : 0);
			s.node[n] = flat[k + 1];
			s.weight[n] = flat[k + 2];
			s.ticks[n] = flat[k + 3];
		}
	}
	for (let k = 0; k < raw.own.length; k += 2) s.own[raw.own[k]] = raw.own[k + 1];
	return s;
}
const series = {};
for (const name in data.series) series[name] = decode(data.series[name]);
data.series = data.nodes = null;

/* The first place of a thread's that is in or after a bucket. */
function placeOf(s, [low, high], bucket) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (s.bucket[middle] < bucket) low = middle + 1;
		else high = middle;
	}
	return low;
}

/* Calls each(place) for the cells of a thread (null: of the chosen) in buckets [from, to). */
function eachCell(s, thread, from, to, each) {
	for (const [t, range] of s.threads) {
		if (thread === null ? state.threads && !state.threads.has(t) : t !== thread) continue;
		const end = placeOf(s, range, to);
		for (let k = placeOf(s, range, from); k < end; k++) each(k, t);
	}
}

/* ---- weights ---- */

const wall = data.clock === "wall";
const all = [
	data.event ? { key: "time", name: data.event[0].toUpperCase() + data.event.slice(1), of: data.event,
		whole: "of the " + data.event, unit: "count", ticks: "samples", parts: [["running", 1]] } :
	{ key: "time", name: wall ? "Elapsed time" : "CPU time", of: wall ? "of elapsed time" :
		"of CPU time", whole: "of the time", unit: "ns", ticks: "samples",
	parts: [["running", 1], ["waiting", 1]] },
	{ key: "run", name: "Time on a CPU", of: "on a CPU", whole: "of the time on a CPU", unit: "ns",
		ticks: "samples", parts: [["running", 1]], needs: "waiting" },
	{ key: "wait", name: "Time waiting", of: "waiting", whole: "of the time waiting", unit: "ns",
		ticks: "samples", parts: [["waiting", 1]] },
	{ key: "calltime", name: "Time in traced calls", of: "in traced calls", whole: "of the time",
		unit: "ns", ticks: "calls", parts: [["calls", 1]] },
	{ key: "calls", name: "Calls", of: "calls", whole: "of the calls", unit: "count",
		ticks: "calls", parts: [["calls", 1]], counts: true },
	{ key: "bytes", name: "Allocated bytes", of: "allocated", whole: "of the bytes",
		unit: "bytes", ticks: "allocations", parts: [["allocated", 1]] },
	{ key: "allocs", name: "Allocations", of: "allocations", whole: "of the allocations",
		unit: "count", ticks: "allocations", parts: [["allocated", 1]], counts: true },
	{ key: "live", name: "Live bytes at the end of the range", of: "not freed",
		whole: "of what was not freed", unit: "bytes", ticks: "blocks", since: true,
		parts: [["allocated", 1], ["freed", -1]] },
	{ key: "locks", name: "Waits for locks", of: "waiting for locks", whole: "of the waiting",
		unit: "ns", ticks: "waits", parts: [["locks", 1]] },
	{ key: "thrown", name: "Exceptions", of: "exceptions thrown", whole: "of the exceptions",
		unit: "count", ticks: "exceptions", parts: [["thrown", 1]] },
	{ key: "spans", name: "Announced spans", of: "in announced spans", whole: "of the spans",
		unit: "ns", ticks: "spans", parts: [["spans", 1]] },
];
/* What is left of sampled allocations is not known. */
const measures = all.filter(m => series[m.parts[0][0]] || (m.key === "time" && series.waiting))
	.filter(m => !m.needs || series[m.needs]).filter(m => m.key !== "live" || !data.live_unknown);
const usual = measures.find(m => m.key === data.usual) || measures[0];

/* ---- what is chosen ---- */

const state = { from: 0, to: B, threads: null, measure: usual };
const isWhole = () => state.from === 0 && state.to === B;
const isUsual = () => isWhole() && !state.threads && state.measure === usual;

/* By node: weight and ticks of its own, and with all above it. By label: likewise. */
function addUp(measure, from, to) {
	const own = new Float64Array(N), ownTicks = new Float64Array(N);
	const self = new Float64Array(LABELS), selfTicks = new Float64Array(LABELS);
	for (const [name, sign] of measure.parts) {
		const s = series[name];
		if (!s) continue;
		const values = measure.counts ? s.ticks : s.weight;
		eachCell(s, null, measure.since ? 0 : from, to, k => {
			const n = s.node[k], v = sign * values[k], c = sign * s.ticks[k];
			own[n] += v;
			ownTicks[n] += c;
			self[s.own[n]] += v;
			selfTicks[s.own[n]] += c;
		});
	}
	const total = own.slice(), ticks = ownTicks.slice(), all = new Float64Array(LABELS);
	for (let i = N - 1; i > 0; i--) {
		total[parent[i]] += total[i];
		ticks[parent[i]] += ticks[i];
	}
	for (let i = 0; i < N; i++) if (outermost[i]) all[label[i]] += total[i];
	return { measure, own, total, ticks, self, selfTicks, all };
}

let sums = null; /* made when somebody asks */
const chosen = () => sums || (sums = addUp(state.measure, state.from, state.to));

/* ---- words ---- */

function time(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
	const [unit, scale] = units.find(u => Math.abs(ns) >= u[1] * 0.9995) || units[3];
	const v = ns / scale, a = Math.abs(v);
	return v.toFixed(scale === 1 || a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2) + " " + unit;
}
function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; v >= 1023.5 && i + 1 < units.length; i++) v /= 1024;
	return v.toFixed(!i || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + " " + units[i];
}
const amounts = { ns: time, bytes, count: v => v.toLocaleString("en") };
function percent(part, whole) {
	const p = whole ? 100 * part / whole : 0;
	return (p > 0 && p < 0.095 ? Math.max(p, 0.01).toFixed(2) : p.toFixed(1)) + "%";
}
/* A moment of the recording, as exact as a bucket is wide. */
function moment(bucket) {
	const ns = data.from + bucket * data.bucket;
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(data.bucket / 1e9))));
	return (ns / 1e9).toFixed(digits);
}
function rangeWords() {
	return moment(state.from) + " s to " + moment(state.to) + " s, " +
		time((state.to - state.from) * data.bucket);
}
function threadWords() {
	if (!state.threads) return "";
	const names = [...state.threads].map(t => data.threads[t][0]);
	return names.length === 1 ? names[0] : names.length + " threads";
}

/* ---- the address ---- */

/* Words of the address are shared with the graph: who does not know one leaves it. */
const MINE = ["r", "t", "w"];
function words() {
	return new Map(location.hash.slice(1).split("&").filter(Boolean).map(w => {
		const k = w.indexOf("=");
		return [w.slice(0, k), w.slice(k + 1)];
	}));
}

function remember() {
	const kept = words();
	for (const key of MINE) kept.delete(key);
	kept.delete("z"); /* a frame of another graph */
	if (!isWhole()) kept.set("r", data.from + state.from * data.bucket + "-" +
		(data.from + state.to * data.bucket));
	if (state.threads) kept.set("t", [...state.threads].join("."));
	if (state.measure !== usual) kept.set("w", state.measure.key);
	const hash = "#" + [...kept].map(([k, v]) => k + "=" + v).join("&");
	if (hash === (location.hash || "#")) return;
	try {
		history.pushState(null, "", hash);
	} catch (e) {
		/* not everywhere allowed */
	}
}

function tell() {
	sums = null;
	document.dispatchEvent(new CustomEvent("chosen"));
}

const bucketOf = ns => Math.round((Number(ns) - data.from) / data.bucket);
const within = (v, low, high) => Math.min(Math.max(v, low), high);

function recall() {
	const said = words(), [from, to] = (said.get("r") || "").split("-").map(bucketOf);
	const threads = (said.get("t") || "").split(".").filter(Boolean).map(Number)
		.filter(t => data.threads[t]);
	const before = JSON.stringify([state.from, state.to, state.measure.key,
		state.threads && [...state.threads]]);
	state.from = from >= 0 && from < to ? within(from, 0, B - 1) : 0;
	state.to = from >= 0 && from < to ? within(to, state.from + 1, B) : B;
	state.threads = threads.length ? new Set(threads) : null;
	state.measure = measures.find(m => m.key === said.get("w")) || usual;
	if (JSON.stringify([state.from, state.to, state.measure.key,
		state.threads && [...state.threads]]) !== before) tell();
}

/* Chooses: { from, to, threads, measure }, of which what is missing stays. `for_now`: while
 * the mouse moves. */
function choose(change, for_now) {
	Object.assign(state, change);
	state.from = within(Math.round(state.from), 0, B - 1);
	state.to = within(Math.round(state.to), state.from + 1, B);
	if (state.threads && !state.threads.size) state.threads = null;
	if (!for_now) remember();
	tell();
}

/* Of a table; by `value` it is sorted. */
function cell(kind, text, value) {
	const td = document.createElement("td");
	td.className = kind;
	td.textContent = text;
	if (value !== undefined) td.dataset.v = value;
	return td;
}

addEventListener("hashchange", recall);
return { data, parent, label, flags, children, series, measures, state, usual, FUNCTION, PROCESS, SMALL,
	isWhole, isUsual, chosen, choose, addUp, eachCell, time, bytes, amounts, percent, moment,
	rangeWords, threadWords, recall, within, cell };
})();
