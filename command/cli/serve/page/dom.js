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

export function copyButton(command) {
  return element("button", { type: "button", "data-copy": command }, `copy: ${command}`);
}

// For views that no command has.
export function curlButton(path) {
  return copyButton(`curl -s ${shellWord(new URL(path, location.href).href)}`);
}
