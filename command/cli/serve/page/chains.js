// The worst chain, the trees of waits, the rings.
import { duration, element, monitorLink, setText, showParts } from "./dom.js";

function joined(links) {
  return links.flatMap((link, i) => (i === 0 ? [link] : [", ", link]));
}

function partyLine(party) {
  const line = element("span", { class: "party" }, party.info ? `${party.info} (${party.who})` : party.who);
  if (party.holds.length > 0) {
    const oldest = Math.max(...party.holds.map((hold) => hold.held_ms));
    const shown = party.holds.slice(0, 5).map((hold) => monitorLink(hold.monitor));
    line.append(" holds ", ...joined(shown));
    if (party.holds.length > shown.length) line.append(` and ${party.holds.length - shown.length} more`);
    line.append(` for ${duration(oldest)}`);
  }
  if (party.waits.length > 0) {
    const first = party.waits[0];
    line.append(party.holds.length > 0 ? ", waits for " : " waits for ", monitorLink(first.monitor),
      ` for ${duration(first.waited_ms)}, place ${first.position}`);
    if (party.waits.length > 1) line.append(` (and ${party.waits.length - 1} more waits)`);
  }
  return line;
}

function branch(tree) {
  const item = element("li", { class: tree.in_ring ? "ring" : "" }, partyLine(tree));
  if (tree.blocked !== undefined)
    item.append(element("span", { class: "faint" },
      `: ${tree.blocked} blocked, the longest wait ${duration(tree.longest_wait_ms)}`));
  if (tree.repeated) item.append(element("span", { class: "faint" }, " (see above)"));
  if (tree.waiting.length > 0) item.append(element("ul", {}, ...tree.waiting.map(branch)));
  if (tree.left_out) item.append(element("p", { class: "faint" }, `and ${tree.left_out} more`));
  return item;
}

export function showChains(chains) {
  const banner = document.getElementById("rings");
  const text = chains.rings.map((ring) => ring.sentence).join("\n");
  if (banner.dataset.text !== text) {  // told once, not with every look
    banner.dataset.text = text;
    banner.replaceChildren(...chains.rings.map((ring) => element("p", {}, `Deadlock? ${ring.sentence}.`)));
  }
  setText(document.getElementById("worst"), chains.worst ? `${chains.worst}.` : "Nothing waits.");
  showParts(document.getElementById("trees"), chains.trees.map(branch));
}
