// The past of a monitor: a bar for each hold and each wait, and who held it at a moment.
import { curlButton, duration, element } from "./dom.js";

const spans = { "15m": 900e3, "1h": 3600e3, "24h": 86400e3, "7d": 604800e3 };
const width = 1000;  // of the drawing, in its own units
const lane = 14;
const mostLanes = 14;
const ends = { granted: "then it got the lock", forced: "taken away by force", unlocked: "freed by the unlocker",
  unseen: "ended while there was no look" };
let kept = null;  // what is shown: drawn anew only when something has changed
let waiting = null;  // the question that is under way
let last = { asked: null, at: 0 };

function shape(name, properties, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function time(text) {
  return new Date(text).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });
}

// Times are the browser's, and say so: those of logs are UTC, as a rule.
function zone() {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts(new Date());
  return parts.find((part) => part.type === "timeZoneName").value;
}

function who(stay) {
  const name = stay.who ?? "a client without a record";
  return stay.info ? `${stay.info} (${name})` : name;
}

// One that lasts may have ended since it could not be read any more.
function seenUntil(stay, now) {
  const last = stay.to ?? stay.unseen_since;
  return last ? Date.parse(last) : now;
}

function sentence(stay) {
  const verb = stay.kind === "hold" ? "held it" : "waited";
  const length = seenUntil(stay, Date.now()) - Date.parse(stay.from);
  const end = stay.unseen_since ? `and may go on: it could not be read since ${time(stay.unseen_since)}`
    : stay.to === null ? "and goes on" : `until ${time(stay.to)}${ends[stay.outcome] ? `, ${ends[stay.outcome]}` : ""}`;
  return `${who(stay)}, ${stay.priority ?? "class unknown"}, ${verb} for ${duration(length)}: ` +
    `from ${time(stay.from)} ${end}${stay.reason ? ` (${stay.reason})` : ""}`;
}

// Holds in the first lane, since they do not overlap; each wait in the first lane that is free by then.
function placed(stays, end) {
  const freeFrom = [];
  const bars = [];
  let leftOut = 0;
  for (const stay of [...stays].reverse()) {
    const from = Date.parse(stay.from);
    const to = seenUntil(stay, end);
    if (stay.kind === "hold") {
      bars.push({ stay, from, to, lane: 0 });
      continue;
    }
    let row = freeFrom.findIndex((free) => free <= from);
    if (row < 0) row = freeFrom.length;
    if (row >= mostLanes) { leftOut += 1; continue; }
    freeFrom[row] = to;
    bars.push({ stay, from, to, lane: row + 1 });
  }
  return { bars, lanes: freeFrom.length + 1, leftOut };
}

function drawing(past) {
  const begin = Date.parse(past.from);
  const end = Date.parse(past.to);
  const { bars, lanes, leftOut } = placed(past.stays, end);
  const x = (at) => Math.min(Math.max((at - begin) / (end - begin), 0), 1) * width;
  const height = lanes * lane + 4;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "bars",
    height, role: "img", "aria-label": `${bars.length} holds and waits; as a list below` });
  for (const watch of past.watched) {
    const from = x(Date.parse(watch.from));
    svg.append(shape("rect", { class: "watched", x: from, y: 0, width: x(Date.parse(watch.to)) - from, height }));
  }
  for (const { stay, from, to, lane: row } of bars) {
    svg.append(shape("rect", { class: `${stay.kind} ${stay.priority ?? "unknown"} ${stay.outcome ?? ""}`,
      x: x(from), y: row * lane + 2, width: Math.max(x(to) - x(from), 1.5), height: lane - 3 },
    shape("title", {}, sentence(stay))));
  }
  return element("div", {}, svg,
    element("p", { class: "scale" }, element("span", {}, time(past.from)), element("span", {}, time(past.to))),
    element("p", { class: "faint" }, "The first line: holds; below it waits. Where the ground is blank, there was no look.",
      leftOut > 0 ? ` ${leftOut} waits do not fit.` : "", past.more ? " The newest 500 are shown." : ""));
}

const plotHeight = 60;

const barsHeight = 30;

