// The stream of events, one for all tabs of a browser: it has six connections to a server, and a seventh tab with a
// stream of its own would wait for ever. The tab that has the lock reads the stream, and tells the others.

const names = ["snapshot", "change", "status"];

// `take(name, data, id)` for "snapshot", "change", "status", and "connected" with true or false; `id` of the last event.
// `whole()`: a snapshot of what has been taken so far, for tabs that come later, and its `id`. What it returns begins
// the stream anew: a connection can die without a word, and this one is only read.
export function follow(take, whole) {
  const alone = !navigator.locks || typeof BroadcastChannel === "undefined";  // not a secure context
  const channel = alone ? null : new BroadcastChannel("forelock-events");
  let leads = alone;
  let stream = null;

  function tell(name, data, id) {
    channel?.postMessage({ name, data, id });
    take(name, data, id);
  }

  function listen() {
    const own = stream = new EventSource("/api/events");
    own.addEventListener("open", () => own === stream && tell("connected", true));
    for (const name of names)
      own.addEventListener(name, (event) => own === stream && tell(name, JSON.parse(event.data), event.lastEventId));
    own.addEventListener("error", () => {
      if (own !== stream) return;
      tell("connected", false);
      // Else it tries again by itself.
      if (own.readyState === EventSource.CLOSED) setTimeout(() => own === stream && listen(), 2000);
    });
  }

  // Once, however many tabs ask for it.
  function listenAnew() {
    if (stream?.readyState !== EventSource.OPEN) return;
    stream.close();
    tell("connected", false);
    listen();
  }

  function again() {
    if (leads) listenAnew();
    else channel.postMessage({ name: "again" });
  }

  if (alone) {
    listen();
    return again;
  }
  channel.addEventListener("message", ({ data: { name, data, id } }) => {
    if (name === "again") return leads && listenAnew();
    if (name !== "hello") return leads || take(name, data, id);
    if (!leads) return;
    const snapshot = whole();
    channel.postMessage({ name: "connected", data: snapshot.connected });
    channel.postMessage({ name: "snapshot", data: snapshot, id: snapshot.event });
  });
  channel.postMessage({ name: "hello" });
  navigator.locks.request("forelock-events", () => {
    leads = true;
    listen();
    return new Promise(() => {});  // until the tab is closed
  });
  return again;
}
