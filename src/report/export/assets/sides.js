/* SPDX-License-Identifier: MIT
 *
 * Of two recordings compared: which one lays out the graph. What is gone is only in the
 * older one, what is new only in the other.
 */
"use strict";
(function () {
const older = Object.assign(JSON.parse(document.getElementById("flame-older").textContent), { reversed: true });
let shown = false; /* the older one */

const said = document.createElement("span"), box = document.createElement("div");
box.className = "flame-ui sides";
box.setAttribute("role", "group");
box.setAttribute("aria-label", "Which recording lays out the graph");
const buttons = [["new", "New", false], ["old", "Old", true]].map(([id, text, is]) => {
	const button = document.createElement("button");
	button.type = "button";
	button.id = "side-" + id;
	button.textContent = text;
	button.addEventListener("click", () => show(is, true));
	return [button, is];
});
said.textContent = "Frames are as wide as in ";
box.append(said, ...buttons.map(b => b[0]));
document.querySelector(".graph").before(box);

function words() {
	return location.hash.slice(1).split("&").filter(w => w && w !== "o=1" && !w.startsWith("z="));
}

function show(is, step) {
	const changed = is !== shown;
	shown = is;
	for (const [button, mine] of buttons) button.setAttribute("aria-pressed", String(mine === is));
	if (!changed) return;
	if (step) {
		try {
			history.pushState(null, "", "#" + words().concat(is ? ["o=1"] : []).join("&"));
		} catch (e) {
			/* not everywhere allowed */
		}
	}
	document.dispatchEvent(new CustomEvent("flamedata", { detail: is ? older : null }));
}
const recall = () => show(location.hash.slice(1).split("&").includes("o=1"));
addEventListener("hashchange", recall);
show(false);
recall();
})();
