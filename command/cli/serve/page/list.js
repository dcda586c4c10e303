// The table of monitors: contended and oldest first. Rows are kept and changed in place.
import { duration, element, monitorLink, setText } from "./dom.js";

const most = 1000;
const names = ["", "Holder", "What for", "Class", "Held for", "Waiting", "Oldest wait", "Alert", "Token"];
const kept = new Map();  // id -> <tr>

function waiting(row) {
  return row.waiting.foreground + row.waiting.background;
}

function order(a, b) {
  return (waiting(b) > 0) - (waiting(a) > 0) || (b.oldest_wait_ms ?? -1) - (a.oldest_wait_ms ?? -1) ||
    Boolean(b.unreadable) - Boolean(a.unreadable) ||
    (b.holder?.held_ms ?? -1) - (a.holder?.held_ms ?? -1) || (a.monitor < b.monitor ? -1 : 1);
}

function matches(row, words) {
  const owner = row.holder?.owner;
  const text = [row.monitor, owner?.instance, owner?.lockInfo, row.holder?.priority].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function rowOf(id) {
  let made = kept.get(id);
  if (!made) {
    made = element("tr", {}, element("th", { scope: "row" }, monitorLink(id)),
      ...names.slice(1).map((name) => element("td", { "data-name": name })));
    made.dataset.monitor = id;
    kept.set(id, made);
  }
  return made;
}

function fill(made, row, since, age) {
  const holder = row.holder;
  const owner = holder?.owner;
  const texts = [
    row.unreadable ? `cannot be read: ${row.unreadable}` : holder ? owner?.instance ?? "a client without a record" : "free",
    owner?.lockInfo ?? "",
    holder ? holder.priority ?? "unknown" : "",
    holder ? duration(holder.held_ms + since) : "",
    waiting(row) === 0 ? "" : `${row.waiting.foreground} foreground, ${row.waiting.background} background`,
    row.oldest_wait_ms === null ? "" : duration(row.oldest_wait_ms + since),
    age !== null ? `seen ${duration(age)} ago` : holder?.overdue ? "overdue" : "",
    holder ? holder.token : "",
  ];
  texts.forEach((text, i) => setText(made.children[i + 1], text));
  made.children[7].className = holder?.overdue ? "alert" : "";
  made.classList.toggle("contended", waiting(row) > 0);
  made.classList.toggle("unreadable", Boolean(row.unreadable));
}

// `age`: how old the picture is, null if it is the present; then times go on, otherwise they stand still.
// `stale`: since when single rows are old, by id. `leftOut`: how many rows there are besides.
export function showList(rows, { filter, chosen, age, now, stale, leftOut }) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...rows.values()].filter((row) => matches(row, words)).sort(order);
  const shown = all.slice(0, most);
  const body = document.querySelector("#list tbody");
  const ids = new Set(shown.map((row) => row.monitor));
  for (const [id, made] of kept) {
    if (ids.has(id)) continue;
    made.remove();
    kept.delete(id);
  }
  shown.forEach((row, i) => {
    const made = rowOf(row.monitor);
    const since = age === null ? stale.get(row.monitor) : undefined;
    const rowAge = since === undefined ? age : Math.max(now - since, 0);
    fill(made, row, rowAge === null ? now - row.seen : 0, rowAge);
    made.classList.toggle("stale", since !== undefined);
    made.classList.toggle("chosen", row.monitor === chosen);
    if (body.children[i] !== made) body.insertBefore(made, body.children[i] ?? null);
  });
  const total = rows.size + leftOut;
  setText(document.getElementById("count"), rows.size === 0 ? "Nothing is held or waited for."
    : all.length > shown.length || leftOut > 0 ? `${shown.length} of ${words.length > 0 ? all.length : total}: filter to see others`
    : `${all.length} of ${rows.size}`);
}

// Moves the focus to the next row, or the one before.
export function moveFocus(step) {
  const links = [...document.querySelectorAll("#list tbody th a")];
  if (links.length === 0) return;
  const at = links.indexOf(document.activeElement);
  const to = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1);
  links[to].focus();
}
