// Orders of nested locks that can become a deadlock.
import { element, monitorLink, setText } from "./dom.js";

function stackPart(title, stack) {
  return stack.length === 0 ? "" : element("div", {}, element("p", {}, title), element("pre", {}, stack.join("\n")));
}

function orderPart(order) {
  const who = order.info ? `${order.info} (${order.who})` : order.who;
  return element("li", {},
    element("p", {}, monitorLink(order.inner), " inside ", monitorLink(order.outer), ` by ${who}`,
      element("span", { class: "faint last-seen" })),
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
  const text = JSON.stringify(warnings, (name, value) => (name === "last_seen" || name === "looks" ? undefined : value));
  if (list.dataset.text !== text) {
    list.dataset.text = text;
    const open = new Set([...list.querySelectorAll("details[open]")].map((part) => part.dataset.sentence));
    list.replaceChildren(...warnings.map((warning) => warningPart(warning, open.has(warning.sentence))));
  }
  const orders = warnings.flatMap((warning) => warning.orders);
  list.querySelectorAll(".last-seen").forEach((part, i) => setText(part, `, last seen at ${orders[i].last_seen}`));
}
