/** What Sonde writes for the cores, given to their own checks. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TunnelConfigError } from "../../engine/contract/tunnel.ts";
import { cores } from "../../engine/cores/choice.ts";
import type { CoreEntry } from "../../engine/cores/core.ts";
import { faultOf } from "../../engine/cores/install.ts";
import { ENGINES, errorOutputAbout, type FoundCore, findCore } from "../../engine/cores/program.ts";
import { LINKS } from "../../engine/protocols/share-link/links.suite.ts";
import type { ProxyConfig } from "../../engine/protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import type { Engine } from "../../model/subscription.ts";
import { describeWith } from "../prerequisites.ts";
import { CORE_PLACES } from "./cores.ts";

const MOST_ENTRIES = 1_500;

function entriesFor(engine: Engine, configs: readonly ProxyConfig[]): readonly CoreEntry[] {
  return configs
    .filter((config) => cores[engine].supports(config) === undefined)
    .slice(0, MOST_ENTRIES)
    .map((config, index) => ({
      tag: `n_${index}`,
      config,
      address: "192.0.2.1",
      password: "p",
    }));
}

function fileOf(engine: Engine, entries: readonly CoreEntry[]): string {
  return cores[engine].render({ entries, port: 10_000, identityPassword: "p", isVerbose: false });
}

/** Good links with pieces put in and cut out, as far as the parser takes them; the same ones each time. */
function strangeConfigs(): readonly ProxyConfig[] {
  const piece = fc.oneof(
    fc.constantFrom(
      "%0A",
      '"',
      "{",
      "}",
      "\\",
      "&type=ws",
      "&host=a",
      "&path=",
      "&ed=1",
      "&alpn=h3",
      "&mode=multi",
      "é",
      "%zz",
    ),
    fc.string({ maxLength: 6 }),
  );
  const cut = fc.record({ place: fc.nat(999).map((part) => part / 1_000), size: fc.nat(6), piece });
  const links = fc.tuple(fc.constantFrom(...LINKS.values()), fc.array(cut, { minLength: 1, maxLength: 2 }));
  return fc.sample(links, { numRuns: 10_000, seed: 5 }).flatMap(([start, cuts]) => {
    const text = cuts.reduce((now, { place, size, piece: put }) => {
      const index = Math.floor(place * now.length);
      return now.slice(0, index) + put + now.slice(index + size);
    }, start);
    try {
      return [parseProxyLink(text).config];
    } catch (error) {
      if (!(error instanceof TunnelConfigError)) throw error;
      return [];
    }
  });
}

describeWith(["proxy cores"], "proxy cores", () => {
  const core = (engine: Engine): FoundCore =>
    findCore(engine, CORE_PLACES) ?? { engine, path: "missing", from: "PATH" };

  describe.each(ENGINES)("%s", (engine) => {
    it("is the one that is needed", async () => {
      expect(await faultOf(core(engine))).toBeUndefined();
    }, 60_000);

    it("takes every protocol, transport and security that it is said to support", async () => {
      const entries = entriesFor(
        engine,
        [...LINKS.values()].map((link) => parseProxyLink(link).config),
      );
      expect(entries.length).toBeGreaterThan(80);
      expect(await errorOutputAbout(core(engine), fileOf(engine, entries))).toBeUndefined();
    }, 60_000);

    it("takes whatever the parser takes of strange links", async () => {
      const entries = entriesFor(engine, strangeConfigs());
      expect(entries.length).toBe(MOST_ENTRIES);
      expect(await errorOutputAbout(core(engine), fileOf(engine, entries))).toBeUndefined();
    }, 120_000);

    it("names the entry that it refuses", async () => {
      const good = entriesFor(
        engine,
        [...LINKS.values()].map((link) => parseProxyLink(link).config),
      ).slice(0, 20);
      const [last] = good.slice(-1);
      if (last === undefined) throw new Error("no entries");
      const account = {
        protocol: "shadowsocks",
        method: "rot13",
        password: "p",
        plugin: null,
        isUdpOverTcp: false,
      } as const;
      const security = { kind: "none" } as const;
      const transport = { type: "raw", header: null } as const;
      const bad: CoreEntry = {
        ...last,
        tag: "n_bad",
        config: { ...last.config, account, security, transport },
      };
      const entries = [...good.slice(0, 9), bad, ...good.slice(9)];
      const complaint = (await errorOutputAbout(core(engine), fileOf(engine, entries))) ?? "";
      expect(cores[engine].culprit(complaint, entries)?.tag).toBe("n_bad");
    }, 60_000);
  });
});
