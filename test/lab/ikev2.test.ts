/** IKEv2 against strongSwan: every row of the expected matrix, and nothing left at the gateway afterwards. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify } from "../../engine/net/classify.ts";
import { ikev2 } from "../../engine/probes/ikev2.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { makeCheck } from "../../engine/transport/peers.suite.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import { FAULTY_PATHS, openDatagramRelay } from "../../testkit/datagram-relay.ts";
import { describeWith } from "../prerequisites.ts";
import { connections, LOGIN, PRE_SHARED_KEY } from "./ikev2-gateway.ts";
import { MATRIX, type Row, SUITES } from "./ikev2-matrix.ts";
import { type Gateway, INTERNET, INTERNET_6, openGateway } from "./strongswan.ts";

const probe = await ikev2.load();

/** Where the paths with faults begin. */
const RELAY = "127.0.77.1";

const transport = createTransport({
  allowNets: ["10.201.0.0/16", `${RELAY}/32`],
  ownEndpoints: [],
  resolvers: ["127.0.0.1:1"],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
  tunnelTargets: [`icmp:${INTERNET}`, `icmp:[${INTERNET_6}]`],
});

async function check(row: Pick<Row, "fields" | "timeoutMs">, gateway: Gateway) {
  const rig = makeCheck(transport);
  const context = { ...rig.context, deadlineAtMs: Date.now() + (row.timeoutMs ?? 10_000) };
  const settings = ikev2.settings.parse(row.fields(gateway));
  try {
    const outcome = await probe.run(settings, context);
    return { ...outcome, peerAnswered: rig.answers > 0 };
  } catch (error) {
    const stage = rig.phases.at(-1) ?? null;
    const { peerAnswered = rig.answers > 0, ...found } = classify(error, stage);
    return { ...found, peerAnswered, tunnel: undefined, latencyMs: undefined, connectMs: undefined };
  }
}

/** A farewell that was answered has been heard; without one the gateway forgets a half-open SA by itself. */
async function untilForgotten(gateway: Gateway, looks = 100): Promise<number> {
  for (let asked = 0; gateway.associations() > 0 && asked < looks; asked++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return gateway.associations();
}

const told: string[] = [];
function tell(name: string, outcome: Awaited<ReturnType<typeof check>>, category: string | null): void {
  const ms = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(1));
  told.push(
    `| ${name} | ${outcome.verdict} | ${category ?? "–"} | ${ms(outcome.connectMs)} | ${ms(outcome.latencyMs)} | ${outcome.message ?? outcome.tunnel?.assignedIp ?? ""} |`,
  );
}

describeWith(["network namespaces", "strongSwan", "nft"], "IKEv2 against strongSwan", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway();
  });
  afterAll(async () => {
    await gateway.close();
    console.info(
      ["| case | verdict | category | connect ms | latency ms | words |", "|---|---|---|---|---|---|", ...told].join(
        "\n",
      ),
    );
  });

  it.each(MATRIX.map((row) => [row.name, row] as const))("%s", { timeout: 60_000 }, async (_name, row) => {
    gateway.load(connections(row.gateway), row.options);
    gateway.namespace.filter(row.filter ?? []);
    const halfOpen = await row.prepare?.(gateway);
    const outcome = await check(row, gateway);
    const category = errorCategoryOf(outcome.verdict, "tunnel", outcome.peerAnswered);
    tell(row.name, outcome, category);
    gateway.namespace.filter([]);
    await halfOpen?.();
    expect({ verdict: outcome.verdict, category, said: outcome.message ?? "" }, gateway.log()).toEqual({
      verdict: row.verdict,
      category: row.category,
      said: row.verdict === "ok" ? "" : expect.stringMatching(row.said ?? /./),
    });
    if (row.verdict === "ok") expect(outcome.tunnel?.assignedIp).toMatch(/^(10\.69\.0\.\d+|fd00:69::[0-9a-f]+)$/);
    expect(JSON.stringify(outcome)).not.toContain(LOGIN.password);
    expect(JSON.stringify(outcome)).not.toContain(PRE_SHARED_KEY);
    expect(await untilForgotten(gateway), gateway.log()).toBe(0);
  });

  it.each(SUITES)("speaks %s with ESP in %s", { timeout: 60_000 }, async (proposals, espProposals) => {
    gateway.load(connections({ proposals, espProposals }));
    const fields = (): Record<string, string> => ({
      host: gateway.namespace.serverIp,
      psk: PRE_SHARED_KEY,
      remote_id: "psk.test",
    });
    const outcome = await check({ fields }, gateway);
    tell(`${proposals} / ${espProposals}`, outcome, null);
    expect(outcome.verdict, `${outcome.message}\n${gateway.log()}`).toBe("ok");
    expect(gateway.log()).toBeDefined();
  });

  describe("through a path that", () => {
    const certified = () => ({ host: RELAY, ca: gateway.authority.pem, ...gateway.client("laptop-rsa") });
    const logins = {
      "a password": () => ({ host: RELAY, remote_id: "gw.test", ...LOGIN, ca: gateway.authority.pem }),
      "a certificate": () => ({ ...certified(), remote_id: "cert.test" }),
      "EAP-TLS": () => ({ ...certified(), remote_id: "tls.test", username: "laptop@branch.test" }),
    } as const;
    const cases = Object.entries(FAULTY_PATHS).flatMap(([name, faults]) =>
      Object.entries(logins).map(([login, fieldsOf]) => [name, login, faults, fieldsOf] as const),
    );
    // What is repeated after the farewell leaves half-open SAs.
    afterAll(async () => expect(await untilForgotten(gateway, 400), gateway.log()).toBe(0), 60_000);

    it.each(cases)("%s comes up with %s", { timeout: 60_000 }, async (name, login, faults, fieldsOf) => {
      // A login of nine round trips through a path that delays and loses takes longer than the others have here.
      gateway.load(connections({ proposals: "aes256-sha256-modp2048" }), { halfOpen: 12 });
      const relays = await Promise.all(
        [500, 4_500].map((port) =>
          openDatagramRelay({
            server: { host: gateway.namespace.serverIp, port },
            faults,
            listen: { host: RELAY, port },
          }),
        ),
      );
      const outcome = await check({ fields: fieldsOf, timeoutMs: 20_000 }, gateway);
      await Promise.all(relays.map((relay) => relay.close()));
      tell(`a path that ${name}, ${login}`, outcome, null);
      expect(outcome.verdict, `${outcome.message}\n${gateway.log()}`).toBe("ok");
    });
  });
});
