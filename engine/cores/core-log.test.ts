import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { CoreLog } from "./core-log.ts";
import { reasonOf } from "./error-output.ts";
import { singbox } from "./singbox.ts";
import { xray } from "./xray.ts";

const LINES = [
  "2026/11/21 20:00:00.1 [Info] [111] app/dispatcher: taking detour [n_a] for [tcp:a.test:80]",
  "2026/11/21 20:00:00.1 [Info] [222] app/dispatcher: taking detour [n_b] for [tcp:a.test:80]",
  "2026/11/21 20:00:00.2 [Info] [222] proxy/vless/outbound: tunneling request to tcp:a.test:80 via 1.2.3.4:443",
  "2026/11/21 20:00:00.3 [Info] [111] transport: failed > x509: certificate has expired or is not yet valid",
].join("\n");

describe("a core's log", () => {
  it("is joined to configs by its connections, in whatever pieces it comes", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(LINES.length), { maxLength: 8 }), (cuts) => {
        const log = new CoreLog(xray.explain);
        const places = [0, ...cuts.sort((a, b) => a - b), LINES.length];
        for (const [index, place] of places.slice(1).entries()) {
          log.push(LINES.slice(places[index], place));
          log.findingsOf("n_a");
        }
        log.push("\n");
        expect(log.findingsOf("n_a").map(({ verdict }) => verdict)).toEqual(["cert-invalid"]);
        expect(log.findingsOf("n_b")).toMatchObject([{ verdict: null, isReached: true }]);
        expect(log.findingsOf("n_c")).toEqual([]);
      }),
    );
  });

  it("says of every connection there was that the core closed them all, and of none that came later", () => {
    const log = new CoreLog(singbox.explain);
    const changed = "+0000 2026-11-23 19:26:47 INFO network: updated default interface eth0, index 4\n";
    log.push(
      `${changed}+0000 2026-11-23 19:26:47 INFO [1 0ms] inbound/socks[in]: [n_a] inbound connection to a.test:80\n`,
    );
    expect(log.findingsOf("n_a")).toEqual([]);
    log.push("+0000 2026-11-23 19:26:47 INFO [2 0ms] inbound/socks[in]: [n_b] network: updated default interface x\n");
    expect(log.findingsOf("n_b")).toEqual([]);
    log.push(changed);
    log.push("+0000 2026-11-23 19:26:48 INFO [3 0ms] inbound/socks[in]: [n_c] inbound connection to a.test:80\n");
    for (const tag of ["n_a", "n_b"]) expect(log.findingsOf(tag)).toMatchObject([{ verdict: "unfit", tag }]);
    expect(log.findingsOf("n_c")).toEqual([]);
  });

  it("is bounded, whatever a core prints", () => {
    const log = new CoreLog(singbox.explain);
    for (let round = 0; round < 400; round++) log.push("x".repeat(10_000));
    for (let round = 0; round < 400; round++) log.push(`${"y".repeat(10_000)}\n`);
    for (let round = 0; round < 1_000; round++) log.push(`ERROR [${round} 1ms] using outbound/vless[n_a]: EOF\n`);
    expect(log.findingsOf("n_a")).toHaveLength(16);
    expect(log.lastWords().length).toBeLessThan(20_000);
  });
});

describe("why a core refuses a config", () => {
  const config = parseProxyLink("trojan://s3cret-word@p.test-site.org:443?security=tls").config;

  it.each([
    ["FATAL[0000] initialize outbound[3]: unknown method: s3cret-word", "unknown method: …"],
    ["Failed to start: main: failed to build outbound config with tag n_a > bad \u0007thing", "bad thing"],
    ["noise\npanic: runtime error: s3cret-word\n\tgoroutine 1", "panic: runtime error: …"],
    ["", ""],
  ])("is said without what is secret: %s", (errorOutput, reason) => {
    expect(reasonOf(errorOutput, config)).toBe(reason);
  });

  it("never holds a credential, and is short", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("s3cret-word", " > ", "\n", "fatal ", "outbound[1]: ", "é"), { maxLength: 60 }),
        (pieces) => {
          const reason = reasonOf(pieces.join(""), config);
          expect(reason).not.toContain("s3cret-word");
          expect(reason.length).toBeLessThanOrEqual(160);
        },
      ),
    );
  });
});
