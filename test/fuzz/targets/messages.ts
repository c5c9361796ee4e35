/** What other processes send and files hold: outcomes, reports, runs, spool frames, sealed texts, output of programs; lists of providers. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { dump } from "js-yaml";
import { readSpec } from "../../../checker/spec-reader.ts";
import { protocolOfFile, targetOf } from "../../../cli/check/target.ts";
import { CommandError } from "../../../cli/command.ts";
import { TunnelConfigError } from "../../../engine/contract/tunnel.ts";
import { cores } from "../../../engine/cores/choice.ts";
import { CoreLog } from "../../../engine/cores/core-log.ts";
import { reasonOf } from "../../../engine/cores/error-output.ts";
import { judge } from "../../../engine/cores/finding.ts";
import { singbox } from "../../../engine/cores/singbox.ts";
import { xray } from "../../../engine/cores/xray.ts";
import { plainText } from "../../../engine/net/classify.ts";
import { packOutcomes, unpackOutcomes } from "../../../engine/prober/packed.ts";
import {
  bytesOf,
  hostHeaderOf,
  hostOfHeaders,
  listOf,
  pathOf,
  uuidOf,
} from "../../../engine/protocols/share-link/field.ts";
import {
  base64Text,
  bodyOf,
  decoded,
  foldedName,
  parametersOf,
  splitAddress,
} from "../../../engine/protocols/share-link/link.ts";
import { LINKS } from "../../../engine/protocols/share-link/links.suite.ts";
import { parseProxyLink } from "../../../engine/protocols/share-link/proxy-link.ts";
import { writeLink } from "../../../engine/protocols/share-link/write-link.ts";
import { decodeBase64List } from "../../../engine/subscription/base64-list.ts";
import { entriesOf } from "../../../engine/subscription/body.ts";
import { BodyError } from "../../../engine/subscription/body-error.ts";
import { parseLooseJson } from "../../../engine/subscription/loose-json.ts";
import { decodeText } from "../../../model/decode-text.ts";
import { readOutcome, readTunnelFacts, sound } from "../../../model/outcome-reader.ts";
import { Refused } from "../../../model/plain-values.ts";
import { cpuMsOf } from "../../../model/proc-stat.ts";
import { linesOf, pemBlocks, withoutBlanks } from "../../../model/text.ts";
import { parsePingOutput } from "../../../native/ping-output.ts";
import {
  HEADER_BYTES,
  isHarmlessControl,
  MAX_DATA_BYTES,
  parseHeader,
  parseVector,
} from "../../../native/sandbox/message.ts";
import { IPV6_BYTES, parseSockaddr, writePeer } from "../../../native/sandbox/peer.ts";
import { outcomeOf } from "../../../scheduler/fixtures.suite.ts";
import { parseManifest } from "../../../store/backup/manifest.ts";
import { encodeTarHeader, parseTarHeader } from "../../../store/backup/tar.ts";
import { StoreError } from "../../../store/errors.ts";
import { batchText, parseBatch as parseRows } from "../../../store/recent/batch.ts";
import { readStatement, StatementError } from "../../../store/results/embedded/statement.ts";
import {
  decodeFrames,
  encodeFrame,
  isChange,
  keepRows,
  linesOf as linesOfFrame,
} from "../../../store/results/spool-frame.ts";
import { keyRingOf } from "../../../store/sealing/keys.ts";
import { sealingWith } from "../../../store/sealing/sealing.ts";
import {
  parseBatch,
  parseOneOffCheck,
  parseOutcomes,
  parseReply,
  parseReport,
} from "../../../store/state/message-readers.ts";
import { type FuzzTarget, JSON_WORDS, json, must, text, utf8 } from "../target.ts";

const NOW_MS = 1_760_000_000_000;
const WHOLE_OUTCOME = {
  ...outcomeOf(2),
  message: "why",
  tunnel: { connectionTimeMs: 1, handshakeTimeMs: 2, assignedIp: "10.0.0.1", engineUsed: "xray" },
  explanation: { stage: null, address: "192.0.2.1:1", peer: "a", hint: "b" },
  certificate: { valid: true, expiresAtMs: NOW_MS },
  checker: "box",
  configs: [
    { configId: 1, verdict: "ok", totalMs: 3, peerAnswered: true, message: null, publicIp: null, engineUsed: null },
  ],
};
const REPORT = {
  location: "de",
  id: "0a.b",
  name: "box",
  version: "1",
  atMs: NOW_MS,
  clockOffsetMs: -3,
  room: 4_096,
  inFlight: 0,
  isFit: false,
  reasons: ["cut"],
  isLeaving: false,
};
const RUN = { checkId: 1, specKey: 2, dueAtMs: 3, startByMs: 4, alone: false, host: "a.test", wasHealthy: true };
const SPEC = {
  key: 7,
  kind: "vless",
  settings: { address: "h" },
  configs: [{ id: 3, kind: "vmess", settings: {}, fault: "q" }],
  fault: "q",
  timeoutMs: 10_000,
  isPublic: true,
  revision: 2,
  workspace: 5,
};
const CHECK = {
  kind: "vless",
  settings: { url: "x" },
  host: "a.test",
  identity: null,
  timeoutMs: 5_000,
  organizationId: 1,
};
const MEASURED = {
  type: "measured",
  result: {
    verdict: "ok",
    startedAtMs: NOW_MS,
    latencyMs: 3,
    connectMs: 1,
    peerAnswered: true,
    message: null,
    tunnel: WHOLE_OUTCOME.tunnel,
  },
};
const WORDS = [...JSON_WORDS, "0.5", '"__proto__":', "8.64e15", '"ok"', '"timeout"'];
const MESSAGE = { words: WORDS, refusals: [Refused], mostMessage: 120, longest: 512 * 1024 } as const;

/** What was read is read again as it is: what one process takes no other refuses. */
function stable<T>(value: T, read: (text: string) => T): string {
  must(isDeepStrictEqual(read(JSON.stringify(value)), value), "not the same when it is read again");
  return "read";
}

