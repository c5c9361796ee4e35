/** `sonde bulk` as people and scripts call it: lists, forms of output, pipes, the terminal, being stopped and going on. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { directEnv, inShell, openWireguardWorld, SONDE, sonde, type WireguardWorld } from "../command.ts";
import { cleanUp, eventually } from "../service.ts";
import { closeTerminals, openTerminal, type Terminal } from "../terminal.ts";

const CLIENTS = 12;
const SILENT_CLIENTS = 4;
const UUID = "5ec2e700-1111-4222-8333-444455556666";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what may not reach a terminal
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

let world: WireguardWorld;
/** 12 that are alive, 4 that no server answers, a duplicate, and three files that are no configuration. */
let mixed: string;
/** No server answers any of them. */
let dead: string;
/** All alive. */
let alive: string;
beforeAll(async () => {
  world = await openWireguardWorld(CLIENTS);
  mixed = folderOf({
    ...files("alive", CLIENTS, world.file),
    ...files("dead", SILENT_CLIENTS, world.unknownFile),
    "z-again.conf": world.file(0),
    "=cmd|calc.conf": "[Interface]\n",
    "evil\u202egnp.conf": "nothing",
    "nothing.ovpn": "client\ndev tun\n",
    "readme.txt": "not looked at",
  });
  dead = folderOf(files("dead", CLIENTS, world.unknownFile));
  alive = folderOf(files("alive", CLIENTS, world.file));
});
afterAll(async () => {
  closeTerminals();
  await world.server.close();
  await cleanUp();
});

function folderOf(texts: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder(), "list");
  mkdirSync(folder);
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return folder;
}

function files(name: string, count: number, textOf: (client: number) => string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, client) => [`${name}-${client}.conf`, textOf(client)]));
}

interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
}