// A bar for each part of the time; classes stand on each other.
function countPlot(id, past, title, classes, countOf) {
  const total = (part) => classes.reduce((sum, name) => sum + countOf(part, name), 0);
  const most = Math.max(...past.waits.map(total));
  if (most === 0) return "";
  const step = width / past.waits.length;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${barsHeight}`, preserveAspectRatio: "none", class: "plot counts",
    height: barsHeight, role: "img", "aria-label": `${title}; as a table below` });
  past.waits.forEach((part, i) => {
    let y = barsHeight;
    for (const name of classes) {
      const height = (countOf(part, name) / most) * (barsHeight - 2);
      y -= height;
      if (height > 0) svg.append(shape("rect", { class: name, x: i * step, y, width: Math.max(step - 1, 1), height }));
    }
  });
  return element("div", { id }, svg, element("p", { class: "faint" }, `${title}: ${past.waits.reduce((sum, part) =>
    sum + total(part), 0)} in all, at most ${most} at a time.`));
}

const grantClasses = ["foreground", "background", "unknown"];
const grantsOf = (part, name) => part.grants[name];
const takenOf = (part) => part.taken_away;

// How long those waited that got it: a line for the median, a thinner one for what 99 of 100 waited at most.
function waitsPlot(past) {
  const known = past.waits.filter((part) => part.foreground || part.background);
  if (known.length === 0) return "";
  const classes = ["foreground", "background"].filter((name) => known.some((part) => part[name]));
  const most = Math.max(1, ...known.flatMap((part) => classes.map((name) => part[name]?.p99_ms ?? 0)));
  const step = width / past.waits.length;
  const y = (ms) => plotHeight - 3 - (ms / most) * (plotHeight - 8);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${plotHeight}`, preserveAspectRatio: "none", class: "plot",
    height: plotHeight, role: "img", "aria-label": "How long they waited, by class; as a table below" });
  for (const name of classes) {
    for (const measure of ["p50_ms", "p99_ms"]) {
      const points = past.waits.flatMap((part, i) => part[name] ? [`${(i + 0.5) * step},${y(part[name][measure])}`] : []);
      // A single one is a short line.
      const [x1, y1] = points[0].split(",");
      const line = points.length > 1 ? points : [`${Number(x1) - step / 2},${y1}`, `${Number(x1) + step / 2},${y1}`];
      svg.append(shape("polyline", { class: `${name} ${measure}`, points: line.join(" ") }));
    }
  }
  return element("div", {}, svg,
    element("p", { class: "faint" }, `Waits that ended with the lock, ${classes.join(" and ")}: half of them, and 99 of ` +
      `100, took this long at most; the top is ${duration(most)}.`));
}

// The same in numbers, of the parts in which there was something.
function plotTable(past) {
  const classes = ["foreground", "background"].filter((name) => past.waits.some((part) => part[name]));
  const cells = ["Since", ...classes.flatMap((name) => [`waited, ${name}`, "half at most", "99 of 100 at most"]), "Grants",
    "Taken away"];
  const known = past.waits.filter((part) => part.foreground || part.background || takenOf(part) > 0 ||
    grantClasses.some((name) => grantsOf(part, name) > 0));
  const numbers = (part) => [...classes.flatMap((name) => part[name]
    ? [String(part[name].count), duration(part[name].p50_ms), duration(part[name].p99_ms)] : ["–", "–", "–"]),
  ...[grantClasses.reduce((sum, name) => sum + grantsOf(part, name), 0), takenOf(part)].map(String)];
  const rows = known.map((part) => element("tr", {}, element("th", { scope: "row" }, time(part.from)),
    ...numbers(part).map((cell) => element("td", {}, cell))));
  return rows.length === 0 ? "" : element("details", {}, element("summary", {}, "as a table"), element("table", {},
    element("thead", {}, element("tr", {}, ...cells.map((cell) => element("th", { scope: "col" }, cell)))),
    element("tbody", {}, ...rows)));
}

function waitsPart(past) {
  const table = plotTable(past);
  if (table === "") return "";
  const parts = [waitsPlot(past), countPlot("grants", past, "Grants", grantClasses, grantsOf),
    countPlot("taken", past, "Taken away by force, or by the unlocker", ["taken"], takenOf), table];
  return element("div", { id: "waits" }, ...parts.filter((part) => part !== ""));
}

function listed(id, stays, past) {
  if (stays.length === 0) return element("p", {}, "No hold and no wait was seen.");
  const rows = stays.slice(0, 100).map((stay) => element("li", {},
    element("a", { href: `/monitors/${encodeURIComponent(id)}?${new URLSearchParams({ past, at: stay.from })}`,
      "data-view": "" }, time(stay.from)), ` ${sentence(stay)}`));
  return element("details", {}, element("summary", {}, "as a list"), element("ul", {}, ...rows));
}

