/** OpenConnect against ocserv: every row of the expected matrix, and no session left at the server afterwards. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { classify } from "../../engine/net/classify.ts";
import { openconnect } from "../../engine/probes/openconnect.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { makeCheck } from "../../engine/transport/peers.suite.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import { describeWith } from "../prerequisites.ts";
import { INTERNET, LOGIN, OTHER_LOGIN, openVpnServer, type VpnServer } from "./ocserv.ts";
import { MATRIX, type Row } from "./openconnect-matrix.ts";

const probe = await openconnect.load();

const transport = createTransport({
  allowNets: ["10.201.0.0/16"],
  ownEndpoints: [],
  resolvers: ["127.0.0.1:1"],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
  tunnelTargets: [`icmp:${INTERNET}`],
});

async function check(row: Row, server: VpnServer) {
  const rig = makeCheck(transport);
  const context = { ...rig.context, deadlineAtMs: Date.now() + (row.timeoutMs ?? 10_000) };
  const settings = openconnect.settings.parse(row.fields(server));
  try {
    const outcome = await probe.run(settings, context);
    return { ...outcome, peerAnswered: rig.answers > 0 };
  } catch (error) {
    const stage = rig.phases.at(-1) ?? null;
    const { peerAnswered = rig.answers > 0, ...found } = classify(error, stage);
    return { ...found, peerAnswered, latencyMs: undefined, connectMs: undefined };
  }
}

/** A session ends with its device, a moment after the farewell. */
async function untilForgotten(server: VpnServer): Promise<number> {
  for (let asked = 0; server.sessions() > 0 && asked < 100; asked++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return server.sessions();
}

const told: string[] = [];
function tell(name: string, outcome: Awaited<ReturnType<typeof check>>, category: string | null): void {
  const ms = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(1));
  const words = [outcome.message, outcome.peer].filter((text) => text !== undefined).join(" · ");
  told.push(
    `| ${name} | ${outcome.verdict} | ${category ?? "–"} | ${ms(outcome.connectMs)} | ${ms(outcome.latencyMs)} | ${words} |`,
  );
}

describeWith(["network namespaces", "ocserv", "nft"], "OpenConnect against ocserv", () => {
  let server: VpnServer;
  beforeAll(async () => {
    server = await openVpnServer();
  }, 60_000);
  afterAll(async () => {
    await server.close();
    const head = ["| case | verdict | category | connect ms | latency ms | words |", "|---|---|---|---|---|---|"];
    console.info([...head, ...told].join("\n"));
  });

  it.each(MATRIX)("$name", { timeout: 60_000 }, async (row) => {
    server.namespace.filter(row.filter ?? []);
    const outcome = await check(row, server);
    const category = errorCategoryOf(outcome.verdict, "tunnel", outcome.peerAnswered);
    tell(row.name, outcome, category);
    server.namespace.filter([]);
    expect({ verdict: outcome.verdict, category, said: outcome.message ?? "" }, server.log()).toEqual({
      verdict: row.verdict,
      category: row.category,
      said: row.verdict === "ok" ? "" : expect.stringMatching(row.said ?? /./),
    });
    for (const { password } of [LOGIN, OTHER_LOGIN]) expect(JSON.stringify(outcome)).not.toContain(password);
    expect(await untilForgotten(server), server.log()).toBe(0);
  });
});
