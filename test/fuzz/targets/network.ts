/** What comes over a network from a server or anything on the way: datagrams, streams, heads. */
import { isDeepStrictEqual } from "node:util";
import dnsPacket from "dns-packet";
import { Responder } from "../../../demo/tunnels/wireguard-responder.ts";
import { createFraming, explainAnswer } from "../../../engine/protocols/amneziawg/framing.ts";
import { parseParams } from "../../../engine/protocols/amneziawg/params.ts";
import { AnswerFormatError } from "../../../engine/protocols/answer.ts";
import { followChain } from "../../../engine/protocols/dns/chain.ts";
import { TYPE_NUMBERS } from "../../../engine/protocols/dns/data.ts";
import { FrameReader as DnsFrameReader, frame } from "../../../engine/protocols/dns/framing.ts";
import { DnsFormatError, decodeReply, encodeQuery, type QuestionType } from "../../../engine/protocols/dns/message.ts";
import { codingsOf } from "../../../engine/protocols/http/content-coding.ts";
import { parseHead } from "../../../engine/protocols/http/head.ts";
import { hopTo, parseWebUrl, redirectedHop } from "../../../engine/protocols/http/hop.ts";
import { ResponseReader } from "../../../engine/protocols/http/response.ts";
import { HttpSyntaxError } from "../../../engine/protocols/http/syntax-error.ts";
import { charsetOf, searchText } from "../../../engine/protocols/http/text-search.ts";
import { decodeIcmp, ECHO_BYTES, encodeEchoReply, encodeEchoRequest } from "../../../engine/protocols/icmp/echo.ts";
import { answerOf } from "../../../engine/protocols/inner/host.suite.ts";
import { decodeIp, encodeIp } from "../../../engine/protocols/inner/packet.ts";
import { createQuestion, decodeInner, type QuestionTarget } from "../../../engine/protocols/inner/question.ts";
import { offers, readReply } from "../../../engine/protocols/smtp/reply.ts";
import { SocksReplies } from "../../../engine/protocols/socks/client.ts";
import { STARTTLS_PROTOCOLS, turnsOf } from "../../../engine/protocols/starttls/turns.ts";
import { nodeCrypto } from "../../../engine/protocols/wireguard/crypto-node.ts";
import { portableCrypto } from "../../../engine/protocols/wireguard/crypto-portable.ts";
import { parseIni } from "../../../engine/protocols/wireguard/ini.ts";
import { plainFraming } from "../../../engine/protocols/wireguard/message.ts";
import { createPeerKeys } from "../../../engine/protocols/wireguard/noise.ts";
import { WireguardSession } from "../../../engine/protocols/wireguard/session.ts";
import { encodeTai64n } from "../../../engine/protocols/wireguard/tai64n.ts";
import { KeyExchangeWatch } from "../../../engine/transport/key-exchange.ts";
import { VerifyAnswer } from "../../../engine/verify/answer-reader.ts";
import { parseVerifyUrl } from "../../../engine/verify/endpoint.ts";
import { type FuzzTarget, must, utf8 } from "../target.ts";

/** The same bytes in pieces whose sizes follow from the input. */
export function piecesOf(input: Buffer): readonly Buffer[] {
  const size = 1 + ((input[0] ?? 0) % 61) + (input.length >> 6);
  const pieces: Buffer[] = [];
  for (let at = 0; at < input.length; at += size) pieces.push(input.subarray(at, at + size));
  return pieces;
}

const QUERY = encodeQuery("www.test-site.org", "A", 7);

function reply(over: object): Buffer {
  const questions = [{ type: "A" as const, name: "www.test-site.org" }];
  return dnsPacket.encode({ type: "response", id: 7, flags: 0x180, questions, ...over });
}

const DNS_SEEDS: readonly Buffer[] = [
  reply({ answers: [{ type: "A", name: "www.test-site.org", ttl: 60, data: "192.0.2.7" }] }),
  reply({
    answers: [
      { type: "CNAME", name: "www.test-site.org", ttl: 60, data: "a.b.test-site.org" },
      { type: "CNAME", name: "a.b.test-site.org", ttl: 30, data: "c.test-site.org" },
      { type: "AAAA", name: "c.test-site.org", ttl: 9, data: "2001:db8::1" },
      { type: "A", name: "c.test-site.org", ttl: 9, data: "192.0.2.7" },
    ],
  }),
  reply({
    flags: 0x183,
    authorities: [
      {
        type: "SOA",
        name: "test-site.org",
        ttl: 300,
        data: {
          mname: "a.test-site.org",
          rname: "b.test-site.org",
          serial: 1,
          refresh: 2,
          retry: 3,
          expire: 4,
          minimum: 5,
        },
      },
    ],
  }),
  reply({ flags: 0x380 }),
];

