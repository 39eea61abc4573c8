/* SPDX-License-Identifier: MIT
 *
 * The table of functions is narrowed by the graph's search; a click on a name
 * searches for it.
 */
"use strict";
(function () {
const functions = document.querySelector("#functions");
for (const cell of functions.querySelectorAll("td.name")) {
	const button = document.createElement("button");
	button.type = "button";
	if (cell.title === cell.textContent) button.title = "Search for it";
	button.textContent = cell.textContent;
	button.addEventListener("click", () => {
		const exact = cell.title.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
		document.dispatchEvent(new CustomEvent("flamefind", { detail: "^" + exact + "$" }));
		window.scrollTo({ top: 0, behavior: "smooth" });
	});
	cell.replaceChildren(button);
}

document.addEventListener("flamesearch", event => {
	const test = event.detail || (() => true);
	for (const row of functions.tBodies[0].rows)
		row.hidden = !test(row.querySelector("td.name").title, row.dataset.image);
});
})();
