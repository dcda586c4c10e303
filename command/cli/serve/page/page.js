// The live page: the views of what the stream of events has told.
import { askWhetherActs } from "./acts.js";
import { showChains } from "./chains.js";
import { mostWaiters, showDetail } from "./detail.js";
import { curlButton, duration, monitorPath, setText } from "./dom.js";
import { moveFocus, showList } from "./list.js";
import { hideAudit, showAudit } from "./audit.js";
import { hideLetters, showLetters } from "./letters.js";
import { showOrders } from "./orders.js";
import { hidePast, showPast } from "./past.js";
import { follow } from "./stream.js";

const state = {
  rows: new Map(),   // by id; `seen`: when it was so, by this page's clock
  connected: false,  // to `forelock serve`
  event: null,       // the id of the last event of its stream
  answering: true,   // a connection may hang without an error: whether it answers questions, too
  live: false,       // what the server says of its picture
  problem: null,
  look: null,        // how the namespace is looked at
  stale: new Map(),  // rows that are old by themselves: until when they were so, by this page's clock
  leftOut: 0,        // rows that the stream does not tell of until they change
  historyProblem: undefined,  // undefined: there is no history at all; null: there is one
  seen: null,        // when the picture was the present, by this page's clock; null before the first
  chosen: null,      // the monitor that is open
  filter: "",
};
const pastSection = document.getElementById("past");
const filterBox = document.getElementById("filter");

function isPresent() {
  return state.connected && state.answering && state.live && !isLate();
}

// "by watches": what does not change costs the servers nothing; what changes all the time is read again and again.
function how(look) {
  if (!look || look.sampled === 0) return "by watches";
  const busy = `${look.sampled} ${look.sampled === 1 ? "monitor" : "monitors"}`;
  return look.watched === 0 ? "by sampling" : `by watches, ${busy} by sampling`;
}

function showStatus(age) {
  const status = document.getElementById("status");
  status.classList.toggle("old", age !== null);
  document.body.classList.toggle("old-picture", age !== null);
  const why = !state.connected ? "no connection to forelock serve"
    : !state.answering ? "forelock serve does not answer" : state.problem ?? "no news from the servers";
  const past = state.historyProblem ? `; no history: ${state.historyProblem}` : "";
  setText(status, age === null ? `live, ${how(state.look)}${past}` : state.seen === null ? `nothing seen yet: ${why}`
    : `not live: as it was ${duration(Math.floor(age / 1000) * 1000)} ago; ${why}`);
}

function show() {
  const now = performance.now();
  if (isPresent()) state.seen = now;
  const age = isPresent() ? null : state.seen === null ? 0 : now - state.seen;
  showStatus(age);
  showList(state.rows, { filter: state.filter, chosen: state.chosen, age, now, stale: state.stale,
    leftOut: state.leftOut });
}

// --- what the stream misses ---

let awaited = null;  // an event that has not come yet, and since when
const usualDelay = 3000;
let patience = usualDelay;  // before a new stream; doubled in vain, for a server may have more to do than it can

function isLate() {
  return awaited !== null && isBehind(awaited.event) && performance.now() - awaited.since > usualDelay;
}

function isBehind(event) {
  const [run, number] = (state.event ?? "").split("-");
  const [itsRun, itsNumber] = event.split("-");
  return run !== itsRun || Number(number) < Number(itsNumber);
}

// `last`: the last event that the server has told of. If it does not come the stream is dead, and rows would stay as
// they are.
function missEvents(last) {
  const now = performance.now();
  if (!isBehind(last)) {
    awaited = null;
    patience = usualDelay;
  } else if (awaited === null || !isBehind(awaited.event)) {
    awaited = { event: last, since: now };
  } else if (now - awaited.since > patience) {
    patience = Math.min(2 * patience, 60e3);
    awaited.since = now - usualDelay;  // late until it has come, also by the new stream
    beginAnew();
  }
}