const redis: readonly FuzzTarget[] = [
  {
    name: "redis: outcomes",
    seeds: json(
      [outcomeOf(1), WHOLE_OUTCOME],
      [{ ...outcomeOf(3), withheld: true, isSpent: true }],
      [{ ...WHOLE_OUTCOME, harm: { reason: "x", configId: 1 } }],
    ),
    ...MESSAGE,
    run(input) {
      const { outcomes, refused, reason } = parseOutcomes(text(input));
      must((reason?.length ?? 0) <= 120, "a reason that repeats what was sent");
      must(refused > 0 === (reason !== null), "refused without a reason");
      must(
        isDeepStrictEqual(parseOutcomes(JSON.stringify(outcomes)), { outcomes, refused: 0, reason: null }),
        "not the same when it is read again",
      );
      must(
        isDeepStrictEqual(unpackOutcomes(packOutcomes(outcomes)).length, outcomes.length),
        "another number after packing",
      );
      for (const outcome of outcomes) sound(outcome);
      return `${Math.min(3, outcomes.length)} ${reason}`;
    },
  },
  {
    name: "redis: outcome by itself",
    seeds: json(outcomeOf(1), WHOLE_OUTCOME, WHOLE_OUTCOME.tunnel),
    ...MESSAGE,
    refusals: [Refused, SyntaxError],
    mostMessage: 300,
    run(input) {
      const value: unknown = JSON.parse(text(input));
      try {
        readTunnelFacts(value);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
      const outcome = readOutcome(value);
      must(
        isDeepStrictEqual(readOutcome(JSON.parse(JSON.stringify(sound(outcome)))), sound(outcome)),
        "what we would send is refused",
      );
      return outcome.verdict;
    },
  },
  {
    name: "redis: report",
    seeds: json(REPORT),
    ...MESSAGE,
    run: (input) => stable(parseReport(text(input), "de", NOW_MS), (again) => parseReport(again, "de", NOW_MS)),
  },
  {
    name: "redis: reply",
    seeds: json(MEASURED, { type: "busy" }, { ...MEASURED, harm: "x" }),
    ...MESSAGE,
    run: (input) => stable(parseReply(text(input)), parseReply),
  },
  {
    name: "redis: one-off check",
    seeds: json(CHECK, { ...CHECK, identity: "i" }),
    ...MESSAGE,
    run: (input) => stable(parseOneOffCheck(text(input)), parseOneOffCheck),
  },
  {
    name: "published rows",
    seeds: utf8(
      batchText({
        publisher: "scheduler 1",
        number: 7,
        rows: [
          {
            monitorId: 1,
            projectId: 2,
            seq: 3,
            id: "40",
            kind: "http",
            status: "healthy",
            testedAtMs: 1_795_000_000_000,
            latencyMs: 12,
            connectMs: null,
            errorMessage: null,
            liveStatus: "healthy",
          },
        ],
        refused: [5],
      }),
    ),
    words: ['"rows":[', "null", "1e999", "-1"],
    run(input) {
      const batch = parseRows(text(input));
      if (batch === undefined) return "none";
      must(isDeepStrictEqual(parseRows(batchText(batch)), batch), "rows that change when they are sent on");
      return `${batch.rows.length > 0} ${batch.refused.length > 0}`;
    },
  },
  {
    name: "redis: batch of runs",
    seeds: json({ specs: [SPEC], runs: [RUN] }),
    ...MESSAGE,
    run: (input) => stable(parseBatch(text(input), readSpec), (again) => parseBatch(again, readSpec)),
  },
];

const LINES = ['{"changed":0,"a":"b"}', '{"changed":1,"error_message":"says \\"changed\\":0"}'];
const sealing = sealingWith(keyRingOf([Buffer.alloc(32, 7).toString("base64")]));
const SEALED = sealing.seal("purpose", "a secret");

const store: readonly FuzzTarget[] = [
  {
    name: "spool frames",
    seeds: [Buffer.concat([encodeFrame(1, LINES), encodeFrame(3, ["{}"])]), encodeFrame(2 ** 40, LINES)],
    words: [Buffer.of(0x1e, 0x53, 0x70, 0x31)],
    longest: 512 * 1024,
    run(input) {
      const { frames, validBytes, isDamaged } = decodeFrames(input);
      must(validBytes <= input.length, "more bytes than there are");
      let last = 0;
      for (const frame of frames) {
        must(frame.firstSeq > last, "numbers that do not grow");
        last = frame.firstSeq + frame.rows - 1;
        linesOfFrame(frame);
      }
      const kept = keepRows(frames, isChange);
      must(!decodeFrames(kept.bytes).isDamaged, "what was kept is damaged");
      return `${Math.min(3, frames.length)} ${isDamaged} ${validBytes === input.length}`;
    },
  },
  {
    name: "archive headers",
    seeds: [
      encodeTarHeader({ name: "spool/0000000000000001.seg", kind: "file", size: 4_096, target: "" }),
      encodeTarHeader({ name: "a/b/c", kind: "link", size: 0, target: "../x" }),
      encodeTarHeader({ name: "a", kind: "folder", size: 0, target: "" }),
    ],
    refusals: [StoreError],
    run(input) {
      const entry = parseTarHeader(input);
      if (entry === null) return "end";
      must(!entry.name.split("/").includes("..") && !entry.name.startsWith("/"), "a path that leads out");
      must(isDeepStrictEqual(parseTarHeader(encodeTarHeader(entry)), entry), "another entry when it is written again");
      return entry.kind;
    },
  },
  {
    name: "manifests of backups",
    seeds: utf8(
      '{"format":1,"version":"1","madeAt":"t","host":"h","schema":["0001"],"sealingKeyId":"0011aabb","tables":{"a":1},"results":{},"files":[{"name":"a","kind":"folder","size":0,"sha256":"","target":""}]}',
    ),
    refusals: [StoreError],
    run: (input) => String(parseManifest(text(input)).files.length),
  },
  {
    name: "sealed texts",
    seeds: utf8(SEALED),
    words: [".", "1.", "2.", SEALED.split(".")[1] ?? "", "A".repeat(40)],
    refusals: [StoreError],
    run(input) {
      const opened = sealing.open("purpose", text(input));
      must(opened === "a secret", "opened what was not sealed");
      return "opened";
    },
  },
  {
    name: "key rings",
    seeds: utf8(Buffer.alloc(32, 7).toString("base64"), Buffer.alloc(32, 7).toString("hex")),
    refusals: [StoreError],
    run: (input) => keyRingOf([text(input)]).length,
  },
  {
    name: "statements of the embedded store",
    seeds: utf8(
      "query=SELECT+1&default_format=JSONEachRow&param_a=1&max_threads=2\n",
      "query=INSERT+INTO+results+(a,b)+FORMAT+JSONEachRow&async_insert=0\n{}",
      "database=default\nSELECT {a:Array(String)} FORMAT TSV",
    ),
    words: [
      "query=",
      "&",
      "param_",
      "SELECT ",
      "INSERT INTO ",
      " FORMAT ",
      "(",
      ")",
      "\\",
      "'",
      ";",
      "%27",
      "default_format=",
    ],
    refusals: [StatementError],
    // The operator's own client is told which setting it was.
    mostMessage: Number.POSITIVE_INFINITY,
    cost: 4,
    run(input) {
      const line = input.indexOf(0x0a);
      const end = line < 0 ? input.length : line;
      const search = new URLSearchParams(input.subarray(0, end).toString("latin1"));
      const statement = readStatement({ method: "POST", search, body: input.subarray(end + 1), database: "sonde" });
      return `${statement.kind} ${statement.insert === undefined}`;
    },
  },
];

const core = new CoreLog((line) => xray.explain(line) ?? singbox.explain(line));
const VLESS = parseProxyLink(LINKS.get("vless ws tls") ?? "").config;

const programs: readonly FuzzTarget[] = [
  {
    name: "output of ping",
    seeds: utf8(
      "PING a (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.042 ms\n\n--- a ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time 402ms\n",
      "From 192.0.2.1 icmp_seq=1 Destination Host Unreachable\nping: connect: Network is unreachable\n",
      "64 bytes from 192.0.2.1: seq=0 ttl=64 time<1 ms\nping: permission denied (are you root?)\n",
    ),
    words: ["icmp_seq=", "time=", " ms", "packets transmitted", "unreachable", "\n"],
    run(input) {
      const { roundTripsMs, problem } = parsePingOutput(text(input));
      must(
        roundTripsMs.every((ms) => Number.isFinite(ms) && ms >= 0) && roundTripsMs.length <= 1_024,
        "a time that none is",
      );
      return `${Math.min(3, roundTripsMs.length)} ${problem}`;
    },
  },
  {
    name: "log of a core",
    seeds: utf8(
      "2026/01/01 00:00:00 [Info] [123] proxy/vless/outbound: tunneling request to tcp:a:443 via b:1\n[Warning] [123] app/proxyman/outbound: failed to process outbound traffic > dial tcp 1.1.1.1:1: connect: connection refused\n",
      "\u001b[36mINFO\u001b[0m[0000] [3423 0ms] outbound/vless[n_0]: outbound connection to a:443\nERROR[0001] [3423 12ms] connection: open outbound connection: x509: certificate has expired\n",
      "FATAL[0000] start service: initialize outbound[3]: unknown method: 2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f",
    ),
    words: [
      "outbound/",
      "[",
      "]",
      " > ",
      "lookup ",
      ": i/o timeout",
      "x509:",
      "\n",
      "outbounds[1]: ",
      "failed to start",
    ],
    run(input) {
      const said = text(input);
      core.push(said);
      const found = core.findingsOf("n_0").length;
      must(core.lastWords().length <= 3 * 8_192, "words without bound");
      const reason = reasonOf(said, VLESS);
      must(
        reason.length <= 160 && !reason.includes("0f3c1d2e-1111-4222-8333-444455556666"),
        "a reason that tells too much",
      );
      plainText(said);
      return `${Math.min(2, found)} ${judge(said)?.reason}`;
    },
  },
  {
    name: "processor time of /proc",
    seeds: utf8("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"),
    run: (input) => String(cpuMsOf(text(input)) === null),
  },
  {
    name: "texts",
    seeds: utf8("a\r\nb\n", "-----BEGIN A-----\nx\n-----END A-----\n", " a b "),
    words: ["-----BEGIN A-----", "-----END A-----", "\r\n", "\u2028"],
    run(input) {
      const given = text(input);
      return `${Math.min(3, linesOf(given).length)} ${pemBlocks(given, "A").length} ${withoutBlanks(given) === given}`;
    },
  },
];

/** struct msghdr: name, its length, vector, count, control, its length, flags. */
const words64 = (...values: readonly bigint[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [at, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * at);
  return bytes;
};
const MSGHDR = words64(0x7f00n, 28n, 0x7f80n, 2n, 0x8000n, 24n, 0n);
const IOVECS = words64(0x7000n, 1_200n, 0x9000n, 80n);
const CONTROL = Buffer.from("14000000000000000000000001000000".padEnd(48, "0"), "hex");
const SOCKADDRS = [
  Buffer.from("020001bbc0000207".padEnd(32, "0"), "hex"),
  Buffer.from(`0a0001bb00000000${"20010db8".padEnd(30, "0")}0100000000`, "hex"),
  Buffer.from("0a0001bb0000000000000000000000000000ffffc000020700000000", "hex"),
];

/** What a core asks the kernel for, read from its memory. */
const calls: readonly FuzzTarget[] = [
  {
    name: "arguments of system calls",
    seeds: [Buffer.concat([MSGHDR, IOVECS]), MSGHDR, CONTROL, ...SOCKADDRS],
    words: [Buffer.of(2, 0), Buffer.of(10, 0), Buffer.alloc(8, 0xff), Buffer.alloc(10), Buffer.of(0xff, 0xff)],
    run(input) {
      const head = input.length >= HEADER_BYTES ? parseHeader(input.subarray(0, HEADER_BYTES)) : null;
      if (head !== null) {
        const sizes = [head.vector.bytes, head.name?.bytes ?? 0, head.control?.bytes ?? 0];
        must(
          sizes.every((size) => size >= 0 && size <= 1_024),
          "more is read than any call names",
        );
      }
      const ranges = parseVector(input.length >= HEADER_BYTES ? input.subarray(HEADER_BYTES) : input);
      must((ranges ?? []).reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_DATA_BYTES, "more than a datagram");
      const peer = parseSockaddr(input);
      if (peer !== null) {
        const written = Buffer.alloc(IPV6_BYTES);
        const size = writePeer(written, peer, true);
        must(isDeepStrictEqual(parseSockaddr(written.subarray(0, size)), peer), "not the same after writing");
      }
      return `${head === null} ${ranges?.length} ${peer?.ip.length} ${isHarmlessControl(input)}`;
    },
  },
];

const all = [...LINKS.values()];
const rendered = (engine: "xray" | "singbox", names: readonly string[]): string =>
  cores[engine].render({
    entries: names.map((name, at) => ({
      tag: `n_${at}`,
      config: parseProxyLink(LINKS.get(name) ?? "").config,
      address: "p.test-site.org",
      password: "p",
    })),
    port: 1,
    identityPassword: "p",
    isVerbose: false,
  });
const SINGBOX = rendered("singbox", [
  "vless ws tls",
  "vless grpc tls",
  "trojan tcp tls",
  "ss 2022",
  "hysteria2 hops",
  "tuic",
]);
const XRAY = rendered("xray", [
  "vless ws tls",
  "vless vision reality",
  "vmess grpc tls",
  "trojan xhttp tls pinned",
  "ss 2022",
]);
const CLASH = `base: &base { server: p.test-site.org, port: 443, tls: true }
proxies:
  - { <<: *base, name: a, type: vless, uuid: 0f3c1d2e-1111-4222-8333-444455556666, network: ws, ws-opts: { path: "/w?ed=2560", headers: { Host: c.test-site.org } }, alpn: [h2, http/1.1] }
  - { name: c, type: ss, server: p.test-site.org, port: 8388, cipher: aes-256-gcm, password: pw, plugin: obfs, plugin-opts: { mode: tls, host: c.test-site.org } }
  - { name: e, type: hysteria2, server: p.test-site.org, ports: "443,5000-6000", password: pw, obfs: salamander, obfs-password: salt, skip-cert-verify: true }
`;
const CLASH_LINES = `proxies:
  - name: a
    type: trojan
    server: p.test-site.org
    port: 443
    password: 0123
    sni: s.test-site.org
  - {name: b, type: tuic, server: p.test-site.org, port: 443, uuid: 0f3c1d2e-1111-4222-8333-444455556666, password: pw, alpn: [h3]}
# remark
rules: []
`;
const BODIES = {
  links: [
    all.slice(0, 12).join("\n"),
    all.slice(-14).join("\r\n"),
    JSON.stringify(all.slice(0, 5)),
    all.slice(0, 3).join(" "),
  ],
  base64: [
    Buffer.from(all.slice(-6).join("\n")).toString("base64"),
    Buffer.from(Buffer.from(all.slice(-3).join("\n")).toString("base64")).toString("base64"),
  ],
  json: [
    SINGBOX,
    XRAY,
    JSON.stringify([{ remarks: "Berlin", ...JSON.parse(XRAY) }]),
    JSON.stringify({
      servers: [{ server: "p.test-site.org", server_port: 8388, method: "aes-256-gcm", password: "p:w" }],
    }),
    `// mine\n${SINGBOX.slice(0, -40)}`,
    '{"error":"no such user"}',
  ],
  yaml: [CLASH, CLASH_LINES, dump({ proxies: JSON.parse(SINGBOX).outbounds })],
} as const;
const BODY_WORDS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "1e9",
  "&a ",
  "*a",
  "<<: *base",
  "!!js/x ",
  "- ",
  "\n",
  "\n  - ",
  "proxies:",
  "Proxy:",
  "---\n",
  "...",
  "|\n",
  ">-\n",
  "\t",
  "%YAML 1.2\n",
  '"outbounds":',
  '"protocol":',
  "vless://",
  "://",
  "#",
  "//",
  "/*",
  "*/",
  ",]",
  "}}",
  "},{",
  "\u0000",
  "'",
  '"',
];

const lists = Object.entries(BODIES).map(
  ([form, seeds]): FuzzTarget => ({
    name: `list of a provider: ${form}`,
    seeds: utf8(...seeds),
    words: BODY_WORDS,
    refusals: [BodyError],
    // A provider's own words are cut to 500 characters.
    mostMessage: 600,
    longest: 256 * 1024,
    // A call of the YAML parser costs 40 µs for each entry.
    cost: form === "yaml" ? 16 : 6,
    run(input) {
      let configs = 0;
      let others = 0;
      for (const entry of entriesOf(text(input))) {
        if (entry.kind !== "config") {
          others++;
          if (entry.kind === "bad") must(entry.reason.length <= 160, `tells: ${entry.reason.slice(0, 200)}`);
          continue;
        }
        if (configs++ < 2) {
          const again = parseProxyLink(writeLink(entry.read)).config;
          must(isDeepStrictEqual(again, entry.read.config), "not the same after writing");
        }
      }
      return `${Math.min(3, configs)} ${Math.min(3, others)}`;
    },
  }),
);

const parts: readonly FuzzTarget[] = [
  {
    name: "parts of share links",
    seeds: utf8(
      "user@h.test-site.org:443/p?a=b&c=%41#n",
      Buffer.from("a:b@h:1").toString("base64"),
      "a=b&a%20c=d&&=x",
      '{"Host":"a"}',
      "0f3c1d2e-1111-4222-8333-444455556666",
      "/p?ed=5",
    ),
    words: ["@", ":", "?", "#", "&", "=", "%", "[::1]", "%zz", "+", "/", "-", "_"],
    longest: 16 * 1024,
    run(input) {
      const given = text(input);
      const readers: readonly ((text: string) => unknown)[] = [
        splitAddress,
        decoded,
        base64Text,
        foldedName,
        parametersOf,
        bytesOf,
        listOf,
        uuidOf,
        hostOfHeaders,
        (one) => pathOf(one, "path"),
        (one) => hostHeaderOf(one, "host", () => {}),
        (one) => bodyOf(one, ["vless"]),
      ];
      return readers
        .map((read) => {
          try {
            return read(given) === undefined ? "." : "+";
          } catch (error) {
            if (!(error instanceof TunnelConfigError)) throw error;
            must(error.message.length <= 160, `tells: ${error.message.slice(0, 200)}`);
            return "-";
          }
        })
        .join("");
    },
  },
  {
    name: "bytes of a list",
    seeds: [
      Buffer.from(`\ufeff${all.slice(0, 3).join("\n")}`),
      Buffer.from(`\ufeff${all.slice(0, 3).join("\n")}`, "utf16le"),
      Buffer.from(`\ufeff${all.slice(0, 3).join("\n")}`, "utf16le").swap16(),
      Buffer.from(Buffer.from(all.slice(0, 3).join("\n")).toString("base64")),
    ],
    words: ["\ufeff", "\u0000", "====", "=\n", "%3D", "#", "\n"],
    refusals: [BodyError],
    mostMessage: 600,
    cost: 4,
    run(input) {
      const given = decodeText(input);
      must(given.isWellFormed(), "no text");
      decodeBase64List(given);
      parseLooseJson(`[${given.replaceAll("[", "")}`);
      return [...entriesOf(given)]
        .map(({ kind }) => kind.charAt(0))
        .join("")
        .slice(0, 4);
    },
  },
  {
    name: "what the command line is given",
    seeds: utf8(
      "tcp://a.test-site.org:443",
      "https://a.test-site.org/x",
      "client\nremote a.test-site.org 1194\n",
      "[Interface]\nPrivateKey = x\n",
      all[0] ?? "",
      "192.0.2.1",
      CLASH_LINES,
    ),
    words: [...BODY_WORDS, "ping:", "tcp://", "dns://", "[Interface]\n", "remote "],
    refusals: [CommandError],
    mostMessage: 1_000,
    cost: 16,
    run(input) {
      const given = text(input);
      return `${protocolOfFile(given)} ${targetOf(given, null, {}).kind}`;
    },
  },
  {
    name: "hashes of what was read",
    // Links that mean the same are one configuration.
    seeds: utf8(...all.slice(0, 20)),
    longest: 16 * 1024,
    refusals: [TunnelConfigError],
    run(input) {
      const read = parseProxyLink(text(input));
      const hash = (of: unknown) => createHash("sha256").update(JSON.stringify(of)).digest("hex");
      must(hash(parseProxyLink(writeLink(read)).config) === hash(read.config), "another hash after writing");
      return read.config.account.protocol;
    },
  },
];

export const MESSAGES: readonly FuzzTarget[] = [...redis, ...store, ...programs, ...calls, ...lists, ...parts];
