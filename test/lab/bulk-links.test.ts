/** `sonde check` and `sonde bulk` with real share links, through real cores to a real server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sonde } from "../command.ts";
import { describeWith } from "../prerequisites.ts";
import { CORE_PLACES } from "./cores.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, PASSWORD, UUID } from "./link-rig.ts";

const NAMES = 40;

describeWith(["proxy cores"], "share links without a server", () => {
  let rig: LinkRig;
  let env: Record<string, string>;
  let list: string;
  let first: string;
  beforeAll(async () => {
    rig = await openLinkRig();
    const tls = { enabled: true, certificate_path: `${rig.folder}/server.crt`, key_path: `${rig.folder}/server.key` };
    const [vless, trojan] = await rig.serve("singbox", [
      { type: "vless", listen: "0.0.0.0", users: [{ uuid: UUID }] },
      { type: "trojan", listen: "0.0.0.0", users: [{ password: PASSWORD }], tls },
    ]);
    const ca = join(rig.folder, "roots.pem");
    writeFileSync(ca, rig.authority.pem);
    env = {
      SONDE_VERIFY_URLS: rig.verifyUrls.join(","),
      SONDE_EXTRA_CA: ca,
      SONDE_DATA_DIR: CORE_PLACES.dataDir,
      ...(CORE_PLACES.xray !== null && { SONDE_XRAY: CORE_PLACES.xray }),
      ...(CORE_PLACES.singbox !== null && { SONDE_SING_BOX: CORE_PLACES.singbox }),
    };
    // Addresses of loopback, so that every one is a configuration of its own.
    const alive = (index: number): string =>
      index % 2 === 0
        ? `vless://${UUID}@127.0.0.${1 + index}:${vless}#A${index}`
        : `trojan://${PASSWORD}@127.0.0.${1 + index}:${trojan}?security=tls&sni=localhost#A${index}`;
    first = alive(0);
    const wrong = [
      `vless://${OTHER_UUID}@127.0.0.1:${vless}#wrong`,
      `trojan://other@127.0.0.1:${trojan}?security=tls&sni=localhost#wrong`,
    ];
    list = [...Array.from({ length: NAMES }, (_, index) => alive(index)), ...wrong].join("\n");
  });
  afterAll(() => rig.close());

  it("sonde check says through which core it passed, and where traffic left", { timeout: 60_000 }, async () => {
    for (const engine of ["xray", "singbox"]) {
      const { code, stdout } = await sonde(["check", first, "--engine", engine, "--json"], { env });
      expect(JSON.parse(stdout)).toMatchObject({
        verdict: "ok",
        engine_used: engine,
        name: "A0",
        latency_ms: expect.any(Number),
      });
      expect([code, stdout.includes(UUID)]).toEqual([0, false]);
    }
  });

  it("sonde bulk gives back the links that are healthy, and only these", { timeout: 60_000 }, async () => {
    const json = await sonde(["bulk", "-", "--json", "--links"], { env, input: list });
    const lines = json.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1)).toMatchObject({ type: "summary", checked: NAMES + 2, healthy: NAMES, unmeasured: 0 });
    expect(lines.filter(({ name }) => name === "wrong").map(({ status }) => status)).toEqual(["down", "down"]);
    const { stdout, stderr, code } = await sonde(["bulk", "-", "--links"], { env, input: list });
    expect(stdout.trimEnd().split("\n")).toHaveLength(NAMES);
    expect([code, stderr.includes(UUID)]).toEqual([0, false]);
    // Ready to be served again: what it gave is a list of the same servers.
    const again = await sonde(["bulk", "-", "--links", "--require", "100%"], { env, input: stdout });
    expect(again.stdout.trimEnd().split("\n").sort()).toEqual(stdout.trimEnd().split("\n").sort());
    expect(again.code).toBe(0);
  });
});
