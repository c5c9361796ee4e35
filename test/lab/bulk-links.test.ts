/** `sonde check` and `sonde bulk` with real share links, through real cores to a real server. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { sonde } from "../command.ts";
import { describeWith } from "../prerequisites.ts";
import { CORE_PLACES } from "./cores.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, PASSWORD, UUID } from "./link-rig.ts";

const NAMES = 40;
const FEW = 4;

describeWith(["proxy cores"], "share links without a server", () => {
  let rig: LinkRig;
  let env: Record<string, string>;
  let list: string;
  let first: string;
  /** Its first ones, and the wrong ones. */
  let few: string;
  /** Answers as Cloudflare's trace does; and more bytes than are taken, over TLS. */
  let trace: string;
  let download: string;
  const closers: (() => void)[] = [];
  beforeAll(async () => {
    rig = await openLinkRig();
    const tls = { enabled: true, certificate_path: `${rig.folder}/server.crt`, key_path: `${rig.folder}/server.key` };
    const [vless, trojan] = await rig.serve("singbox", [
      { type: "vless", listen: "0.0.0.0", users: [{ uuid: UUID }] },
      { type: "trojan", listen: "0.0.0.0", users: [{ password: PASSWORD }], tls },
    ]);
    const traces = createHttp((_, response) => response.end("fl=1\nip=203.0.113.7\nloc=NL\n"));
    const much = Buffer.alloc(12 * 1024 * 1024);
    const pages = createHttps(
      { cert: readFileSync(`${rig.folder}/server.crt`), key: readFileSync(`${rig.folder}/server.key`) },
      (request, response) => response.end(request.url === "/few" ? "few" : much),
    );
    for (const server of [traces, pages])
      closers.push(
        () => server.closeAllConnections(),
        () => server.close(),
      );
    trace = `http://127.0.0.1:${await listen(traces)}/#trace`;
    download = `https://127.0.0.1:${await listen(pages)}/`;
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
    const links = Array.from({ length: NAMES }, (_, index) => alive(index));
    list = [...links, ...wrong].join("\n");
    few = [...links.slice(0, FEW), ...wrong].join("\n");
  });
  afterAll(() => {
    for (const close of closers) close();
    return rig.close();
  });

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

  it("says where traffic leaves, what failed and why, and asks what it is told to ask", {
    timeout: 120_000,
  }, async () => {
    const words = ["bulk", "-", "--failures", "--url", trace, "--url", download];
    const { stdout, code } = await sonde(words, { env: { ...env, SONDE_VERIFY_URLS: "" }, input: few });
    expect(stdout.match(/ 203\.0\.113\.7 +NL /g)).toHaveLength(FEW);
    expect(stdout).toMatch(/^failed +protocol +server +name +why$/m);
    expect(stdout).toMatch(/^auth_failed +vless +127\.0\.0\.1:\d+ +wrong +The server does not know the user/m);
    expect(code).toBe(0);
    const plain = await sonde(["bulk", "-", "--url", "http://127.0.0.1/"], { env, input: few });
    expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining("--url http://127.0.0.1/: ")]);
    const pages = await sonde(["bulk", "-", "--json", "--url", `${download}few`], { env, input: few });
    expect(pages.stdout).toContain(`"healthy":${FEW},`);
  });

  it("measures a bounded download through those that answered first", { timeout: 120_000 }, async () => {
    const words = ["bulk", "-", "--json", "--top", "4", "--speed", download];
    const speeds = async (input: string) => {
      const { stdout } = await sonde(words, { env, input });
      const lines = stdout.trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ type }) => type === "speed");
    };
    const measured = await speeds(few);
    expect(measured).toHaveLength(4);
    for (const one of measured) expect(one.mbit_per_s).toBeGreaterThan(0);
    words[words.length - 1] = `${download}few`;
    expect((await speeds(few)).map(({ mbit_per_s }) => mbit_per_s)).toEqual([null, null, null, null]);
    const table = await sonde(["bulk", "-", "--top", "1", "--speed", download], { env, input: few });
    expect(table.stdout).toMatch(/^latency ms +Mbit\/s +connect ms /m);
    const csv = await sonde(["bulk", "-", "--csv", "--top", "2", "--speed", download], { env, input: few });
    const [head = "", ...rows] = csv.stdout.trimEnd().split("\r\n");
    const speedIn = (row: string): string => row.slice(row.lastIndexOf(",") + 1);
    expect([speedIn(head), rows.length]).toEqual(["mbit_per_s", FEW + 2]);
    expect(rows.filter((row) => Number(speedIn(row)) > 0)).toHaveLength(2);
    expect(rows.filter((row) => speedIn(row) === "")).toHaveLength(FEW);
  });

  it("gives lists to Clash and to sing-box, which take them", { timeout: 120_000 }, async () => {
    for (const form of ["--clash", "--sing-box"]) {
      const { stdout, code } = await sonde(["bulk", "-", form], { env, input: few });
      expect(code).toBe(0);
      const again = await sonde(["bulk", "-", "--json", "--require", "100%"], { env, input: stdout });
      expect([form, again.code, again.stdout.includes(`"healthy":${FEW},`)]).toEqual([form, 0, true]);
      if (form === "--clash" || CORE_PLACES.singbox === null) continue;
      const file = join(rig.folder, "list.json");
      writeFileSync(file, stdout);
      expect(() => execFileSync(CORE_PLACES.singbox ?? "", ["check", "-c", file])).not.toThrow();
    }
  });
});
