/**
 * Share links through the whole product, against real servers: one-off checks, monitors on schedule, tests, events at a receiver; and no
 * credential of any protocol left anywhere, whether its check passes or fails.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openReceiver, type Receiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import type { MonitorBody } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilMonitor } from "../product.ts";
import { cleanUp } from "../service.ts";
import { openProxyLab, type ProxyLab } from "./proxy-lab.ts";
import { SECRETS } from "./proxy-material.ts";
import { leaksOf } from "./secrets.ts";

/** A core that must be built first needs minutes. */
const BUILD_MS = 30 * 60_000;
const WITHIN_MS = 90_000;

const PASSING = [
  "vless tcp reality @xray",
  "vless vision tls @xray",
  "vmess ws tls @xray",
  "trojan tcp tls @singbox",
  "ss aes-256-gcm @xray",
  "ss 2022 users @singbox",
  "ss 2022 users 256 @singbox",
  "hysteria2 salamander @singbox",
  "tuic native bbr @singbox",
];
const FAILING = [
  "wrong user, vless tcp none @singbox",
  "wrong user, vmess tcp tls @singbox",
  "wrong user, trojan with a page behind @xray",
  "ss wrong password @singbox",
  "ss 2022 wrong user @singbox",
  "ss 2022 wrong key @singbox",
  "hysteria2 wrong password @singbox",
  "tuic wrong password",
  "reality wrong short id @xray",
  "certificate expired",
  "closed, vless tcp tls",
];
/** What no core can be given: refused when it is asked for. */
const UNUSABLE = [
  `vless://${SECRETS.wrongUuid}@127.0.0.1:443?security=reality&sni=lab.test&pbk=${SECRETS.wrongPassword}`,
  `ss://2022-blake3-aes-128-gcm:${SECRETS.wrongPassword}@127.0.0.1:443`,
  `hysteria2://${SECRETS.wrongPassword}@127.0.0.1:443?obfs=${SECRETS.salamander}`,
];

describeWith(["proxy cores", "openssl"], "share links in the product", () => {
  const answers: unknown[] = [];
  let lab: ProxyLab;
  let product: Product;
  let receiver: Receiver;

  beforeAll(async () => {
    lab = await openProxyLab();
    receiver = await openReceiver();
    const caFile = join(temporaryFolder(), "ca.pem");
    writeFileSync(caFile, lab.material.authority.pem);
    const { resolvers, verifyUrls, cores } = lab.engine;
    product = await startProduct({
      env: {
        SONDE_EXTRA_CA: caFile,
        SONDE_RESOLVERS: resolvers.join(","),
        SONDE_VERIFY_URLS: verifyUrls?.join(",") ?? "",
        SONDE_XRAY: cores?.xray ?? "",
        SONDE_SING_BOX: cores?.singbox ?? "",
        // The most that it can say.
        SONDE_LOG: "trace",
      },
    });
    const allow = { SONDE_ALLOW_NETS: "127.0.0.0/8" };
    await admin(product, allow, "webhook", "create", "--project", "prj_1", "--url", receiver.url);
  }, BUILD_MS);
  afterAll(async () => {
    await receiver?.close();
    await product?.stop();
    await cleanUp();
    await lab?.close();
  });
  const linkOf = (name: string): string => lab.cases.get(name) ?? "";

  it(
    "answer a one-off check as the contract says",
    async () => {
      const good = await product.api.post("/check", { config: linkOf("vless tcp reality @xray") });
      expect(good).toMatchObject({
        status: 200,
        body: {
          status: "healthy",
          protocol: "vless",
          latency_ms: expect.any(Number),
          connect_ms: expect.any(Number),
          connection_time_ms: expect.any(Number),
          handshake_time_ms: null,
          error_message: null,
          error_category: null,
          engine_used: "xray",
        },
      });
      answers.push(good);
      const wrong = FAILING.map((name) => product.api.post("/check", { config: linkOf(name) }));
      answers.push(...(await Promise.all(wrong)));
      for (const url of UNUSABLE) {
        const refused = await product.api.post("/check", { config: url });
        expect(refused.status).toBeGreaterThanOrEqual(400);
        answers.push(refused);
      }
    },
    WITHIN_MS,
  );

  it(
    "are watched on schedule, and their failures told",
    async () => {
      const make = (name: string): Promise<string> =>
        createMonitor(product.api, { url: linkOf(name), name, interval: 5, timeout: 10, maxretries: 0 });
      const passing = await Promise.all(PASSING.map(make));
      const failing = await Promise.all(FAILING.map(make));
      for (const id of passing) {
        answers.push(await untilMonitor(product.api, id, ({ status }) => status === "healthy", WITHIN_MS));
        answers.push(await product.api.post("/test", { server_id: id }));
      }
      const isOut = ({ status }: MonitorBody): boolean => status === "down" || status === "degraded";
      for (const id of failing) {
        answers.push(await untilMonitor(product.api, id, isOut, WITHIN_MS));
        answers.push(await product.api.get(`/servers/${id}/results`));
        answers.push(await product.api.get(`/servers/${id}/history`));
      }
      answers.push(await product.api.get("/incidents"));
      answers.push(...(await receiver.waitFor(FAILING.length)));
    },
    2 * WITHIN_MS,
  );

  it("leave none of their credentials in answers, events, output, stores and results", async () => {
    expect(await product.stop()).toBe(0);
    expect(answers.length).toBeGreaterThan(60);
    expect(leaksOf(product, SECRETS, answers)).toEqual([]);
    // The search finds what is there.
    expect(leaksOf(product, { name: "tuic wrong password" }, answers)).not.toEqual([]);
  });
});
