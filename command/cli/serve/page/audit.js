// What was done by force, and who did it: for admins.
import { askRaw, tokenField } from "./acts.js";
import { copyButton, element, monitorLink } from "./dom.js";

const section = document.getElementById("audit");

function row(act) {
  const where = act.monitor ? monitorLink(act.monitor) : act.store ?? "";
  const names = ["At", "Act", "Where", "By", "Result", "Why"];
  return element("tr", {}, ...[act.at, act.action, where, act.by ?? "", act.result ?? "", act.reason ?? act.which ?? ""]
    .map((cell, i) => element("td", { "data-name": names[i] }, cell)));
}

export async function showAudit(parameters) {
  section.hidden = false;
  const token = tokenField();
  const title = element("h2", { id: "audit-title" }, "Done by force");
  const again = element("button", { type: "button" }, "show");
  again.addEventListener("click", () => showAudit(parameters));
  let parts;
  try {
    const old = section.querySelector("input");
    const json = await (await askRaw(`/api/audit?${parameters}`, {}, old)).json();
    const head = ["At", "Act", "Where", "By", "Result", "Why"].map((name) => element("th", { scope: "col" }, name));
    parts = [element("table", {}, element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...json.acts.map(row))),
    element("p", { class: "faint" }, json.acts.length === 0 ? "Nothing is on record."
      : json.more ? "There are older ones: forelock audit" : ""),
    element("p", { class: "more" }, element("a", { href: "/api/audit" }, "JSON"), " ", copyButton("forelock audit"))];
  } catch (problem) {
    parts = [element("p", { class: "alert" }, problem.message), element("p", {}, token, " ", again)];
  }
  section.replaceChildren(title, ...parts);
}

export function hideAudit() {
  section.hidden = true;
  section.replaceChildren();
}