const dns: readonly FuzzTarget[] = [
  {
    name: "dns reply",
    seeds: DNS_SEEDS,
    words: [Buffer.of(0xc0, 0x0c), Buffer.of(0xc0, 0x00), Buffer.of(0, 1, 0, 1), Buffer.of(0, 5, 0, 1), Buffer.of(63)],
    refusals: [DnsFormatError],
    run(input) {
      const answer = decodeReply(input, QUERY);
      if (answer === undefined) return "other";
      must(answer.records.length <= 1_024, "more records than are taken");
      must(
        answer.records.every(({ name }) => name.length <= 4 * 255),
        "a name without bound",
      );
      const end = followChain(answer, QUERY);
      return `${answer.rcode} ${answer.records.length > 0} ${end?.aliases}`;
    },
  },
  {
    // The first byte chooses the type that is asked for and answered.
    name: "dns data",
    seeds: [
      Buffer.of(3, 0xc0, 0x0c, 0, ...Buffer.alloc(20)),
      Buffer.of(5, 0, 10, 2, 0x6d, 0x78, 0xc0, 0x0c),
      Buffer.of(6, 3, 0x61, 0x62, 0x63, 1, 0xff),
      Buffer.of(8, 0, 1, 0, 2, 0x13, 0xc4, 0xc0, 0x0c),
      Buffer.of(9, 128, 5, ...Buffer.from("issueletsencrypt.org")),
    ],
    words: [Buffer.of(0xc0, 0x0c), Buffer.of(63), Buffer.of(255), "issue"],
    refusals: [DnsFormatError],
    run(input) {
      const types = Object.entries(TYPE_NUMBERS) as [QuestionType, number][];
      const [type, number] = types[(input[0] ?? 0) % types.length] ?? ["A", 1];
      const query = encodeQuery("h.dev", type, 7);
      const head = Buffer.from(query.bytes);
      head.set([0x81, 0x80, 0, 1, 0, 1], 2);
      const data = input.subarray(1, 2_000);
      const record = Buffer.of(
        0xc0,
        12,
        number >> 8,
        number & 255,
        0,
        1,
        0,
        0,
        0,
        9,
        data.length >> 8,
        data.length & 255,
      );
      const answer = decodeReply(Buffer.concat([head, record, data]), query);
      must(answer?.records.length === 1, "a record that is neither read nor refused");
      const text = answer?.records[0]?.data ?? "";
      must(text.length <= 4 * data.length + 6 * 255, "a text without bound");
      must(!/\p{Cc}/u.test(text), "a control character");
      return type;
    },
  },
  {
    name: "smtp reply",
    seeds: utf8("220 mail.dev ready\r\n", "250-mail.dev\r\n250-STARTTLS\r\n250 SIZE 1000\r\n", "554 5.7.1 no\r\n"),
    words: ["250-", "250 ", "\r\n", "220 "],
    refusals: [AnswerFormatError],
    run(input) {
      const whole = readReply(input);
      if (whole === undefined) return "not whole";
      must(whole.bytes <= input.length, "more bytes than came");
      must(whole.answer.code >= 200 && whole.answer.code <= 599, "no code");
      return `${whole.answer.lines.length > 1} ${offers(whole.answer, "STARTTLS")}`;
    },
  },
  {
    name: "dns over a stream",
    seeds: DNS_SEEDS.map((message) => Buffer.from(frame(message))),
    refusals: [DnsFormatError],
    run(input) {
      const whole = new DnsFrameReader().push(input);
      const reader = new DnsFrameReader();
      let pieced: Uint8Array | undefined;
      for (const piece of piecesOf(input)) pieced ??= reader.push(piece);
      must(isDeepStrictEqual(whole, pieced), "pieces are read otherwise");
      return whole === undefined ? "more" : "message";
    },
  },
];