function beginAnew() {
  state.connected = false;
  again();
}

// Where the machine has slept, this page's clock has not gone on as a rule, and nobody knows what its connections are.
let clocks = Date.now() - performance.now();
function noticeSleep() {
  const apart = Date.now() - performance.now();
  if (Math.abs(apart - clocks) < 2000) return;
  clocks = apart;
  beginAnew();
}

// --- what the API tells ---

function takeStatus(data) {
  state.live = data.live;
  state.problem = data.problem;
  state.historyProblem = data.history_problem;
  if (data.age_ms !== null) state.seen = performance.now() - data.age_ms;
  if (!data.look) return;
  state.look = data.look;
  const then = performance.now() - (data.age_ms ?? 0);
  state.stale = new Map(data.look.stale.map(({ monitor, age_ms: age }) => [monitor, then - age]));
}

function takeRow(row, seen) {
  if (row.unreadable || row.holder || row.waiting.foreground + row.waiting.background > 0 || row.oldest_wait_ms !== null)
    state.rows.set(row.monitor, { ...row, seen });
  else state.rows.delete(row.monitor);
}

async function read(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(4000) });
  const json = await response.json();
  return response.ok ? { json } : { problem: json.error?.message ?? `status ${response.status}` };
}

let reading = false;
let readAgain = false;
async function refresh() {
  if (reading) { readAgain = true; return; }
  reading = true;
  try {
    const id = state.chosen;
    if (id !== null && state.historyProblem !== undefined) showPast(pastSection, id, new URLSearchParams(location.search));
    const [chains, orders, view] = await Promise.all(
      [read("/api/chains"), read("/api/orders"), id === null ? null : read(`/api/monitors/${encodeURIComponent(id)}?limit=${mostWaiters}`)]);
    state.answering = true;
    if (chains.json) {
      takeStatus(chains.json);
      missEvents(chains.json.event);
      showChains(chains.json);
    }
    if (orders.json) showOrders(orders.json.warnings);
    if (id === state.chosen) showDetail(id, view?.json ?? null, view?.problem);
  } catch {
    state.answering = false;
    show();
  }
  reading = false;
  if (readAgain) { readAgain = false; refreshSoon(); }
}

let timer = null;
function refreshSoon() {
  timer ??= setTimeout(() => { timer = null; refresh(); show(); }, 200);
}

function take(name, data, id) {
  if (id) state.event = id;
  if (name === "connected") state.connected = data;
  else if (name === "change") takeRow(data, performance.now());
  else takeStatus(data);
  if (name === "snapshot") {
    state.rows.clear();
    state.leftOut = data.left_out ?? 0;
    for (const row of data.monitors) takeRow(row, state.seen ?? performance.now());
    findOthers();
  }
  if (name === "connected" && !data) show();
  else refreshSoon();
}

// Where there are more rows than a stream tells of, those that the filter wants are asked for.
let finding = null;
function findOthers() {
  if (state.leftOut === 0 || state.filter.trim() === "") return;
  clearTimeout(finding);
  finding = setTimeout(async () => {
    try {
      const found = await read(`/api/monitors?${new URLSearchParams({ q: state.filter, limit: 500 })}`);
      for (const row of found.json?.monitors ?? []) takeRow(row, performance.now());
      show();
    } catch {
      // The next answer says whether it answers at all.
    }
  }, 200);
}

// As the stream's snapshot: the times are those of its beginning.
function whole() {
  const now = performance.now();
  const then = isPresent() ? now : state.seen ?? now;
  const monitors = [...state.rows.values()].map(({ seen, ...row }) => ({
    ...row,
    holder: row.holder && { ...row.holder, held_ms: row.holder.held_ms + then - seen },
    oldest_wait_ms: row.oldest_wait_ms === null ? null : row.oldest_wait_ms + then - seen,
  }));
  return { connected: state.connected, event: state.event, live: state.live, age_ms: state.seen === null ? null : now - then,
    problem: state.problem, history_problem: state.historyProblem, look: state.look, left_out: state.leftOut,
    monitors };
}

