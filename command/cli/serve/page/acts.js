// What an admin may do here, each with a reason: take a lock away, move a waiter, put a letter back, wake the forwarder.
import { duration, element, setText } from "./dom.js";

const dialog = document.getElementById("release");
const tokenBox = document.getElementById("token");
const reasonBox = document.getElementById("reason");
const outcome = document.getElementById("release-outcome");
let meant = null;  // what the open dialog is about
let enabled = false;
let known = false;  // a proxy has said who asks: no token is needed

// The answer, with the token of this tab; one that stands in `field` becomes that.
export async function askRaw(path, options = {}, field = null) {
  if (field?.value) sessionStorage.setItem("token", field.value);
  const token = sessionStorage.getItem("token");
  const headers = { Accept: "application/json", ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers, signal: AbortSignal.timeout(60000) });
  if (response.ok) {
    if (field) field.hidden = true;
    return response;
  }
  if (response.status === 401) sessionStorage.removeItem("token");
  if (field) field.hidden = response.status !== 401;
  const json = await response.json();
  throw new Error(json.error?.message ?? `status ${response.status}`);
}

async function ask(path, options = {}) {
  return (await askRaw(path, options)).json();
}

export function tokenField() {
  const field = element("input", { type: "password", autocomplete: "off", "aria-label": "Token of an admin",
    placeholder: "token" });
  field.hidden = sessionStorage.getItem("token") !== null;
  return field;
}

// What the holder's alert says, for a person to change.
function usualReason(holder) {
  const alert = holder.owner?.alertAt ?? holder.owner?.autoUnlockAt;
  const over = alert ? Date.now() - Date.parse(alert) : 0;
  return over > 0 ? `overdue ${duration(over)}` : "";
}

// `act`: title, hint, label of the button that does it, path, body, reason, and said(answer).
function actButton(text, id, act) {
  if (!enabled) return "";
  const button = element("button", { type: "button", ...(id ? { id } : {}) }, text);
  button.act = act;
  button.addEventListener("click", () => {
    meant = button.act;
    setText(document.getElementById("release-title"), meant.title);
    setText(document.getElementById("release-hint"), meant.hint);
    setText(document.getElementById("release-do"), meant.label);
    reasonBox.value = meant.reason ?? "";
    setText(outcome, "");
    tokenBox.parentElement.hidden = known || sessionStorage.getItem("token") !== null;
    dialog.showModal();
  });
  return button;
}

export function releaseButton(id, holder) {
  if (!holder?.node) return "";
  const known = `${holder.node}@${holder.token}`;
  return actButton("release by force …", "release-button", {
    title: `Take ${id} from ${holder.owner?.instance ?? known}`,
    hint: "The holder learns it at once; it may still be at work.",
    label: "Release it",
    path: `/api/monitors/${encodeURIComponent(id)}/release`,
    body: { holder: known },
    reason: usualReason(holder),
    said: () => "Released: it does not hold it any more.",
  });
}

// Nobody but its own process can move it, and only by its record.
export function prioritizeButton(id, waiter) {
  if (!waiter.owner || !waiter.priority) return "";
  const other = waiter.priority === "foreground" ? "background" : "foreground";
  return actButton(`to ${other} …`, null, {
    title: `Make ${waiter.owner.instance} wait in the ${other}`,
    hint: "Its process moves it to the end of that queue, as a rule within a second; its deadline stays.",
    label: "Move it",
    path: `/api/monitors/${encodeURIComponent(id)}/prioritize`,
    body: { waiter: waiter.node, class: other },
    said: ({ result, node, position }) => result === "moved" ? `Moved: it is ${node} now, at place ${position}.`
      : "It is there already.",
  });
}

export function unparkButton(id) {
  return actButton("put it back …", "unpark-button", {
    title: `Put letter ${id} back into the queue`,
    hint: "The next replay of the queue finds it there.",
    label: "Put it back",
    path: `/api/dead-letters/${encodeURIComponent(id)}/unpark`,
    body: {},
    said: () => "It is in the queue again.",
  });
}

export function forwardButton() {
  return actButton("send them to Kafka …", "forward-button", {
    title: "Send this machine's outbox to Kafka",
    hint: "For some seconds at most. Where another process forwards, that one goes on.",
    label: "Send them",
    path: "/api/outbox/forward",
    body: {},
    said: ({ forwarded, waiting, another_forwards, problem }) => `${forwarded} sent, ${waiting} left` +
      (another_forwards ? "; another process forwards this outbox" : "") + (problem ? `; ${problem}` : "") + ".",
  });
}

async function act() {
  if (tokenBox.value) sessionStorage.setItem("token", tokenBox.value);
  tokenBox.value = "";
  try {
    const { who, csrf } = await ask("/api/admin");
    if (!who) throw new Error("that needs the token of an admin");
    const answer = await ask(meant.path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forelock-CSRF": csrf },
      body: JSON.stringify({ ...meant.body, reason: reasonBox.value }),
    });
    setText(outcome, meant.said(answer));
    document.dispatchEvent(new CustomEvent("acted"));
  } catch (problem) {
    setText(outcome, problem.message);
  }
  tokenBox.parentElement.hidden = known || sessionStorage.getItem("token") !== null;
}

document.getElementById("release-do").addEventListener("click", act);

export async function askWhetherActs() {
  const { acts, who } = await ask("/api/admin").catch(() => ({}));
  enabled = acts === true;
  known = Boolean(who) && sessionStorage.getItem("token") === null;
}
