/** What the bench runs inside the page, as a text: its code is built for Node. Evaluated scripts are not subject to the page's policy. */

export const PAGE_SCRIPT = `
(() => {
  const sources = [];
  const Own = window.EventSource;
  // Batches are handed to the page's own listeners.
  window.EventSource = class extends Own {
    constructor(...words) {
      super(...words);
      sources.push(this);
    }
  };
  window.EventSource.OPEN = Own.OPEN;
  window.EventSource.CLOSED = Own.CLOSED;
  const frame = () => new Promise((settle) => requestAnimationFrame(() => setTimeout(settle)));
  const letters = "dghpu";
  let gaps = [];
  let isWatching = false;
  const bench = {
    keys: [],
    frame,
    /** When the cells of all monitors were first painted, ms since the navigation began. */
    async drawn() {
      while (document.querySelector("[role=grid] canvas") === null) await new Promise((settle) => setTimeout(settle, 1));
      await frame();
      return performance.now();
    },
    async batch(monitors, changes, round) {
      const m = [];
      for (let n = 0; n < changes; n++) {
        const id = 1 + ((n * 4 + round * 7) % monitors);
        m.push([id, letters[(n + round) % letters.length], 20 + ((n * 13 + round) % 400), 0]);
      }
      const data = JSON.stringify({ at: new Date().toISOString(), m });
      for (const source of sources) {
        if (source.readyState === Own.OPEN) source.dispatchEvent(new MessageEvent("s", { data }));
      }
      await frame();
    },
    watchKeys() {
      bench.keys = [];
      // From the key's own time to the paint that follows it, in steps of 8 ms; what was quicker than 16 ms is not told.
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (entry.name === "input" || entry.name === "keydown") bench.keys.push(entry.duration);
      }).observe({ type: "event", durationThreshold: 16 });
    },
    /** The table, or in its place nothing of its height. */
    async toTop(isEmpty) {
      const app = document.getElementById("app");
      document.querySelector(".bench-empty")?.remove();
      app.style.display = "";
      const height = document.documentElement.scrollHeight;
      if (isEmpty) {
        const empty = document.createElement("div");
        empty.className = "bench-empty";
        empty.style.height = height + "px";
        app.style.display = "none";
        document.body.append(empty);
      }
      scrollTo(0, 0);
      await frame();
      await frame();
    },
    watchFrames() {
      gaps = [];
      isWatching = true;
      let last = performance.now();
      const next = (now) => {
        gaps.push(now - last);
        last = now;
        if (isWatching) requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    },
    frames() {
      isWatching = false;
      // One and a half frames of 60 in a second.
      return { late: gaps.slice(1).filter((gap) => gap > 25).length, frames: gaps.length - 1 };
    },
  };
  window.bench = bench;
})();
`;
