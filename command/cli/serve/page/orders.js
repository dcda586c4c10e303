// Orders of nested locks that can become a deadlock.
import { element, monitorLink } from "./dom.js";

function stackPart(title, stack) {
  return stack.length === 0 ? "" : element("div", {}, element("p", {}, title), element("pre", {}, stack.join("\n")));
}

function orderPart(order) {
  const who = order.info ? `${order.info} (${order.who})` : order.who;
  return element("li", {},
    element("p", {}, monitorLink(order.inner), " inside ", monitorLink(order.outer), ` by ${who}`,
      element("span", { class: "faint" }, `, last seen at ${order.last_seen}`)),
    stackPart(`${order.outer} was taken here:`, order.outer_stack),
    stackPart(`${order.inner}, inside it, here:`, order.inner_stack));
}

function warningPart(warning, open) {
  const part = element("details", { "data-sentence": warning.sentence },
    element("summary", {}, `${warning.sentence}.`), element("ul", { class: "tree" }, ...warning.orders.map(orderPart)));
  part.open = open;
  return part;
}

export function showOrders(warnings) {
  const section = document.getElementById("orders");
  section.hidden = warnings.length === 0;
  const list = document.getElementById("order-list");
  const text = JSON.stringify(warnings);
  if (list.dataset.text === text) return;  // selections and the reader of a screen are left alone
  list.dataset.text = text;
  const open = new Set([...list.querySelectorAll("details[open]")].map((part) => part.dataset.sentence));
  list.replaceChildren(...warnings.map((warning) => warningPart(warning, open.has(warning.sentence))));
}