const ECHO = { identifier: 1, sequence: 2, token: 3n };
const FOUR = Uint8Array.of(10, 0, 0, 2);
const OTHER_FOUR = Uint8Array.of(1, 1, 1, 1);
const SIX = Uint8Array.from([0xfd, ...new Array<number>(14).fill(0), 2]);
const QUOTE = encodeIp({ source: FOUR, destination: OTHER_FOUR, protocol: 1, payload: encodeEchoRequest(4, ECHO) }, 1);
const SIX_QUOTE = encodeIp({ source: SIX, destination: SIX, protocol: 58, payload: encodeEchoRequest(6, ECHO) }, 1);
const ICMP_SEEDS = [
  encodeEchoReply(4, ECHO),
  encodeEchoReply(6, ECHO),
  Buffer.concat([Buffer.of(3, 1, 0, 0, 0, 0, 0, 0), QUOTE]),
  Buffer.concat([Buffer.of(1, 0, 0, 0, 0, 0, 0, 0), SIX_QUOTE]),
];

const seedOf = (byte: number): Uint8Array => new Uint8Array(16).fill(byte);
const TARGETS: readonly QuestionTarget[] = [
  { kind: "icmp", address: OTHER_FOUR, port: 0 },
  { kind: "dns", address: OTHER_FOUR, port: 53 },
  { kind: "tcp", address: OTHER_FOUR, port: 443 },
];
const QUESTIONS = TARGETS.flatMap((target) => [0, 1, 3].map((round) => createQuestion(target, FOUR, round, seedOf(5))));
const INNER_SEEDS: readonly Uint8Array[] = [
  ...QUESTIONS.flatMap(({ packet }) => answerOf(packet, { echo: true, dns: "answer", tcp: "accept" }) ?? []),
  ...QUESTIONS.flatMap(({ packet }) => answerOf(packet, { dns: "refuse", tcp: "refuse" }) ?? []),
  encodeIp(
    {
      source: OTHER_FOUR,
      destination: FOUR,
      protocol: 1,
      payload: Buffer.concat([Buffer.of(3, 1, 0, 0, 0, 0, 0, 0), QUOTE]),
    },
    1,
  ),
];

const packets: readonly FuzzTarget[] = [
  {
    name: "icmp",
    seeds: ICMP_SEEDS,
    run(input) {
      const found = [decodeIcmp(4, input), decodeIcmp(6, input)];
      for (const one of found) {
        if (one === undefined || one.type === "error") continue;
        const family = one === found[0] ? 4 : 6;
        const again = (one.type === "echo-reply" ? encodeEchoReply : encodeEchoRequest)(family, one.echo);
        const decoded = decodeIcmp(family, again);
        must(again.length === ECHO_BYTES && isDeepStrictEqual(decoded, one), "not the same after encoding");
      }
      return found.map((one) => (one?.type === "error" ? one.problem : one?.type)).join();
    },
  },
  {
    name: "ip packet",
    seeds: [...INNER_SEEDS, SIX_QUOTE],
    run(input) {
      const packet = decodeIp(input);
      if (packet === undefined) return "none";
      const again = decodeIp(encodeIp(packet, 9));
      const parts = (one: typeof packet) =>
        [one.source, one.destination, one.payload].map((part) => Buffer.from(part).toString("hex"));
      must(
        again?.protocol === packet.protocol && isDeepStrictEqual(parts(again), parts(packet)),
        "not the same after encoding",
      );
      return packet.source.length;
    },
  },
  {
    name: "packet inside a tunnel",
    seeds: INNER_SEEDS,
    run(input) {
      const packet = decodeInner(input);
      if (packet === undefined) return "none";
      return QUESTIONS.map((question) => question.read(packet)?.kind ?? "-").join("");
    },
  },
  {
    name: "socks replies",
    seeds: [
      Buffer.from("05020100050000010a00000201bb", "hex"),
      Buffer.from("0502010005050001", "hex"),
      Buffer.from("0502010005000003036162630050", "hex"),
    ],
    run(input) {
      const whole = new SocksReplies().push(Buffer.from(input));
      const reader = new SocksReplies();
      let last: ReturnType<SocksReplies["push"]> = { kind: "more" };
      for (const piece of piecesOf(input)) if (last.kind === "more") last = reader.push(Buffer.from(piece));
      must(whole.kind === last.kind, "pieces are read otherwise");
      return whole.kind === "refused" ? `refused ${whole.at}` : whole.kind;
    },
  },
];

