// The dead letters: how many, why, how old; one in detail; its payload only when it is asked for.
import { askRaw, forwardButton, tokenField, unparkButton } from "./acts.js";
import { copyButton, duration, element, monitorLink, showParts } from "./dom.js";

const section = document.getElementById("letters");
const longestShown = 64 * 1024;  // of a payload
const between = 10e3;  // looks at the overview, which go on; at most a tenth of the time is spent on them
let asked = null;  // what is shown: id, parameters, and its address
let next = null;

async function read(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(30000) });
  const json = await response.json();
  if (response.ok) return json;
  const problem = new Error([json.error?.message, json.error?.hint].filter(Boolean).join("; ") || `status ${response.status}`);
  problem.outbox = json.outbox;
  throw problem;
}

export function letterPath(id) {
  return `/dead-letters/${encodeURIComponent(id)}`;
}

function counts(title, names, parameter) {
  const rows = Object.entries(names).sort((a, b) => b[1] - a[1]).slice(0, 20);
  return rows.length === 0 ? "" : element("p", {}, `${title}: `, ...rows.flatMap(([name, count], i) => [i ? ", " : "",
    element("a", { href: `/dead-letters?${new URLSearchParams({ [parameter]: name })}`, "data-view": "" }, name), ` ${count}`]));
}

function row(letter) {
  const cells = letter.unreadable
    ? [letter.monitor ?? "", "cannot be read", `${letter.code}: ${letter.message}`, "", ""]
    : [monitorLink(letter.monitor), letter.type, `${letter.reason}: ${letter.message}`,
      `${letter.attempts} of ${letter.max_attempts}, ${letter.tries} replays`, duration(letter.age_ms)];
  const id = letter.id ?? letter.position;
  const names = ["Monitor", "Type", "Why", "Attempts", "Age"];
  return element("tr", {}, element("th", { scope: "row" }, element("a", { href: letterPath(id), "data-view": "" }, id.slice(0, 13))),
    ...cells.map((cell, i) => element("td", { "data-name": names[i] }, cell)));
}

function overview(json, parameters) {
  const parked = parameters.get("parked") === "1";
  const oldest = json.oldest_age_ms === null ? "" : `, the oldest failed ${duration(json.oldest_age_ms)} ago`;
  const command = `forelock dlq list${parked ? " --parked" : ""}`;
  const head = ["Letter", "Monitor", "Type", "Why", "Attempts", "Age"].map((name) => element("th", { scope: "col" }, name));
  return [
    element("p", { id: "letters-count" }, `${json.letters} ${parked ? "parked" : "in the queue"}${oldest}` +
      (parked ? "" : `; ${json.parked} parked`) + (json.unreadable ? `; ${json.unreadable} cannot be read` : "")),
    json.outbox && json.topic ? element("p", {}, `${json.outbox.rows} wait in this machine's outbox for Kafka `, forwardButton()) : "",
    counts("Reasons", json.by_reason ?? {}, "reason"), counts("Types", json.by_type ?? {}, "type"),
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...json.list.map(row))),
    json.more ? element("p", { class: "faint" }, `The first ${json.list.length} are shown.`) : "",
    element("p", { class: "more" }, element("a", { href: "/dead-letters", "data-view": "" }, "all"), " ",
      element("a", { href: "/dead-letters?parked=1", "data-view": "" }, "parked"), " ",
      element("a", { href: `/api/dead-letters?${parameters}` }, "JSON"), " ", copyButton(command))];
}

function payloadPart(id, bytes) {
  const shown = element("pre", { id: "payload" });
  const token = tokenField();
  const button = element("button", { type: "button", id: "payload-button" }, `show its payload (${bytes} bytes)`);
  button.addEventListener("click", async () => {
    try {
      const data = await (await askRaw(`/api/dead-letters/${encodeURIComponent(id)}/payload`, {}, token)).arrayBuffer();
      shown.textContent = new TextDecoder().decode(data.slice(0, longestShown)) +
        (data.byteLength > longestShown ? `\n… ${data.byteLength - longestShown} bytes more` : "");
    } catch (problem) {
      shown.textContent = problem.message;
    }
  });
  return element("div", {}, button, " ", token, shown);
}

function detail(id, letter) {
  if (letter.unreadable) return [element("p", {}, `It cannot be read. ${letter.code}: ${letter.message}`)];
  const attempts = (letter.attempts ?? []).map((attempt) =>
    element("li", {}, `${attempt.at}: ${attempt.code}: ${attempt.message}`));
  return [
    element("p", {}, `${letter.type} on `, monitorLink(letter.monitor), `, ${letter.priority}, ${letter.state}; ` +
      `failed at ${letter.failed_at}`, letter.lockInfo ? `; ${letter.lockInfo}` : ""),
    element("ol", {}, ...attempts),
    element("p", { class: "more" }, ...Object.values(letter.commands).flatMap((command) => [copyButton(command), " "]),
      letter.state === "parked" ? unparkButton(id) : "", " ", element("a", { href: `/api${letterPath(id)}` }, "JSON")),
    payloadPart(id, letter.payload_bytes)];
}

function lookAgain() {
  clearTimeout(next);
  if (section.hidden) return;
  if (document.hidden) next = setTimeout(lookAgain, between);
  else showLetters(asked.id, asked.parameters);
}

document.addEventListener("acted", lookAgain);

// `id`: null for the overview.
export async function showLetters(id, parameters) {
  section.hidden = false;
  clearTimeout(next);
  const begin = performance.now();
  const same = id === null && asked?.address === location.href;
  const own = asked = { id, parameters, address: location.href };
  let parts;
  try {
    if (id === null) parts = overview(await read(`/api/dead-letters?${parameters}`), parameters);
    else parts = detail(id, await read(`/api${letterPath(id)}`));
  } catch (problem) {
    parts = [element("p", { class: "alert" }, problem.message), problem.outbox ? element("p", { id: "outbox" },
      `${problem.outbox.rows} wait on the disk of this machine, in its outbox, until Kafka is back `, forwardButton()) : ""];
  }
  if (asked !== own) return;
  parts = [element("h2", { id: "letters-title" }, id === null ? "Dead letters" : `Dead letter ${id}`),
    ...parts.filter((part) => part !== "")];
  if (same) showParts(section, parts);
  else section.replaceChildren(...parts);
  if (id === null) next = setTimeout(lookAgain, Math.max(between, 10 * (performance.now() - begin)));
}

export function hideLetters() {
  asked = null;
  clearTimeout(next);
  section.hidden = true;
  section.replaceChildren();
}
