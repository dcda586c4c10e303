// One monitor: its holder, the queue, and what a release would change.
import { prioritizeButton, releaseButton } from "./acts.js";
import { argument, copyButton, duration, element, monitorLink, showParts } from "./dom.js";

function named(owner) {
  if (!owner) return "a client without a record";
  return owner.lockInfo ? `${owner.lockInfo} (${owner.instance})` : owner.instance;
}

function listed(ids) {
  const most = 5;
  const parts = ids.slice(0, most).flatMap((id, i) => (i === 0 ? [monitorLink(id)] : [", ", monitorLink(id)]));
  return ids.length > most ? [...parts, ` and ${ids.length - most} more`] : parts;
}

// `key`: whose it is, so that it stays open when all is shown anew.
function stackPart(key, title, owner) {
  const stack = owner?.stack ?? [];
  if (stack.length === 0) return "";
  return element("details", { "data-key": key }, element("summary", {}, title), element("pre", {}, stack.join("\n")));
}

function holderPart(holder) {
  if (!holder) return element("p", {}, "It is free.");
  const what = `Held by ${named(holder.owner)}, ${holder.priority ?? "class unknown"}`;
  const part = element("div", {},
    element("p", {}, `${what}, for ${duration(holder.held_ms)}, token ${holder.token}`));
  if (holder.overdue) part.append(element("p", { class: "alert" }, "Overdue: held for longer than it has said."));
  part.append(stackPart("holder", "where it was taken", holder.owner));
  return part;
}

function releasePart(view) {
  if (!view.holder) return "";
  const after = view.if_released;
  const part = element("p", { id: "if-released", "data-key": "if-released" }, "If this is released: ");
  if (after.next) {
    part.append(`${after.next.info ? `${after.next.info} (${after.next.who})` : after.next.who} is next, `,
      after.moving_up === 1 ? "the only one that waits." : `${after.moving_up} move up.`);
  } else {
    part.append("none waits for it.");
  }
  part.append(" The holder learns it at once, with the reason; without a connection, when its session is over.");
  if (after.kept.length > 0)
    part.append(" The holder keeps ", ...listed(after.kept), ".");
  if (after.needed.length > 0)
    part.append(" The next one also waits for ", ...listed(after.needed), ".");
  return part;
}

// What its other threads do: they keep that, too.
function processPart(view) {
  const kept = new Set(view.if_released.kept);
  const holds = view.same_process?.holds.filter((id) => !kept.has(id)) ?? [];
  const waits = view.same_process?.waits ?? [];
  if (holds.length + waits.length === 0) return "";
  const part = element("p", { id: "same-process", "data-key": "same-process" }, "Its process also ");
  if (holds.length > 0) part.append("holds ", ...listed(holds));
  if (waits.length > 0) part.append(holds.length > 0 ? ", and waits for " : "waits for ", ...listed(waits));
  part.append(view.same_process.left_out > 0 ? `; ${view.same_process.left_out} more are not shown.` : ".");
  return part;
}

function waiterRow(id, waiter) {
  return element("tr", { "data-key": waiter.node },
    element("td", { "data-name": "#" }, String(waiter.position)),
    element("td", { "data-name": "Who" }, named(waiter.owner), stackPart(waiter.node, "where it waits", waiter.owner)),
    element("td", { "data-name": "Class" }, waiter.priority ?? "unknown"),
    element("td", { "data-name": "Waits for" }, duration(waiter.waited_ms)),
    element("td", { "data-name": "Expected" },
      waiter.expected_wait_ms === undefined ? "–" : `about ${duration(waiter.expected_wait_ms)}`),
    element("td", { "data-name": "Behind" }, waiter.behind === "privateLock" ? "the holder" : waiter.behind, " ",
      prioritizeButton(id, waiter)));
}

export const mostWaiters = 200;  // that are shown

function queuePart(id, queue, leftOut) {
  if (queue.length === 0) return element("p", { class: "faint" }, "No waiters.");
  const head = element("thead", {}, element("tr", {},
    ...["#", "Who", "Class", "Waits for", "Expected", "Behind"].map((name) => element("th", { scope: "col" }, name))));
  return element("div", { "data-key": "queue" },
    element("table", {}, element("caption", { class: "hidden" }, "The queue, in the order of service"), head,
      element("tbody", {}, ...queue.map((waiter) => waiterRow(id, waiter)))),
    leftOut > 0 ? element("p", { class: "faint" }, `and ${leftOut} more`) : "");
}

// It may have changed, and has not been read again, though others have.
function agePart(view) {
  if (view.live !== false) return "";
  return element("p", { id: "detail-age", class: "alert", "data-key": "age" },
    `Not live: as it was ${duration(view.age_ms)} ago.`);
}

export function showDetail(id, view, problem) {
  const section = document.getElementById("detail");
  section.hidden = id === null;
  section.classList.toggle("stale", view?.live === false);
  if (id === null) return;
  const parts = [element("h2", { id: "detail-title" }, id)];
  if (view) parts.push(agePart(view), holderPart(view.holder), releasePart(view), processPart(view), queuePart(id, view.queue, view.left_out));
  else parts.push(element("p", {}, problem ?? "…"));
  parts.push(element("p", { class: "more", "data-key": "more" },
    element("a", { href: `/api/monitors/${encodeURIComponent(id)}` }, "JSON"), " ",
    copyButton(`forelock show ${argument(id)}`), " ", releaseButton(id, view?.holder), " ", element("a", { href: "/", "data-view": "" }, "close")));
  showParts(section, parts);
}
