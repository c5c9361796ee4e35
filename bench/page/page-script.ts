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
  const plain = (height) => {
    const own = document.querySelector("table.monitors");
    const rows = [...own.querySelectorAll(".rows tr")];
    const [table, body] = [document.createElement("table"), document.createElement("tbody")];
    table.className = own.className;
    table.style.cssText = own.style.cssText;
    table.style.position = "relative";
    body.className = "rows";
    body.style.height = height + "px";
    for (let n = 0; n < 700; n++) {
      const row = rows[n % rows.length].cloneNode(true);
      row.style.top = n * rows[0].offsetHeight + "px";
      body.append(row);
    }
    table.append(body);
    return table;
  };
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
    /** The table; or in its place a plain one of as many of the same rows as are scrolled through, which no script touches; or nothing of its height. */
    async toTop(what) {
      const app = document.getElementById("app");
      document.querySelector(".bench-instead")?.remove();
      app.style.display = "";
      const height = document.documentElement.scrollHeight;
      if (what !== "table") {
        const instead = document.createElement("div");
        instead.className = "bench-instead";
        instead.style.height = height + "px";
        if (what === "plain") instead.append(plain(height));
        app.style.display = "none";
        document.body.append(instead);
      }
      scrollTo(0, 0);
      for (let n = 0; n < 30; n++) await frame();
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