const starttls: readonly FuzzTarget[] = STARTTLS_PROTOCOLS.flatMap((protocol) =>
  turnsOf(protocol, "[192.0.2.1]").map(({ read }, at) => ({
    name: `starttls of ${protocol}, turn ${at}`,
    seeds: {
      smtp: utf8("220 mail.dev ready\r\n", "250-mail.dev\r\n250 STARTTLS\r\n"),
      imap: utf8("* OK ready\r\n", "* notice\r\na1 OK go\r\n", "a1 NO later\r\n"),
      pop3: utf8("+OK ready\r\n", "-ERR no\r\n"),
      ftp: utf8("220-Hello\r\n there\r\n220 ready\r\n", "120 wait\r\n220 ready\r\n", "234 go\r\n"),
      postgres: utf8("S", "N"),
    }[protocol],
    words: ["\r\n", "220-", "220 ", "250 ", "234 ", "* ", "a1 OK", "+OK", "-ERR"],
    refusals: [AnswerFormatError],
    run(input) {
      const whole = read(input);
      if (whole === undefined) return "not whole";
      must(whole.bytes > 0 && whole.bytes <= input.length, "more bytes than came");
      return `${whole.answer.agrees}`;
    },
  })),
);

const record = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, 3, 3, body.length >> 8, body.length & 255), body]);
const message = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, 0, body.length >> 8, body.length & 255), body]);
const vector = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 255), bytes]);
const groupOf = (primeBytes: number): Buffer =>
  message(
    12,
    Buffer.concat([
      vector(Buffer.alloc(primeBytes, 0xc5)),
      vector(Buffer.of(2)),
      vector(Buffer.alloc(primeBytes, 3)),
      Buffer.of(4, 1),
      vector(Buffer.alloc(256, 9)),
    ]),
  );
const CURVE = message(
  12,
  Buffer.concat([Buffer.of(3, 0, 0x1d, 32), Buffer.alloc(32, 5), Buffer.of(4, 1), vector(Buffer.alloc(64, 9))]),
);
const HELLO = message(2, Buffer.alloc(70, 1));
const DONE = message(14, Buffer.alloc(0));
const TLS_SEEDS = [
  Buffer.concat([
    record(22, HELLO),
    record(22, message(11, Buffer.alloc(900, 2))),
    record(22, groupOf(256)),
    record(22, DONE),
  ]),
  record(22, Buffer.concat([HELLO, CURVE, DONE])),
  record(22, Buffer.concat([HELLO, groupOf(1_024)])),
  Buffer.concat([record(22, HELLO), record(20, Buffer.of(1)), record(23, Buffer.alloc(40, 7))]),
  record(21, Buffer.of(2, 40)),
];

const tls: readonly FuzzTarget[] = [
  {
    name: "tls handshake records",
    seeds: TLS_SEEDS,
    words: [Buffer.of(22, 3, 3), Buffer.of(12, 0), Buffer.of(14, 0, 0, 0)],
    longest: 128 * 1024,
    run(input) {
      const watch = new KeyExchangeWatch();
      const whole = watch.push(input);
      const pieced = new KeyExchangeWatch();
      let words: string | null = null;
      for (const piece of piecesOf(input)) words ??= pieced.push(piece);
      must(whole === words, "pieces are judged otherwise");
      return whole ?? "passes";
    },
  },
];

const HTTP_SEEDS = utf8(
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html; charset=utf-8\r\n\r\nhello",
  "HTTP/1.1 301 Moved\r\nLocation: https://a.test-site.org/x?y#z\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\nServer: x\n folded\n\nbody until the end",
  "HTTP/1.1 200\r\nContent-Encoding: gzip, br\r\nX-A: b\r\n\r\nip=192.0.2.1\nloc=DE\n",
  "HTTP/1.1 204 No Content\r\n\r\n",
);
const HTTP_WORDS = [
  ..."HTTP/1.1 |Content-Length: |Transfer-Encoding: chunked|Location: |Content-Encoding: |Content-Type: |\r\n\r\n|0\r\n|ffffffffffff\r\n|;|: |gzip|deflate|x-gzip|br|charset=|101 |204 |304 ".split(
    "|",
  ),
  "\r\n ",
];

interface Read {
  readonly heads: unknown[];
  readonly body: Buffer;
  readonly isDone: boolean;
  readonly refusal: string | null;
}

