/**
 * Share links of every protocol, transport and security through the managed cores to real xray and sing-box servers, and every way to be
 * wrong, held against proxy.matrix.json: case × core → verdict and category. A case without a cell fails, and so does a cell without a case.
 * Where a core itself ends a case in one of several ways, its cell lists them: `ok - | auth-failed auth_failed`.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ENGINES } from "../../engine/cores/program.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import { describeWith } from "../prerequisites.ts";
import { type LinkChecks, openLinkChecks, openProxyLab, type ProxyLab } from "./proxy-lab.ts";
import { SECRETS } from "./proxy-material.ts";

type Matrix = Readonly<Record<string, Readonly<Record<string, string>>>>;
const MATRIX: Matrix = JSON.parse(readFileSync(new URL("./proxy.matrix.json", import.meta.url), "utf8"));

/** A core that must be built first needs minutes. */
const BUILD_MS = 30 * 60_000;
const TIMEOUT_MS = 6_000;
const IN_FLIGHT = 24;

describeWith(["proxy cores", "openssl"], "share links through real servers", () => {
  let lab: ProxyLab;
  let checks: LinkChecks;
  /** All that left a check, and all that was logged. */
  const said: string[] = [];
  beforeAll(async () => {
    lab = await openProxyLab();
    const heard = (line: string): number => said.push(line);
    checks = await openLinkChecks(lab.engine, { timeoutMs: TIMEOUT_MS, concurrency: IN_FLIGHT, heard });
  }, BUILD_MS);
  afterAll(async () => {
    await checks?.close();
    await lab?.close();
  });

  it("end as the matrix says", async () => {
    const cells = await Promise.all(
      [...lab.cases].flatMap(([name, link]) =>
        ENGINES.map(async (engine) => {
          const outcome = await checks.check(link, engine);
          said.push(JSON.stringify(outcome));
          const category = errorCategoryOf(outcome.verdict, "tunnel", outcome.peerAnswered) ?? "-";
          return { name, engine, cell: `${outcome.verdict} ${category}`, outcome };
        }),
      ),
    );
    const found: Record<string, Record<string, string>> = {};
    for (const { name, engine, cell, outcome } of cells) {
      const expected = MATRIX[name]?.[engine] ?? "";
      const isExpected = expected.split(" | ").includes(cell);
      found[name] = { ...found[name], [engine]: isExpected ? expected : cell };
      if (isExpected) continue;
      console.log(`${name} · ${engine}: ${cell} after ${outcome.durationMs} ms: ${outcome.message}`);
    }
    expect(found).toEqual(MATRIX);
  }, 240_000);

  it("pass with whichever core suits the link, and say which", async () => {
    const outcome = await checks.check(lab.cases.get("vless xhttp auto reality @xray") ?? "", null);
    expect(outcome).toMatchObject({ verdict: "ok", tunnel: { engineUsed: "xray" } });
    const tuic = await checks.check(lab.cases.get("tuic native bbr @singbox") ?? "", null);
    expect(tuic).toMatchObject({ verdict: "ok", tunnel: { engineUsed: "singbox" } });
    // sing-box, which is asked first, sees only that connections end.
    const oldTls = await checks.check(lab.cases.get("vless vision tls 1.2 @xray") ?? "", null);
    expect(oldTls).toMatchObject({ verdict: "misconfigured", message: expect.stringContaining("needs TLS 1.3") });
    // In sing-box alone one connection of five dies.
    const early = lab.cases.get("vmess ws early none @singbox") ?? "";
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => checks.check(early, null)));
    expect(outcomes.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
  });

  it("leave none of their credentials in results or log", () => {
    expect(said.length).toBeGreaterThan(800);
    const text = said.join("\n");
    const leaked = Object.entries(SECRETS).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));
    expect(leaked).toEqual([]);
  });
});
