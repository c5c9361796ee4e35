/** `sonde check` as people and scripts call it: what it recognises, what it says, how it ends; and at a keyboard. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority } from "../../demo/certificates.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { directEnv, inShell, openWireguardWorld, SONDE, sonde, type WireguardWorld } from "../command.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp, startWebsite, type TcpTarget, type Website } from "../targets.ts";
import { closeTerminals, openTerminal } from "../terminal.ts";

const SECRET = "sEcReT-for-tests";
const UUID = "5ec2e700-1111-4222-8333-444455556666";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what may not reach a terminal
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

let folder: string;
let site: Website;
let mute: TcpTarget;
let world: WireguardWorld;
beforeAll(async () => {
  folder = temporaryFolder();
  [site, mute, world] = await Promise.all([startWebsite(), startTcp(() => undefined), openWireguardWorld(2)]);
});
afterAll(async () => {
  closeTerminals();
  await Promise.all([site.close(), mute.close(), world.server.close()]);
  await cleanUp();
});

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("sonde check", { timeout: 60_000 }, () => {
  it("says in words that a website passed, and where the time went", async () => {
    const { code, stdout, stderr } = await sonde(["check", site.url]);
    expect(stdout).toMatch(/^http {2}http:\/\/127\.0\.0\.1:\d+\/\n/);
    for (const stage of ["resolve", "connect", "request"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${stage} +\\d+\\.\\d ms$`, "m"));
    }
    expect(stdout).toMatch(/^PASSED in \d+\.\d\d s$/m);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(CONTROL);
  });

  it("says in words what failed, and ends with 1", async () => {
    const { code, stdout } = await sonde(["check", `127.0.0.1:${await freePort()}`]);
    expect(stdout).toMatch(/^ {2}connect +\d+\.\d ms {2}✗ failed here$/m);
    expect(stdout).toMatch(/^FAILED after \d+\.\d\d s: server_not_connected \(refused\)$/m);
    expect(stdout).toMatch(/^ {2}why +\S/m);
    expect(stdout).toMatch(/^ {2}address +127\.0\.0\.1:\d+$/m);
    expect(code).toBe(1);
  });

  it("reads the files that lie beside an OpenVPN profile, and no others", async () => {
    const profile = ["client", "dev tun", `remote 127.0.0.1 ${await freePort()} tcp`, "ca ca.crt"].join("\n");
    const path = fileWith("beside.ovpn", `${profile}\n`);
    const missing = await sonde(["check", path]);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringMatching(/^sonde: the profile names ca\.crt, .*ENOENT/),
    ]);
    fileWith("ca.crt", makeAuthority().certPem);
    const { code, stdout } = await sonde(["check", path, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { protocol: "openvpn", error_category: "server_not_connected" },
    ]);
    const outside = fileWith("outside.ovpn", profile.replace("ca ca.crt", "ca /etc/hostname"));
    expect((await sonde(["check", outside])).stderr).toMatch(
      /^sonde: the profile names \/etc\/hostname, which is not beside it/,
    );
  });

  it("prints one JSON object", async () => {
    const { code, stdout } = await sonde(["check", site.url, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ target: site.url, name: null, protocol: "http", status: "healthy", verdict: "ok", error_category: null },
      ...{ error_message: null, latency_ms: expect.any(Number), stages: { connect: expect.any(Number) } },
    });
    expect(code).toBe(0);
    const failed = await sonde(["check", "--json", "--timeout", "1", `http://127.0.0.1:${mute.port}/`]);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      status: "down",
      verdict: "timeout",
      error_category: "server_not_connected",
    });
    expect(failed.code).toBe(1);
  });

  it("brings up the WireGuard tunnel of a file, and of the same text from stdin", async () => {
    const path = fileWith("wg0.conf", world.file(0));
    const { code, stdout } = await sonde(["check", path]);
    expect(stdout).toMatch(new RegExp(`^wireguard {2}127\\.0\\.0\\.1:${world.server.port}\n`));
    expect(stdout).toMatch(/^ {2}handshake +\d+\.\d ms$/m);
    expect(stdout).toMatch(/^ {2}inside +10\.66\.0\.2$/m);
    expect([code, stdout.includes(Buffer.alloc(32, 1).toString("base64"))]).toEqual([0, false]);
    const piped = await sonde(["check", "-", "--json"], { input: world.file(1) });
    expect(JSON.parse(piped.stdout)).toMatchObject({ protocol: "wireguard", assigned_ip: "10.66.0.3", verdict: "ok" });
    const silent = await sonde(["check", "-", "--timeout", "2"], { input: world.unknownFile(0) });
    expect(silent.stdout).toMatch(/^FAILED after \d+\.\d\d s: server_not_connected \(timeout\)$/m);
    expect(silent.code).toBe(1);
  });

  it("knows AmneziaWG and OpenVPN by their own words", async () => {
    const amnezia = world.unknownFile(1).replace("Address", "Jc = 3\nJmin = 10\nJmax = 20\nAddress");
    const first = await sonde(["check", "-", "--json", "--timeout", "1"], { input: amnezia });
    expect(JSON.parse(first.stdout)).toMatchObject({ protocol: "amneziawg", status: "down" });
    const profile = fileWith(
      "a.ovpn",
      `client\ndev tun\nremote 127.0.0.1 ${await freePort()} tcp\n<ca>\n${SECRET}\n</ca>\n`,
    );
    const second = await sonde(["check", profile, "--json", "--timeout", "2"]);
    expect(JSON.parse(second.stdout || "{}")).toMatchObject({ protocol: "openvpn", status: "down" });
    expect(second.stdout + second.stderr).not.toContain(SECRET);
  });

  it("takes a login without a file; its password comes from a file or stdin, and is never shown", async () => {
    const port = String(await freePort());
    const words = ["check", "127.0.0.1", "--protocol", "openconnect", "--username", "ada", "--port", port, "--json"];
    const byFile = await sonde([...words, "--password-file", fileWith("password", `${SECRET}\n`)]);
    expect(JSON.parse(byFile.stdout)).toMatchObject({
      protocol: "openconnect",
      verdict: "refused",
      target: `127.0.0.1:${port}`,
    });
    const byStdin = await sonde([...words, "--password-file", "-"], { input: `${SECRET}\n` });
    expect(JSON.parse(byStdin.stdout)).toMatchObject({ verdict: "refused" });
    expect(byFile.stdout + byStdin.stdout).not.toContain(SECRET);
    const unasked = await sonde(words);
    expect(unasked.stderr).toBe(
      "sonde: password of ada is missing: give --password-file, or - as its file for stdin\n",
    );
    expect([unasked.code, unasked.stdout]).toEqual([2, ""]);
  });

  it("refuses private addresses, and names the setting that opens them", async () => {
    const { code, stdout } = await sonde(["check", site.url], { env: { SONDE_ALLOW_NETS: "" } });
    expect(stdout).toMatch(/config_error \(misconfigured\)/);
    expect(stdout).toMatch(/^ {2}hint +SONDE_ALLOW_NETS opens networks$/m);
    expect(code).toBe(1);
  });

  it("says what to do when a link needs a core that is not there", async () => {
    const env = { SONDE_DATA_DIR: folder, PATH: "/nowhere" };
    const { code, stdout } = await sonde(["check", `vless://${UUID}@127.0.0.1:${mute.port}?type=tcp#Berlin`], { env });
    expect(stdout).toMatch(/^vless {2}127\.0\.0\.1:\d+ {2}Berlin\n/);
    expect(stdout).toMatch(/^NOT MEASURED: checker_error \(unsupported\)/m);
    expect(stdout).toContain("sonde cores install");
    expect([code, stdout.includes(UUID)]).toEqual([1, false]);
  });

  it("makes the text of an unknown server harmless", async () => {
    const name = encodeURIComponent("Evil \u001b[2J\u0007\u009b31m\u202egnp\u2066\r\nname");
    const link = `vless://${UUID}@127.0.0.1:9?type=tcp#${name}`;
    const { stdout } = await sonde(["check", link, "--timeout", "1"]);
    expect(stdout).toContain("Evil ");
    expect(stdout).not.toMatch(CONTROL);
    const json = await sonde(["check", link, "--timeout", "1", "--json"]);
    expect(json.stdout).not.toMatch(CONTROL);
    expect((JSON.parse(json.stdout) as { name: string }).name).toContain("\u202e");
  });

  it("says in one line that its output cannot be written, and so do the other commands", async () => {
    const list = "trojan://secret@127.0.0.1:9?security=tls";
    for (const command of ["sonde check 127.0.0.1:9", "sonde schema", `echo '${list}' | sonde bulk - --csv`]) {
      const { code, stderr } = await inShell(`${command} > /dev/full`);
      expect([command, code]).toEqual([command, 1]);
      expect(stderr).toMatch(/^sonde: the output cannot be written \(ENOSPC\)$/m);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
  });

  it("reads a pipe that another program made non-blocking, and that is still empty", async () => {
    const nonBlocking = "perl -MFcntl -e 'fcntl(STDIN, F_SETFL, O_NONBLOCK); exec @ARGV'";
    const script = `(sleep 0.3; echo 'sonde: 2') | ${nonBlocking} "${process.execPath}" "${SONDE}" apply - --plan`;
    const { stderr } = await inShell(script, { SONDE_KEY: "uk1_x", SONDE_URL: "http://127.0.0.1:1" });
    expect(stderr).toMatch(/^sonde: no answer from http:\/\/127\.0\.0\.1:1 /);
  });

  it("ends with 2 and one line when the call is wrong", async () => {
    const wrong: readonly (readonly [words: readonly string[], message: RegExp, input?: string])[] = [
      [["-"], /^sonde: nothing to check: give a link/],
      [["nowhere.conf"], /^sonde: there is no file nowhere\.conf$/],
      [["./nowhere"], /^sonde: there is no file \.\/nowhere$/],
      [["dns://192.0.2.1"], /that can be used: dns is not supported \(--help shows what is taken\)$/],
      [["what is this"], /^sonde: this is no link, configuration or address that is known here/],
      [["vless://nope"], /^sonde: the configuration cannot be used: the link has no server after an @$/],
      [
        ["-"],
        /^sonde: the configuration cannot be used: PrivateKey is not a key of 32 bytes in base64$/,
        "[Interface]\nPrivateKey = x\n",
      ],
      [
        ["-"],
        /^sonde: there is more than one configuration in it: use sonde bulk$/,
        `ss://YWVzLTI1Ni1nY206YQ@a.test-site.org:8001\nss://YWVzLTI1Ni1nY206Yg@a.test-site.org:8002\n`,
      ],
      [["-"], /larger than 1 MiB: for a list use sonde bulk$/, "x".repeat(1024 * 1024 + 1)],
      [["x.test-site.org", "--protocol", "ipsec"], /^sonde: --protocol must be one of wireguard, /],
      [["x.test-site.org", "--timeout", "0"], /^sonde: --timeout must be 1 to 120 seconds$/],
      [["x.test-site.org", "--port", "70000"], /^sonde: --port must be 1 to 65535$/],
      [[site.url, "--engine", "xray"], /^sonde: --engine is for share links$/],
      [[site.url, "--engine", "v2ray"], /^sonde: --engine must be xray or singbox$/],
      [
        [`tuic://${UUID}:x@a.test-site.org:1`, "--engine", "xray"],
        /^sonde: xray cannot run tuic: use --engine singbox$/,
      ],
      [
        [`vless://${UUID}@a.test-site.org:1?type=xhttp`, "--engine", "singbox"],
        /^sonde: sing-box has no xhttp: leave --engine out, or name the other one$/,
      ],
      [["gw.test-site.org", "--protocol", "openconnect"], /^sonde: openconnect needs --username$/],
      [["tcp://a.test-site.org:1?%1b[31m=1"], /^sonde: port checks have no �\[31m: they have/],
      [["./"], /^sonde: \.\/ is a folder: sonde bulk checks the files of one$/],
      [["-", "--password-file", "-"], /^sonde: stdin can be the configuration or the password, not both$/],
    ];
    for (const [words, message, input = ""] of wrong) {
      const { code, stdout, stderr } = await sonde(["check", ...words], { input });
      expect([words, code, stdout]).toEqual([words, 2, ""]);
      expect(stderr.trimEnd()).toMatch(message);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    }
    expect((await sonde(["check"])).code).toBe(2);
    expect((await sonde(["check", "--nonsense", "x"])).code).toBe(2);
    expect((await sonde(["check", "--help"])).code).toBe(0);
    const setting = await sonde(["check", site.url], { env: { SONDE_ALLOW_NETS: "nonsense" } });
    expect(setting.stderr).toMatch(/^sonde: .*nonsense/);
    expect(setting.stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("sonde check at a keyboard", { timeout: 60_000 }, () => {
  it("asks for a password and does not show it", async () => {
    const port = String(await freePort());
    const words = ["check", "127.0.0.1", "--protocol", "ikev2", "--username", "ada", "--port", port, "--timeout", "2"];
    const terminal = openTerminal(process.execPath, [SONDE, ...words], directEnv());
    await eventually(async () => (terminal.shown().includes("password of ada: ") ? true : undefined), 30_000);
    terminal.type(`${SECRET}\r`);
    expect(await terminal.ended).toBe(1);
    expect(terminal.shown()).toContain("FAILED");
    expect(terminal.shown()).not.toContain(SECRET);
    const left = openTerminal(process.execPath, [SONDE, ...words], directEnv());
    await eventually(async () => (left.shown().includes("password of ada: ") ? true : undefined), 30_000);
    left.type("\u0003");
    expect(await left.ended).toBe(130);
  });

  it("ends at Ctrl-C, whatever it waits for", async () => {
    const before = mute.connections();
    const terminal = openTerminal(
      process.execPath,
      [SONDE, "check", `http://127.0.0.1:${mute.port}/`, "--timeout", "120"],
      directEnv(),
    );
    await eventually(async () => (mute.connections() > before ? true : undefined), 30_000);
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
    expect(terminal.shown()).toContain("sonde: interrupted");
  });

  it("has colours, and none where they are not wanted", async () => {
    const shown = async (env: Record<string, string>) => {
      const terminal = openTerminal(process.execPath, [SONDE, "check", site.url], env);
      expect(await terminal.ended).toBe(0);
      return terminal.shown();
    };
    expect(await shown(directEnv())).toContain("\u001b[32mPASSED\u001b[39m");
    for (const more of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      expect((await shown(directEnv(more))).replaceAll("\r\n", "\n")).not.toMatch(CONTROL);
    }
  });
});