function readPieces(pieces: readonly Buffer[]): Read {
  const heads: unknown[] = [];
  const parts: Buffer[] = [];
  const reader = new ResponseReader({
    head: (head) => heads.push(head) > 0,
    body: (bytes) => parts.push(Buffer.from(bytes)) > 0,
  });
  try {
    for (const piece of pieces) if (reader.push(piece)) break;
    return { heads, body: Buffer.concat(parts), isDone: reader.done, refusal: null };
  } catch (error) {
    if (!(error instanceof HttpSyntaxError)) throw error;
    return { heads, body: Buffer.concat(parts), isDone: false, refusal: error.message };
  }
}

const http: readonly FuzzTarget[] = [
  {
    name: "http head",
    seeds: HTTP_SEEDS,
    words: HTTP_WORDS,
    refusals: [HttpSyntaxError],
    run(input) {
      // As its readers call it: up to the empty line.
      const end = /\r?\n\r?\n/.exec(input.toString("latin1"));
      if (end === null) return "no end";
      const { status, framing, location } = parseHead(input, 0, end.index + end[0].length);
      must(status >= 100 && status <= 999, "a status of no such number");
      return `${Math.floor(status / 100)} ${typeof framing} ${location === null}`;
    },
  },
  {
    name: "http response",
    seeds: HTTP_SEEDS,
    words: HTTP_WORDS,
    run(input) {
      const whole = readPieces([input]);
      const pieced = readPieces(piecesOf(input));
      must(isDeepStrictEqual(whole.heads, pieced.heads), "heads in pieces are read otherwise");
      must((whole.refusal === null) === (pieced.refusal === null), "pieces are refused otherwise");
      if (whole.refusal !== null) return whole.refusal;
      must(whole.isDone === pieced.isDone && whole.body.equals(pieced.body), "a body in pieces is read otherwise");
      must(whole.body.length <= input.length, "more body than bytes");
      return `${whole.heads.length} ${whole.isDone}`;
    },
  },
  {
    name: "http header values",
    seeds: utf8("gzip, br", 'text/html; charset="iso-8859-1"', "deflate,,identity , x-gzip", "a/b;charset=utf-16le"),
    words: ["gzip", ",", ";charset=", '"', "utf-16be", "shift_jis", "x-user-defined"],
    run(input) {
      const value = input.toString("latin1");
      const charset = charsetOf(value);
      const search = searchText("hello", charset);
      for (const piece of piecesOf(input)) search.push(piece);
      search.end();
      return `${codingsOf(value)?.length} ${charset === null} ${search.found}`;
    },
  },
  {
    name: "http redirects",
    seeds: utf8(
      "/next?a=b#c",
      "//b.test-site.org/",
      "https://u:p@c.test-site.org:8443/%zz",
      "?q",
      "http://[2001:db8::1]/",
    ),
    words: ["http://", "https://", "//", "@", "%", "..", "\\", "[::1]", "javascript:"],
    run(input) {
      const from = parseWebUrl("https://name:word@a.test-site.org/path?x=1");
      if (from === undefined) throw new Error("no hop");
      const secrets = { method: "GET", headers: { "X-Api-Key": "abc" }, body: null };
      const next = redirectedHop(hopTo(from, "gzip", undefined, secrets), input.toString("latin1"), "gzip");
      if (next === undefined) return "nowhere";
      const [head = "", rest] = next.request.toString("latin1").split("\r\n\r\n");
      must(
        rest === "" && /^GET [\x21-\x7e]+ HTTP\/1\.1(\r\n[A-Za-z-]+: [\x20-\x7e]+)+$/.test(head),
        "a request open to injection",
      );
      const isSame = next.url.origin === from.origin;
      must(isSame || !("authorization" in next.headers), "credentials for another origin");
      must(isSame === "x-api-key" in next.headers, "a secret header for another origin");
      return `${isSame} ${next.tls}`;
    },
  },
  ...["204", "trace", "ip", "token"].map(
    (proof): FuzzTarget => ({
      name: `verify answer: ${proof}`,
      seeds: [
        ...HTTP_SEEDS,
        ...utf8(
          'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"ip":"192.0.2.1"}',
          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntok",
        ),
      ],
      words: [...HTTP_WORDS, "ip=", '{"ip":', "tok"],
      refusals: [HttpSyntaxError],
      run(input) {
        const endpoint = parseVerifyUrl(`https://a.test-site.org/#${proof}`);
        const answer = new VerifyAnswer(endpoint, "tok");
        let found = null;
        for (const piece of piecesOf(input)) found ??= answer.push(piece);
        found ??= answer.end();
        return found?.kind ?? "none";
      },
    }),
  ),
];