// --- views are links ---

function takeAddress() {
  const path = location.pathname;
  state.chosen = path.startsWith("/monitors/") ? decodeURIComponent(path.slice("/monitors/".length)) : null;
  state.filter = new URLSearchParams(location.search).get("q") ?? "";
  if (filterBox.value !== state.filter) filterBox.value = state.filter;
  document.title = state.chosen === null ? "Forelock" : `${state.chosen} · Forelock`;
  showDetail(state.chosen, null);
  hidePast(pastSection);
  takeOtherView(path);
  show();
  refresh();
}

// Dead letters and the audit file stand in place of the monitors.
function takeOtherView(path) {
  const view = path.split("/")[1];
  const parameters = new URLSearchParams(location.search);
  parameters.delete("q");
  for (const section of document.querySelectorAll(".monitors"))
    section.hidden = view === "dead-letters" || view === "audit";
  if (view === "dead-letters") {
    const id = path.split("/")[2];
    showLetters(id ? decodeURIComponent(id) : null, parameters);
  } else {
    hideLetters();
  }
  if (view === "audit") showAudit(parameters);
  else hideAudit();
}

function withFilter(path) {
  const [place, query] = path.split("?");
  const parameters = new URLSearchParams(query);
  if (state.filter) parameters.set("q", state.filter);
  else parameters.delete("q");
  return parameters.size > 0 ? `${place}?${parameters}` : place;
}

function go(path) {
  history.pushState(null, "", withFilter(path));
  takeAddress();
  if (state.chosen !== null) document.getElementById("detail").focus();
}

// Says so. Without a secure context there is no clipboard, and a selection is copied.
async function copy(button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    const box = document.createElement("textarea");
    box.value = button.dataset.copy;
    document.body.append(box);
    box.select();
    done = document.execCommand("copy");
    box.remove();
    button.focus();
  }
  const said = document.getElementById("said");
  if (done) button.dataset.copied = "";
  setText(said, done ? "copied" : "the browser does not permit it: select the command and copy it");
  setTimeout(() => { delete button.dataset.copied; setText(said, ""); }, 2000);
}

document.addEventListener("click", (event) => {
  const copied = event.target.closest("[data-copy]");
  if (copied) copy(copied);
  const link = event.target.closest("a[data-view]");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

filterBox.addEventListener("input", () => {
  state.filter = filterBox.value;
  history.replaceState(null, "", withFilter(location.pathname + location.search));
  show();
  findOthers();
});

document.addEventListener("view", (event) => go(event.detail));

let leading = false;  // `g` was pressed, and says where to with the next key
const help = document.getElementById("help");
document.getElementById("keys").addEventListener("click", () => help.showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (leading) {
    leading = false;
    const place = { m: "/", d: "/dead-letters", a: "/audit" }[event.key];
    if (place) { event.preventDefault(); go(place); }
    return;
  }
  const acts = {
    "/": () => filterBox.focus(),
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    x: () => {
      const row = document.activeElement.closest("tr[data-monitor]");
      if (row && row.dataset.monitor !== state.chosen) go(monitorPath(row.dataset.monitor));
      else if (state.chosen !== null) go("/");
    },
    g: () => { leading = true; },
    "?": () => help.showModal(),
    Escape: () => { if (state.chosen !== null) go("/"); },
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
});

for (const place of document.querySelectorAll("[data-curl]")) place.replaceWith(curlButton(place.dataset.curl));
window.addEventListener("popstate", takeAddress);
setInterval(() => { noticeSleep(); show(); }, 1000);
setInterval(() => { if (!document.hidden) refresh(); }, 2000);
askWhetherActs().then(refreshSoon);
const again = follow(take, whole);
takeAddress();