function stackPart(stay) {
  if (!stay.stack?.length) return [];
  return [element("details", {}, element("summary", {}, "where it was taken"), element("pre", {}, stay.stack.join("\n")))];
}

function momentPart(moment) {
  const part = element("div", { id: "moment" });
  const at = `At ${time(moment.at)}`;
  if (moment.holder) part.append(element("p", {}, `${at}: ${sentence(moment.holder)}.`), ...stackPart(moment.holder));
  else part.append(element("p", {}, moment.watched ? `${at} it was free.` : `${at} nobody looked: who held it is not known.`));
  if (moment.waiting.length > 0)
    part.append(element("ul", {}, ...moment.waiting.slice(0, 50).map((stay) => element("li", {}, sentence(stay), ...stackPart(stay)))));
  return part;
}

function choices(id, past, at) {
  const links = Object.keys(spans).map((span) => element("a", { href: `/monitors/${encodeURIComponent(id)}?past=${span}`,
    "data-view": "", ...(span === past && !at ? { "aria-current": "true" } : {}) }, span));
  const box = element("input", { type: "datetime-local", step: "1", id: "past-at" });
  box.addEventListener("change", () => {
    const moment = new Date(box.value);
    if (Number.isNaN(moment.getTime())) return;
    const query = new URLSearchParams({ past, at: moment.toISOString() });
    document.dispatchEvent(new CustomEvent("view", { detail: `/monitors/${encodeURIComponent(id)}?${query}` }));
  });
  return element("p", { class: "more" }, ...links.flatMap((link) => [link, " "]),
    element("label", {}, `who held it at (${zone()}) `, box));
}

async function ask(query) {
  const response = await fetch(query, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(8000) });
  const json = await response.json();
  return { status: response.status, json, problem: json.error?.message };
}

// Shows it in `section`, or nothing if there is no history.
export async function showPast(section, id, parameters) {
  const past = spans[parameters.get("past")] ? parameters.get("past") : "1h";
  const at = parameters.get("at");
  const asked = `${id} ${past} ${at}`;
  if (last.asked === asked && performance.now() - last.at < 4000) return;
  if (waiting === asked || section.querySelector("input:focus")) return;  // a time is being written there
  waiting = asked;
  last = { asked, at: performance.now() };
  try {
    const moment = at === null ? Date.now() : Date.parse(at);
    const to = at === null ? moment : Math.min(moment + spans[past] / 2, Date.now());
    const span = new URLSearchParams({ from: new Date(to - spans[past]).toISOString(), to: new Date(to).toISOString() });
    const path = `/api/history/${encodeURIComponent(id)}`;
    const answers = await Promise.all(
      [ask(`${path}?${span}`), at === null ? null : ask(`${path}?${new URLSearchParams({ at })}`)]);
    if (waiting !== asked) return;
    section.hidden = answers[0].status === 404;
    const text = JSON.stringify([asked, answers]);
    if (section.hidden || text === kept) return;
    kept = text;
    const link = `${path}?${at === null ? "from=" + past : new URLSearchParams({ at })}`;
    const problem = answers.find((answer) => answer?.problem)?.problem;
    const open = [...section.querySelectorAll("details")].map((details) => details.open);
    section.replaceChildren(element("h2", { id: "past-title" }, `History of ${id}`), choices(id, past, at),
      ...(problem ? [element("p", { class: "alert" }, problem)] : [
        ...(answers[1] ? [momentPart(answers[1].json)] : []),
        ...[drawing(answers[0].json), waitsPart(answers[0].json), listed(id, answers[0].json.stays, past)]
          .filter((part) => part !== "")]),
      element("p", { class: "more" }, element("a", { href: link }, "JSON"), " ", curlButton(link)));
    const now = section.querySelectorAll("details");
    if (now.length === open.length) now.forEach((details, i) => { details.open = open[i]; });
  } catch {
    // The page's status says that the server does not answer.
  } finally {
    if (waiting === asked) waiting = null;
  }
}

export function hidePast(section) {
  kept = null;
  last = { asked: null, at: 0 };
  section.hidden = true;
  section.replaceChildren();
}
