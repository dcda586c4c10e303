// Elements and texts. What others have written goes into text nodes and attributes alone, never into markup.

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

// Writes only what differs: selections and the reader of a screen are left alone.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function isLike(shown, wanted) {
  return shown.nodeName === wanted.nodeName && shown.id === wanted.id && shown.dataset?.key === wanted.dataset?.key;
}

// Makes what is shown look like that. What is there already stays: a click that has begun, the focus, and what is open
// outlive a look. `act` is what a button does.
function change(shown, wanted) {
  if (!isLike(shown, wanted)) return shown.replaceWith(wanted);
  if (shown.nodeType === Node.TEXT_NODE) return setText(shown, wanted.textContent);
  for (const { name } of [...shown.attributes]) {
    if (name !== "open" && !wanted.hasAttribute(name)) shown.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  if (wanted.act) shown.act = wanted.act;
  showParts(shown, [...wanted.childNodes]);
}

// What has a key is the same one wherever it stands.
export function showParts(place, parts) {
  const nodes = parts.filter((part) => part !== "")
    .map((part) => (typeof part === "string" ? document.createTextNode(part) : part));
  const keys = new Set(nodes.map((node) => node.dataset?.key).filter((key) => key !== undefined));
  for (const child of [...place.childNodes]) {
    if (child.dataset?.key !== undefined && !keys.has(child.dataset.key)) child.remove();
  }
  nodes.forEach((node, i) => {
    const key = node.dataset?.key;
    const same = key && [...place.childNodes].slice(i).find((child) => child.dataset?.key === key);
    // What is moved loses the focus: rather what stands before it goes.
    while (same && same !== place.childNodes[i] && place.childNodes[i].dataset?.key === undefined) place.childNodes[i].remove();
    if (same && same !== place.childNodes[i]) place.insertBefore(same, place.childNodes[i]);
    const there = place.childNodes[i];
    if (!there) place.append(node);
    else if (there.dataset?.key !== key && keys.has(there.dataset?.key)) place.insertBefore(node, there);  // its turn comes
    else change(there, node);
  });
  for (const left of [...place.childNodes].slice(nodes.length)) left.remove();
}

export function duration(ms) {
  const s = Math.floor(ms / 1000);
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (s < 60) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

export function monitorPath(id) {
  return `/monitors/${encodeURIComponent(id)}`;
}

export function monitorLink(id) {
  return element("a", { href: monitorPath(id), "data-view": "" }, id);
}

// A word for a shell.
export function shellWord(text) {
  return /^[A-Za-z0-9_.,:@%+=\/][A-Za-z0-9_.,:@%+=\/-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// The same, which is no option though it begins like one.
export function argument(text) {
  return text.startsWith("-") ? `-- ${shellWord(text)}` : shellWord(text);
}

export function copyButton(command) {
  return element("button", { type: "button", "data-copy": command }, `copy: ${command}`);
}

// For views that no command has.
export function curlButton(path) {
  return copyButton(`curl -s ${shellWord(new URL(path, location.href).href)}`);
}