const OWN_KEY = new Uint8Array(32).fill(1);
const SERVER_KEY = new Uint8Array(32).fill(2);
const own = portableCrypto.privateKey(OWN_KEY).publicBytes;
const server = portableCrypto.privateKey(SERVER_KEY).publicBytes;
const randomBytes = (sizeBytes: number): Uint8Array => new Uint8Array(sizeBytes).fill(3);

/** A client that has asked once, and what its server would say. */
function wireguardTalk(crypto: typeof portableCrypto, framing: ReturnType<typeof plainFraming>) {
  const peer = createPeerKeys(crypto, { privateKey: OWN_KEY, serverKey: server, presharedKey: null });
  if (peer === null) throw new Error("no keys");
  const around = { framing, randomBytes, timestamp: () => encodeTai64n(1n), mtuBytes: 1_420 };
  const session = new WireguardSession(peer, around);
  return { session, sent: session.initiate() };
}

function responder(cookie?: Uint8Array): Responder {
  return new Responder({
    privateKey: SERVER_KEY,
    clients: [{ publicKey: own }],
    ephemeralSeed: new Uint8Array(32).fill(4),
    ...(cookie !== undefined && { cookie }),
  });
}

function wireguardSeeds(): readonly Uint8Array[] {
  const { session, sent } = wireguardTalk(portableCrypto, plainFraming());
  const [initiation = new Uint8Array(0)] = sent;
  const talking = responder();
  const response = talking.answer(initiation) ?? new Uint8Array(0);
  const cookie = responder(new Uint8Array(16).fill(9)).answer(initiation) ?? new Uint8Array(0);
  session.receive(response);
  const asked = session.seal(INNER_SEEDS[0] ?? new Uint8Array(20)) ?? new Uint8Array(0);
  const answered = talking.seal(asked, INNER_SEEDS[0] ?? new Uint8Array(20)) ?? new Uint8Array(0);
  return [response, cookie, answered];
}
const WIREGUARD_SEEDS = wireguardSeeds();

const AMNEZIA = parseParams(
  parseIni(
    "[Interface]\nJc = 2\nJmin = 10\nJmax = 20\nS1 = 15\nS2 = 20\nH1 = 5-10\nH2 = 11\nH3 = 300-400\nH4 = 4294967295\n",
  ).interface,
);
const amneziaFraming = createFraming(AMNEZIA, { randomBytes, wallNowMs: () => 0 });

function wireguardTarget(name: string, crypto: typeof portableCrypto): FuzzTarget {
  return {
    name,
    seeds: WIREGUARD_SEEDS,
    words: [Buffer.of(2, 0, 0, 0), Buffer.of(3, 0, 0, 0), Buffer.of(4, 0, 0, 0)],
    run(input) {
      const { session } = wireguardTalk(crypto, plainFraming());
      const first = session.receive(input).kind;
      if (first === "established") session.receive(WIREGUARD_SEEDS[2] ?? input);
      must(session.strays.length <= 8, "more strays than are remembered");
      return `${first} ${session.receive(input).kind}`;
    },
  };
}

const wireguard: readonly FuzzTarget[] = [
  wireguardTarget("wireguard datagrams", nodeCrypto),
  wireguardTarget("wireguard datagrams, portable", portableCrypto),
  {
    name: "amneziawg datagrams",
    seeds: WIREGUARD_SEEDS.map((seed) =>
      Buffer.concat([Buffer.alloc(20, 3), Buffer.of(11, 0, 0, 0), seed.subarray(4)]),
    ),
    run(input) {
      const framed = amneziaFraming.unwrap(input);
      must(
        framed.every(({ message }) => message.length <= input.length),
        "a message that is longer than its datagram",
      );
      const { session } = wireguardTalk(portableCrypto, amneziaFraming);
      const first = session.receive(input).kind;
      const words = explainAnswer(AMNEZIA, session.strays[0]?.answer ?? "response", input.length);
      return `${framed.map(({ kind }) => kind).join()} ${first} ${words.slice(0, 2)}`;
    },
  },
];

export const NETWORK: readonly FuzzTarget[] = [...dns, ...packets, ...starttls, ...tls, ...http, ...wireguard];