function linesOf(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

describe("sonde bulk in pipes", { timeout: 90_000 }, () => {
  it("shows a table sorted by latency, the counts, and what was left out and why; no escape codes", async () => {
    const { code, stdout, stderr } = await sonde(["bulk", mixed, "--timeout", "7"]);
    const rows = stdout.split("\n").filter((line) => /^ +\d+ +\d+ {2}wireguard {2}/.test(line));
    const latencies = rows.map((row) => Number.parseInt(row, 10));
    expect(latencies).toHaveLength(CLIENTS);
    expect(latencies).toEqual([...latencies].sort((one, other) => one - other));
    expect(rows.find((row) => row.endsWith("alive-0"))).toContain("10.66.0.2");
    expect(stdout).toMatch(/^16 checked in \d+\.\d+ s \(\d+\/s\), 12 healthy \(75\.0 %\)$/m);
    expect(stdout).toMatch(/^ {2}wireguard 12\/16$/m);
    expect(stdout).toMatch(/^ {2}healthy 12 · server_not_connected 4$/m);
    expect(stdout).toMatch(/^ {2}1 left out: the same configuration is in the list before$/m);
    expect(stdout).toMatch(/^ {2}3 left out: no configuration that can be used$/m);
    expect(stdout).toMatch(/^ {4}evil�gnp\.conf: no VPN configuration that is known here$/m);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(CONTROL);
  });

  it("prints lines of JSON that account for everything", async () => {
    const { code, stdout, stderr } = await sonde(["bulk", mixed, "--timeout", "7", "--json"]);
    const lines = linesOf(stdout);
    const results = lines.filter(({ type }) => type === "result");
    expect(results).toHaveLength(CLIENTS + SILENT_CLIENTS);
    expect(new Set(results.map(({ line }) => line)).size).toBe(CLIENTS + SILENT_CLIENTS);
    expect(results.find(({ line }) => line === "alive-3.conf")).toMatchObject({
      ...{ protocol: "wireguard", status: "healthy", verdict: "ok", error_category: null, assigned_ip: "10.66.0.5" },
      ...{ server: `127.0.0.1:${world.server.port}`, name: "alive-3", latency_ms: expect.any(Number) },
    });
    expect(results.find(({ line }) => line === "dead-1.conf")).toMatchObject({
      ...{ status: "down", verdict: "timeout", error_category: "server_not_connected", latency_ms: null },
    });
    const left = lines.filter(({ type }) => type === "left_out");
    expect(left).toHaveLength(4);
    expect(left).toContainEqual({
      type: "left_out",
      line: "z-again.conf",
      reason: "duplicate",
      same_as: "alive-0.conf",
    });
    expect(lines.at(-1)).toMatchObject({
      ...{ type: "summary", total: 16, checked: 16, healthy: 12, interrupted: false, duplicates: 1, unusable: 3 },
      ...{ by_protocol: { wireguard: { checked: 16, healthy: 12 } }, by_category: { server_not_connected: 4 } },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toMatch(CONTROL);
  });

  it("prints CSV without formulas, and the names of what is healthy; as many must be as are required", async () => {
    const csv = await sonde(["bulk", mixed, "--timeout", "7", "--csv"]);
    const rows = csv.stdout.trimEnd().split("\r\n");
    expect(rows[0]).toMatch(/^line,protocol,server,name,status,verdict,error_category,latency_ms,/);
    expect(rows).toHaveLength(1 + CLIENTS + SILENT_CLIENTS);
    for (const row of rows) expect(row).not.toMatch(/(^|,)"?[=+@-]/);
    expect(csv.stderr).toMatch(/^16 checked in /);
    const links = await sonde(["bulk", mixed, "--timeout", "7", "--links", "--require", "90%"]);
    expect(links.stdout.trimEnd().split("\n").sort()).toEqual(Object.keys(files("alive", CLIENTS, world.file)).sort());
    expect(links.code).toBe(1);
    expect((await sonde(["bulk", mixed, "--timeout", "7", "--links", "--require", "12"])).code).toBe(0);
  });

  it("reads links from stdin, and says of each line that is none what is wrong with it", async () => {
    const port = await freePort();
    const link = (name: string) => `vless://${UUID}@127.0.0.1:${port}?type=tcp#${name}`;
    const evil = encodeURIComponent("=1+1\u001b[2J\u202e");
    const input = [
      "",
      "# a comment",
      link("A"),
      "junk",
      link("B"),
      "vless://nope",
      `trojan://pw@127.0.0.1:${port}#${evil}`,
      "",
    ].join("\n");
    const { code, stdout } = await sonde(["bulk", "-", "--json", "--links"], { input });
    const lines = linesOf(stdout);
    expect(lines.filter(({ type }) => type === "result")).toEqual([
      expect.objectContaining({
        line: 3,
        name: "A",
        verdict: "refused",
        link: expect.stringContaining(`vless://${UUID}@`),
      }),
      expect.objectContaining({ line: 7, protocol: "trojan", verdict: "refused" }),
    ]);
    expect(lines.filter(({ type }) => type === "left_out")).toEqual([
      { type: "left_out", line: 4, reason: "this is no link" },
      { type: "left_out", line: 6, reason: "the link has no server after an @" },
      { type: "left_out", line: 5, reason: "duplicate", same_as: 3 },
    ]);
    expect([code, CONTROL.test(stdout)]).toEqual([1, false]);
    const csv = await sonde(["bulk", "-", "--csv", "--protocol", "trojan"], { input });
    expect(csv.stdout.split("\r\n")[1]).toMatch(/^7,trojan,127\.0\.0\.1:\d+,"?'=1\+1�/);
    expect(csv.stdout.trimEnd().split("\r\n")).toHaveLength(2);
  });

  it("fetches a subscription, through the address guard", async () => {
    const port = await freePort();
    const body = Buffer.from(`vless://${UUID}@127.0.0.1:${port}?type=tcp#A\n`).toString("base64");
    const server = createServer((_, response) => response.end(body));
    const url = `http://127.0.0.1:${await listen(server)}/sub`;
    const { stdout } = await sonde(["bulk", url, "--json"]);
    expect(linesOf(stdout)[0]).toMatchObject({ type: "result", name: "A", verdict: "refused" });
    const refused = await sonde(["bulk", url, "--json"], { env: { SONDE_ALLOW_NETS: "" } });
    expect(refused.stderr).toMatch(/^sonde: the subscription cannot be had: /);
    expect([refused.code, refused.stdout, refused.stderr.includes("/sub")]).toEqual([1, "", false]);
    server.close();
  });

  it("ends soon and quietly when no process reads any more", async () => {
    // Those that no server answers would take ten minutes, one after the other.
    const folder = folderOf({ ...files("a", 2, world.file), ...files("b", CLIENTS, world.unknownFile) });
    const { stdout, stderr } = await inShell(
      `sonde bulk "${folder}" --json --concurrency 1 --timeout 50 | head -n 1; echo "\${PIPESTATUS[0]}"`,
    );
    const [line = "", status] = stdout.split("\n");
    expect(JSON.parse(line)).toMatchObject({ type: "result", line: "a-0.conf" });
    expect([status, stderr]).toEqual(["141", ""]);
  });

  it("takes a hundred thousand lines", async () => {
    const port = await freePort();
    const lines = Array.from({ length: 100_000 }, (_, index) => {
      const id = String(index % 500).padStart(12, "0");
      return index % 2 === 0
        ? `junk ${index}`
        : `vless://5ec2e700-1111-4222-8333-${id}@127.0.0.1:${port}?type=tcp#N${index}`;
    });
    const path = join(temporaryFolder(), "list.txt");
    writeFileSync(path, lines.join("\n"));
    const { code, stdout } = await sonde(["bulk", path, "--json"]);
    const all = linesOf(stdout);
    expect(all.filter(({ type }) => type === "result")).toHaveLength(250);
    expect(all.filter(({ type }) => type === "left_out")).toHaveLength(99_750);
    expect(all.at(-1)).toMatchObject({ checked: 250, by_category: { server_not_connected: 250 }, unusable: 50_000 });
    expect(code).toBe(1);
  });

  it("ends with one line when the call or the list is wrong", async () => {
    const page = join(temporaryFolder(), "page.html");
    writeFileSync(page, "<!doctype html><p>Log in</p>");
    const wrong: readonly (readonly [words: readonly string[], code: number, message: RegExp])[] = [
      [["nowhere.txt"], 2, /^sonde: there is no file nowhere\.txt$/],
      [["-"], 1, /^sonde: The list is empty\.$/],
      [[page], 1, /^sonde: The answer is a web page, not a list\.$/],
      [["-", "--concurrency", "0"], 2, /^sonde: --concurrency must be a whole number from 1 to 4096$/],
      [["-", "--timeout", "999"], 2, /^sonde: --timeout must be a whole number from 1 to 120$/],
      [["-", "--require", "101%"], 2, /^sonde: --require must be a number such as 10 or 90%$/],
      [["-", "--json", "--csv"], 2, /^sonde: --json and --csv cannot be had together$/],
      [[mixed, "--protocol", "ipsec"], 2, /^sonde: --protocol must be one of /],
      [[mixed, "--resume", page], 2, /is no file of a former run: give one that does not exist yet$/],
      [
        [mixed, "--resume", "/nowhere/x.jsonl"],
        2,
        /^sonde: cannot write \/nowhere\/x\.jsonl \(ENOENT\): name a file in a folder/,
      ],
    ];
    for (const [words, code, message] of wrong) {
      const ended = await sonde(["bulk", ...words]);
      expect([words, ended.code, ended.stdout]).toEqual([words, code, ""]);
      expect(ended.stderr.trimEnd()).toMatch(message);
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    }
  });

  it("goes on without its file of results when the disk takes no more, and says so once", async () => {
    const [list, journal] = [join(temporaryFolder(), "list.txt"), join(temporaryFolder(), "full.jsonl")];
    const links = Array.from({ length: 40 }, (_, at) => `trojan://secret@127.0.0.1:9?security=tls#Node ${at}`);
    writeFileSync(list, links.map((link, at) => link.replace("secret", `secret${at}`)).join("\n"));
    // A limit of 1 KiB for each file stands for the disk.
    const { code, stdout, stderr } = await inShell(
      `trap '' XFSZ; ulimit -f 1; sonde bulk ${list} --json --resume ${journal} | cat`,
    );
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "summary", checked: 40 });
    expect(stderr.match(/cannot write .*full\.jsonl \(EFBIG\): further results are not kept in it/g)).toHaveLength(1);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(code).toBe(0);
  });

  it("goes on where a run was stopped, and says what cannot go on", async () => {
    const journal = join(temporaryFolder(), "night.jsonl");
    const words = ["bulk", mixed, "--timeout", "7", "--json", "--resume", journal];
    expect((await sonde(words)).code).toBe(0);
    const kept = readFileSync(journal, "utf8").split("\n");
    expect(kept[0]).toBe('{"sonde_bulk":1,"timeout_s":7,"engine":null}');
    expect(kept).toHaveLength(2 + CLIENTS + SILENT_CLIENTS);
    expect(kept.join("")).not.toContain("PrivateKey");
    // As a SIGKILL leaves it: some results, and half a line.
    writeFileSync(journal, `${kept.slice(0, 9).join("\n")}\n${kept[9]?.slice(0, 20)}`);
    const before = world.server.handshakes;
    const { stdout } = await sonde(words);
    expect(linesOf(stdout).at(-1)).toMatchObject({ checked: 16, resumed: 8, healthy: 12 });
    expect(linesOf(stdout).filter(({ type }) => type === "result")).toHaveLength(16);
    expect(world.server.handshakes - before).toBeLessThanOrEqual(CLIENTS);
    const again = await sonde(words);
    expect(linesOf(again.stdout).at(-1)).toMatchObject({ checked: 16, resumed: 16 });
    const other = await sonde(["bulk", mixed, "--timeout", "3", "--resume", journal]);
    expect(other.stderr).toMatch(
      /is of a run with --timeout 7 without --engine: give the same options, or another file$/m,
    );
    expect(other.code).toBe(2);
  });
});

describe("sonde bulk on a terminal", { timeout: 90_000 }, () => {
  const open = (words: readonly string[], more: Record<string, string> = {}): Terminal =>
    openTerminal(process.execPath, [SONDE, "bulk", ...words], directEnv(more), { columns: 100, rows: 30 });
  const until = (terminal: Terminal, look: RegExp) =>
    eventually(async () => (look.test(terminal.shown()) ? true : undefined), 30_000);

  it("shows progress, survives a resize, and ends at Ctrl-C with what there is and how to go on", async () => {
    const folder = folderOf({ ...files("a", 3, world.file), ...files("b", CLIENTS, world.unknownFile) });
    const terminal = open([folder, "--timeout", "60", "--concurrency", "8"]);
    await until(terminal, /20\.0 % {2}3 of 15 .*· 8 in flight/);
    expect(terminal.shown()).toMatch(/wireguard 3\/3/);
    expect(terminal.shown()).toMatch(/healthy 3/);
    const before = terminal.shown().length;
    terminal.resize(40, 12);
    await eventually(async () => (terminal.shown().length > before ? true : undefined));
    const narrow = terminal.shown().slice(before);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: of the cursor
    const lines = narrow.replace(/\u001b\[\d*[AKJ]/g, "").split(/\r?\n|\r/);
    for (const line of lines) expect(line.length).toBeLessThan(40);
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
    const last = terminal.shown().slice(terminal.shown().lastIndexOf("\u001b[J"));
    expect(last).toMatch(/stopped: 3 of 15 checked in /);
    const [, path = ""] = /give the same command with --resume (\S+)/.exec(last) ?? [];
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(4);

    const handshakes = world.server.handshakes;
    const next = open([folder, "--timeout", "60", "--concurrency", "8", "--resume", path]);
    await until(next, /3 of 15 .*· 8 in flight/);
    next.type("\u0003");
    expect(await next.ended).toBe(130);
    expect(next.shown()).toMatch(/3 of them before, 3 healthy/);
    expect(world.server.handshakes).toBe(handshakes);
  });

  it("takes its lines away and leaves the table; thirty rows unless told otherwise", async () => {
    const terminal = open([alive, "--top", "5"]);
    expect(await terminal.ended).toBe(0);
    const shown = terminal.shown();
    expect(shown.match(/^ +\d+ +\d+ {2}wireguard {2}/gm)).toHaveLength(5);
    expect(shown).toContain("… and 7 more: --top all shows them");
    expect(shown).toMatch(/12 checked in .* 12 healthy \(100\.0 %\)/);
    // After the last erasure nothing but plain text.
    const last = shown.slice(shown.lastIndexOf("\u001b[J") + 3).replaceAll("\r\n", "\n");
    expect(last).not.toMatch(CONTROL);
    expect(last).toMatch(/^latency ms {2}connect ms {2}protocol/);
  });

  it("draws nothing where results stream to the same screen, or the terminal is dumb", async () => {
    for (const [words, more] of [
      [[alive, "--json"], {}],
      [[alive], { TERM: "dumb" }],
    ] as const) {
      const terminal = open(words, more);
      expect(await terminal.ended).toBe(0);
      expect(terminal.shown().replaceAll("\r\n", "\n")).not.toMatch(CONTROL);
    }
  });

  it("ends at once at a second signal", async () => {
    const terminal = open([dead, "--timeout", "60"]);
    await until(terminal, /12 in flight/);
    terminal.type("\u0003");
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
  });
});
