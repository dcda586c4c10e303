// The stream of events, one for all tabs of a browser: it has six connections to a server, and a seventh tab with a
// stream of its own would wait for ever. The tab that has the lock reads the stream, and tells the others.

const names = ["snapshot", "change", "status"];

// `take(name, data)` for "snapshot", "change", "status", and "connected" with true or false. `whole()`: a snapshot of
// what has been taken so far, for tabs that come later.
export function follow(take, whole) {
  const alone = !navigator.locks || typeof BroadcastChannel === "undefined";  // not a secure context
  const channel = alone ? null : new BroadcastChannel("forelock-events");
  let leads = alone;

  function tell(name, data) {
    channel?.postMessage({ name, data });
    take(name, data);
  }

  function listen() {
    const stream = new EventSource("/api/events");
    stream.addEventListener("open", () => tell("connected", true));
    for (const name of names) stream.addEventListener(name, (event) => tell(name, JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      tell("connected", false);
      if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);  // else it tries again by itself
    });
  }

  if (alone) return listen();
  channel.addEventListener("message", ({ data: { name, data } }) => {
    if (name !== "hello") return leads || take(name, data);
    if (!leads) return;
    const snapshot = whole();
    channel.postMessage({ name: "connected", data: snapshot.connected });
    channel.postMessage({ name: "snapshot", data: snapshot });
  });
  channel.postMessage({ name: "hello" });
  navigator.locks.request("forelock-events", () => {
    leads = true;
    listen();
    return new Promise(() => {});  // until the tab is closed
  });
}
