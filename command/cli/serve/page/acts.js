// What an admin may do here: take a lock away, with a reason.
import { duration, element, setText } from "./dom.js";

const dialog = document.getElementById("release");
const tokenBox = document.getElementById("token");
const reasonBox = document.getElementById("reason");
const outcome = document.getElementById("release-outcome");
let meant = null;  // what the open dialog is about
let enabled = false;

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

export function releaseButton(id, holder) {
  if (!enabled || !holder?.node) return "";
  const button = element("button", { type: "button", id: "release-button" }, "release by force …");
  button.addEventListener("click", () => {
    meant = { id, holder: `${holder.node}@${holder.token}` };
    setText(document.getElementById("release-title"), `Take ${id} from ${holder.owner?.instance ?? meant.holder}`);
    reasonBox.value = usualReason(holder);
    setText(outcome, "");
    tokenBox.parentElement.hidden = sessionStorage.getItem("token") !== null;
    dialog.showModal();
  });
  return button;
}

async function release() {
  if (tokenBox.value) sessionStorage.setItem("token", tokenBox.value);
  tokenBox.value = "";
  try {
    const { who, csrf } = await ask("/api/admin");
    if (!who) throw new Error("that needs the token of an admin");
    await ask(`/api/monitors/${encodeURIComponent(meant.id)}/release`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forelock-CSRF": csrf },
      body: JSON.stringify({ holder: meant.holder, reason: reasonBox.value }),
    });
    setText(outcome, "Released: it does not hold it any more.");
  } catch (problem) {
    setText(outcome, problem.message);
  }
  tokenBox.parentElement.hidden = sessionStorage.getItem("token") !== null;
}

document.getElementById("release-do").addEventListener("click", release);

export async function askWhetherActs() {
  enabled = (await ask("/api/admin").catch(() => ({}))).acts === true;
}
