import packet, { type Answer } from "dns-packet";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import { ALIAS_LIMIT, followChain } from "./chain.ts";
import { TYPE_NUMBERS } from "./data.ts";
import { hasRecord } from "./expected.ts";
import { FrameReader, frame } from "./framing.ts";
import {
  DnsFormatError,
  decodeReply,
  encodeQuery,
  MESSAGE_BYTES,
  type Query,
  type QuestionType,
  type Reply,
} from "./message.ts";
import { reverseName, toAsciiName } from "./name.ts";

/** Inputs as many as are said or 20 s of them, whichever is less, on a machine that may be busy with other things. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

const query = encodeQuery("host.sonde.dev", "A", 0x1234);

function reply(answers: readonly Answer[], changes: Record<string, unknown> = {}, to: Query = query): Uint8Array {
  return packet.encode({
    type: "response",
    id: to.id,
    questions: [{ name: to.name, type: to.type, class: "IN" }],
    answers: [...answers],
    ...changes,
  });
}

/** @returns the reply, undefined when it answers something else, the words of a DnsFormatError when it is broken */
function read(bytes: Uint8Array, to: Query = query): Reply | undefined | string {
  try {
    return decodeReply(bytes, to);
  } catch (error) {
    if (error instanceof DnsFormatError) return error.message;
    throw error;
  }
}

describe("names", () => {
  it.each([
    ["sonde.dev", "sonde.dev"],
    ["Sonde.DEV.", "sonde.dev"],
    ["_dmarc.sonde.dev", "_dmarc.sonde.dev"],
    ["münchen.de", "xn--mnchen-3ya.de"],
    ["sonde。dev", "sonde.dev"],
    ["localhost", "localhost"],
    ["1.2.3.in-addr.arpa", "1.2.3.in-addr.arpa"],
    ["x1", "x1"],
    ["-a-.dev", "-a-.dev"],
    [`${"a".repeat(63)}.dev`, `${"a".repeat(63)}.dev`],
    [`${"abcdefghi.".repeat(25)}abc`, `${"abcdefghi.".repeat(25)}abc`],
  ])("%s is asked for as %s", (text, name) => {
    expect(toAsciiName(text)).toBe(name);
  });

  it.each([
    "",
    ".",
    "..",
    "a..b",
    ".a",
    "a b.dev",
    "-",
    "--.dev",
    "a/b.dev",
    "a%41.dev",
    "a\u0000.dev",
    "a@b.dev",
    "http://sonde.dev",
    "sonde.dev:80",
    "[::1]",
    "::1",
    "127.0.0.1",
    "127.1",
    "sonde.0x7f",
    "12345",
    `${"a".repeat(64)}.dev`,
    `${"abcdefghi.".repeat(25)}abcd`,
    "ü".repeat(300),
    "*.sonde.dev",
  ])("%j is no name to ask for", (text) => {
    expect(toAsciiName(text)).toBeUndefined();
  });
});

describe("the name of an address", () => {
  it.each([
    ["192.0.2.7", "7.2.0.192.in-addr.arpa"],
    // RFC 3596 section 2.5.
    ["4321:0:1:2:3:4:567:89ab", "b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa"],
  ])("%s", (address, name) => {
    expect(reverseName(address)).toBe(name);
  });

  it.each(["", "1.2.3", "0x7f.1", "[::1]", "fe80::1%eth0", "sonde.dev"])("%j has none", (text) => {
    expect(reverseName(text)).toBeUndefined();
  });
});

describe("an expected record", () => {
  it.each<[QuestionType, string, string, boolean]>([
    ["A", "9.9.9.9", "9.9.9.9", true],
    ["A", "9.9.9.9", "9.9.9.90", false],
    ["AAAA", "2a00:1450::5", "2A00:1450:0:0::5", true],
    ["CNAME", "edge.sonde.dev", "Edge.Sonde.DEV.", true],
    ["MX", "10 mx.sonde.dev", "10   MX.sonde.dev.", true],
    ["MX", "10 mx.sonde.dev", "20 mx.sonde.dev", false],
    ["MX", "0 .", "0 .", true],
    ["TXT", "v=DKIM1; p=AbC", "v=DKIM1; p=AbC", true],
    ["TXT", "v=DKIM1; p=AbC", '"v=DKIM1; p=AbC"', true],
    ["TXT", "v=DKIM1; p=AbC", "v=dkim1; p=abc", false],
    ["TXT", "v=DKIM1; p=AbC", '"v=DKIM1; "  "p=AbC"', true],
    ["TXT", "v=DKIM1; p=AbC", '"v=DKIM1; " "p=Abc"', false],
    ["TXT", 'say "hi" \\ there', '"say \\"hi\\" \\\\" " there"', true],
    ["TXT", "a\\007", '"a\\007"', true],
    ["TXT", '"a" "b"', '"a" "b"', true],
    ["CAA", "0 issue letsencrypt.org", '0 ISSUE "letsencrypt.org"', true],
    ["CAA", "0 issue letsencrypt.org", '0 issuewild "letsencrypt.org"', false],
    ["SRV", "1 2 5060 sip.sonde.dev", "1 2 5060 sip.sonde.dev.", true],
  ])("%s: %s is %s: %s", (type, record, expected, is) => {
    expect(hasRecord(["other", record], expected, type)).toBe(is);
  });
});

describe("a query", () => {
  it("is what another codec reads", () => {
    const decoded = packet.decode(Buffer.from(query.bytes));
    expect(decoded).toMatchObject({ id: 0x1234, flag_qr: false, flag_rd: true });
    expect(decoded.questions).toEqual([{ name: "host.sonde.dev", type: "A", class: "IN" }]);
    expect(packet.decode.bytes).toBe(query.bytes.length);
    expect(packet.decode(Buffer.from(encodeQuery("", "NS", 0xffff).bytes)).questions).toEqual([
      { name: ".", type: "NS", class: "IN" },
    ]);
  });

  it.each(["a..b", `${"a".repeat(64)}.b`, `${"abcdefghi.".repeat(25)}abcdef`])("refuses %j", (name) => {
    expect(() => encodeQuery(name, "A", 1)).toThrow(RangeError);
  });
});

describe("a reply", () => {
  it("gives addresses and aliases, and skips other records", () => {
    const bytes = reply([
      { type: "CNAME", name: "host.sonde.dev", data: "Edge.Sonde.dev", ttl: 30 },
      { type: "TXT", name: "edge.sonde.dev", data: "text", ttl: 1 },
      { type: "A", name: "edge.sonde.dev", data: "9.9.9.9", ttl: 20 },
      { type: "A", name: "edge.sonde.dev", data: "9.9.9.10", class: "CH", ttl: 20 },
    ]);
    expect(read(bytes)).toEqual({
      rcode: "NOERROR",
      truncated: false,
      negativeTtlS: null,
      isReferral: false,
      records: [
        { name: "host.sonde.dev", type: "CNAME", ttlS: 30, data: "edge.sonde.dev" },
        { name: "edge.sonde.dev", type: "A", ttlS: 20, data: "9.9.9.9" },
      ],
    });
  });

  it("reads IPv6", () => {
    const to = encodeQuery("host.sonde.dev", "AAAA", 7);
    const decoded = read(
      reply([{ type: "AAAA", name: "host.sonde.dev", data: "2a00:1450:0:0:0:0:0:5", ttl: 1 }], {}, to),
      to,
    );
    expect(decoded).toMatchObject({ records: [{ type: "AAAA", data: "2a00:1450::5" }] });
  });

  it.each<[QuestionType, Answer["type"], unknown, string]>([
    ["NS", "NS", "NS1.sonde.dev", "ns1.sonde.dev"],
    ["PTR", "PTR", "mail.sonde.dev", "mail.sonde.dev"],
    ["CNAME", "CNAME", "edge.sonde.dev", "edge.sonde.dev"],
    ["MX", "MX", { preference: 10, exchange: "MX.sonde.dev" }, "10 mx.sonde.dev"],
    ["MX", "MX", { preference: 0, exchange: "." }, "0 ."],
    ["TXT", "TXT", ["v=spf1 -all"], "v=spf1 -all"],
    ["TXT", "TXT", ["k".repeat(255), "K"], `${"k".repeat(255)}K`],
    ["TXT", "TXT", [Buffer.from("ж").subarray(0, 1), Buffer.from("ж").subarray(1)], "ж"],
    ["TXT", "TXT", [Buffer.of(0x61, 0xff)], "a\\255"],
    ["TXT", "TXT", ["a\u0007"], "a\\007"],
    ["SRV", "SRV", { priority: 1, weight: 2, port: 5060, target: "sip.sonde.dev" }, "1 2 5060 sip.sonde.dev"],
    ["CAA", "CAA", { flags: 128, tag: "issue", value: "letsencrypt.org" }, "128 issue letsencrypt.org"],
    [
      "SOA",
      "SOA",
      {
        mname: "ns.sonde.dev",
        rname: "ops.sonde.dev",
        serial: 4_294_967_295,
        refresh: 1,
        retry: 2,
        expire: 3,
        minimum: 4,
      },
      "ns.sonde.dev ops.sonde.dev 4294967295 1 2 3 4",
    ],
  ])("reads a %s record that another codec wrote", (asked, type, data, text) => {
    const to = encodeQuery("host.sonde.dev", asked, 7);
    const record = { type, name: "host.sonde.dev", data, ttl: 1 } as Answer;
    const decoded = read(reply([record], {}, to), to);
    expect(decoded).toMatchObject({ records: [{ type: asked, data: text }] });
    if (typeof decoded === "object") expect(followChain(decoded, to)?.records).toHaveLength(1);
  });

  it("compares the question without regard to case", () => {
    const questions = [{ name: "HOST.sonde.DEV", type: "A", class: "IN" }];
    expect(read(reply([], { questions }))).toMatchObject({ rcode: "NOERROR" });
  });

  it.each([
    ["another id", { id: 0x1235 }],
    ["a query", { type: "query" }],
    ["another name", { questions: [{ name: "host.sonde.de", type: "A", class: "IN" }] }],
    ["another type", { questions: [{ name: "host.sonde.dev", type: "AAAA", class: "IN" }] }],
    ["another class", { questions: [{ name: "host.sonde.dev", type: "A", class: "CH" }] }],
    ["no question, yet records", { questions: [] }],
    ["two questions", { questions: Array(2).fill({ name: "host.sonde.dev", type: "A", class: "IN" }) }],
    ["another opcode", { flags: 2 << 11 }],
  ])("with %s is not ours", (_, changes) => {
    expect(read(reply([], changes))).toBeUndefined();
  });

  it("may leave the question out when it refuses the whole message", () => {
    expect(read(reply([], { questions: [], flags: 1 }))).toMatchObject({ rcode: "FORMERR" });
    expect(read(reply([], { questions: [], flags: 5 }))).toMatchObject({ rcode: "REFUSED" });
    expect(read(reply([], { questions: [], flags: 3 }))).toBeUndefined();
  });

  it.each([
    [0, "NOERROR"],
    [1, "FORMERR"],
    [2, "SERVFAIL"],
    [3, "NXDOMAIN"],
    [4, "NOTIMP"],
    [5, "REFUSED"],
    [11, "RCODE11"],
  ])("code %i is %s", (flags, rcode) => {
    expect(read(reply([], { flags }))).toMatchObject({ rcode });
  });

  it("cut short holds no records, whatever stands in it", () => {
    const bytes = reply([{ type: "A", name: "host.sonde.dev", data: "9.9.9.9", ttl: 1 }], {
      flags: packet.TRUNCATED_RESPONSE,
    });
    expect(read(bytes)).toMatchObject({ truncated: true, records: [] });
    expect(read(bytes.subarray(0, bytes.length - 3))).toMatchObject({ truncated: true, records: [] });
  });

  it("says how long nothing may be believed", () => {
    const soa: Answer = { type: "SOA", name: "sonde.dev", ttl: 300, data: { mname: "a.b", rname: "c.d", minimum: 60 } };
    expect(read(reply([], { flags: 3, authorities: [soa] }))).toMatchObject({ negativeTtlS: 60 });
    expect(read(reply([], { flags: 3, authorities: [{ ...soa, ttl: 5 }] }))).toMatchObject({ negativeTtlS: 5 });
    expect(read(reply([], { flags: 3 }))).toMatchObject({ negativeTtlS: null });
  });

  it("is a referral when it names servers and says nothing of the name", () => {
    const servers: Answer = { type: "NS", name: "sonde.dev", ttl: 60, data: "ns.sonde.dev" };
    const soa: Answer = { type: "SOA", name: "sonde.dev", ttl: 300, data: { mname: "a.b", rname: "c.d", minimum: 60 } };
    const isReferral = (...words: Parameters<typeof reply>) => (read(reply(...words)) as Reply).isReferral;
    expect(isReferral([], { authorities: [servers] })).toBe(true);
    expect(isReferral([], { authorities: [servers, soa] })).toBe(false);
    expect(isReferral([], { authorities: [servers], flags: packet.AUTHORITATIVE_ANSWER })).toBe(false);
    expect(isReferral([], { authorities: [servers], flags: 3 })).toBe(false);
    const record: Answer = { type: "A", name: "host.sonde.dev", data: "9.9.9.9", ttl: 1 };
    expect(isReferral([record], { authorities: [servers] })).toBe(false);
  });

  it("with a TTL beyond 31 bits is not kept at all (RFC 2181 section 8)", () => {
    const bytes = Buffer.from(reply([{ type: "A", name: "host.sonde.dev", data: "9.9.9.9", ttl: 1 }]));
    bytes.writeUInt32BE(0x8000_0001, bytes.length - 10);
    expect(read(bytes)).toMatchObject({ records: [{ ttlS: 0 }] });
  });
});

/** A reply by hand: header and question as they should be, then these bytes as the answer section. */
function crafted(answerCount: number, ...answers: readonly number[][]): Uint8Array {
  const head = Buffer.from(reply([]));
  head.writeUInt16BE(answerCount, 6);
  return Buffer.concat([head, Buffer.from(answers.flat())]);
}

const TO_QUESTION = [0xc0, 12];
const A_IN = [0, 1, 0, 1, 0, 0, 0, 9];
const CNAME_IN = [0, 5, 0, 1, 0, 0, 0, 9];

describe("a reply that lies", () => {
  const at = query.bytes.length;

  it.each<[string, Uint8Array, string]>([
    ["an address of three bytes", crafted(1, TO_QUESTION, A_IN, [0, 3, 9, 9, 9]), "an address record of 3 bytes"],
    ["an address of five bytes", crafted(1, TO_QUESTION, A_IN, [0, 5, 9, 9, 9, 9, 9]), "an address record of 5 bytes"],
    [
      "a length beyond the end",
      crafted(1, TO_QUESTION, A_IN, [0xff, 0xff, 9, 9, 9, 9]),
      "a record is longer than the message",
    ],
    ["more records than it holds", crafted(2, TO_QUESTION, A_IN, [0, 4, 9, 9, 9, 9]), "the message ends in the middle"],
    ["65,535 records", crafted(65_535, TO_QUESTION, A_IN, [0, 4, 9, 9, 9, 9]), "reply of 65535 records"],
    ["a pointer to itself", crafted(1, [0xc0, at], A_IN, [0, 4, 9, 9, 9, 9]), "a name that points forward"],
    ["a pointer forward", crafted(1, [0xc0, at + 4], A_IN, [0, 4, 9, 9, 9, 9]), "a name that points forward"],
    ["a pointer beyond the end", crafted(1, [0xff, 0xff], A_IN, [0, 4, 9, 9, 9, 9]), "a name that points forward"],
    [
      "two names that point at each other",
      crafted(1, [1, 97, 0xc0, at], A_IN, [0, 4, 9, 9, 9, 9]),
      "a name that points forward",
    ],
    ["a label of an unknown kind", crafted(1, [0x40, 0], A_IN, [0, 4, 9, 9, 9, 9]), "a label of an unknown kind"],
    ["half a pointer", crafted(1, [0xc0]), "the message ends in the middle"],
    [
      "a name that leaves its record",
      crafted(1, TO_QUESTION, CNAME_IN, [0, 1, 1, 97, 0]),
      "length of a CNAME record is wrong",
    ],
    [
      "a name that ends before its record",
      crafted(1, TO_QUESTION, CNAME_IN, [0, 9, 1, 97, 0, 0, 0, 0, 0, 0, 0]),
      "length of a CNAME record is wrong",
    ],
    [
      "a name too long",
      crafted(1, ...Array(5).fill([63, ...Array(63).fill(97)]), [0], A_IN),
      "a name longer than 255 bytes",
    ],
  ])("%s", (_, bytes, words) => {
    expect(read(bytes)).toBe(words);
  });

  it("is not read beyond its bound", () => {
    expect(read(Buffer.concat([reply([]), Buffer.alloc(MESSAGE_BYTES)]))).toMatch(/^reply of \d+ bytes$/);
  });

  it("an authority section that cannot be read is as good as none", () => {
    const bytes = Buffer.from(crafted(0, [0xc0, 0xff]));
    bytes.writeUInt16BE(1, 8);
    expect(read(bytes)).toMatchObject({ records: [], negativeTtlS: null });
  });

  it("shows bytes of names without letting them be more", () => {
    const label = [...Buffer.from("a.b\\"), 0, 0x1b, 0xff, 32];
    expect(read(crafted(1, TO_QUESTION, CNAME_IN, [0, label.length + 2, label.length, ...label, 0]))).toMatchObject({
      records: [{ data: "a\\.b\\\\\\000\\027\\255\\032" }],
    });
  });

  const types = Object.entries(TYPE_NUMBERS) as [QuestionType, number][];
  property([fc.constantFrom(...types), fc.uint8Array({ maxLength: 300 })], { ...BOUNDED, numRuns: 50_000 })(
    "any data of any type is read whole or refused",
    ([type, number], data) => {
      const to = encodeQuery("host.sonde.dev", type, 7);
      const head = Buffer.from(reply([], {}, to));
      head.writeUInt16BE(1, 6);
      const record = Buffer.from([...TO_QUESTION, number >> 8, number & 255, 0, 1, 0, 0, 0, 9, 0, 0]);
      record.writeUInt16BE(data.length, record.length - 2);
      const found = read(Buffer.concat([head, record, data]), to);
      if (typeof found === "string") return;
      mustEqual(found?.records.length, 1);
      // Nothing that moves a terminal's cursor or ends a line of a log.
      must(!/\p{Cc}/u.test(found?.records[0]?.data ?? ""), "a control character is left");
    },
  );

  property([fc.uint8Array({ maxLength: 600 })], { ...BOUNDED, numRuns: 100_000 })(
    "any bytes are read or refused",
    (bytes) => void read(bytes),
  );

  const sections = [
    { type: "CNAME", name: "host.sonde.dev", data: "edge.sonde.dev", ttl: 30 },
    { type: "A", name: "edge.sonde.dev", data: "9.9.9.9", ttl: 20 },
    { type: "AAAA", name: "edge.sonde.dev", data: "2a00::1", ttl: 20 },
    { type: "MX", name: "edge.sonde.dev", data: { exchange: "m.sonde.dev", preference: 1 }, ttl: 20 },
  ] satisfies Answer[];
  const honest = reply(sections, {
    authorities: [{ type: "SOA", name: "dev", ttl: 3, data: { mname: "a.b", rname: "c.d", minimum: 6 } }],
  });
  const change = fc.tuple(
    fc.nat({ max: honest.length - 1 }),
    fc.oneof(fc.constantFrom(0, 1, 12, 0x3f, 0x40, 0xc0, 0xff), fc.nat({ max: 255 })),
  );

  property([fc.array(change, { minLength: 1, maxLength: 8 }), fc.nat({ max: honest.length })], {
    ...BOUNDED,
    numRuns: 100_000,
  })("an honest reply with bytes changed and its end cut off", (changes, length) => {
    const bytes = Buffer.from(honest);
    for (const [index, value] of changes) bytes[index] = value;
    const found = read(bytes.subarray(0, length));
    if (typeof found !== "object") return;
    must(found.records.length <= sections.length, "there are more records than were sent");
    for (const { name } of found.records) must(name.length < 1_100, "the name is too long");
    followChain(found, query);
  });
});

const label = fc.string({ unit: fc.constantFrom(..."abcxyz019-_"), minLength: 1, maxLength: 12 });
const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));
const record = fc.oneof(
  fc.record({ type: fc.constant("A" as const), name, data: fc.ipV4(), ttl: fc.nat({ max: 0x7fff_ffff }) }),
  fc.record({ type: fc.constant("CNAME" as const), name, data: name, ttl: fc.nat({ max: 1_000 }) }),
  fc.record({ type: fc.constant("NS" as const), name, data: name, ttl: fc.nat({ max: 1_000 }) }),
);

describe("against another codec", () => {
  property([name, fc.array(record, { maxLength: 12 }), fc.nat({ max: 0xffff })], { ...BOUNDED, numRuns: 30_000 })(
    "reads what it writes",
    (asked, records, id) => {
      const to = encodeQuery(asked, "A", id);
      const expected = records
        .filter(({ type }) => type !== "NS")
        .map(({ type, name: owner, data, ttl }) => ({ name: owner, type, ttlS: ttl, data }));
      expect(read(reply(records, {}, to), to)).toMatchObject({ rcode: "NOERROR", records: expected });
    },
  );
});

describe("aliases", () => {
  const chained = (...answers: Answer[]) => {
    const decoded = decodeReply(reply(answers), query);
    return decoded === undefined ? undefined : followChain(decoded, query);
  };
  const link = (from: string, to: string, ttl = 60): Answer => ({ type: "CNAME", name: from, data: to, ttl });

  it("are followed in any order, with the smallest TTL on the way", () => {
    const end = chained(
      { type: "A", name: "c.dev", data: "9.9.9.9", ttl: 50 },
      link("b.dev", "c.dev", 7),
      { type: "A", name: "other.dev", data: "8.8.8.8", ttl: 1 },
      link("host.sonde.dev", "b.dev", 40),
    );
    expect(end).toMatchObject({ name: "c.dev", aliases: 2, ttlS: 7 });
    expect(end?.records.map(({ data }) => data)).toEqual(["9.9.9.9"]);
  });

  it("may lead out of the answer", () => {
    expect(chained(link("host.sonde.dev", "b.dev"))).toMatchObject({ name: "b.dev", records: [] });
    expect(chained()).toMatchObject({ name: "host.sonde.dev", aliases: 0, records: [] });
  });

  it("in a circle, or too many, lead nowhere", () => {
    expect(chained(link("host.sonde.dev", "host.sonde.dev"))).toBeUndefined();
    expect(chained(link("host.sonde.dev", "b.dev"), link("b.dev", "host.sonde.dev"))).toBeUndefined();
    const long = (links: number) =>
      Array.from({ length: links }, (_, index) =>
        link(index === 0 ? "host.sonde.dev" : `n${index}.dev`, `n${index + 1}.dev`),
      );
    expect(chained(...long(ALIAS_LIMIT))).toMatchObject({ aliases: ALIAS_LIMIT });
    expect(chained(...long(ALIAS_LIMIT + 1))).toBeUndefined();
  });
});

describe("over a stream", () => {
  property(
    [
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.uint8Array({ maxLength: 9 }),
    ],
    { ...BOUNDED, numRuns: 20_000 },
  )("a message is found whole, however it is cut", (message, cuts, rest) => {
    const stream = Buffer.concat([frame(message), rest]);
    const reader = new FrameReader();
    let found: Uint8Array | undefined;
    for (let at = 0, turn = 0; at < stream.length && found === undefined; turn++) {
      const size = cuts[turn % cuts.length] ?? 1;
      found = reader.push(stream.subarray(at, at + size));
      at += size;
    }
    mustEqual(found && Buffer.from(found), Buffer.from(message));
  });

  it("one that is too long is refused at its length", () => {
    expect(() => new FrameReader().push(new Uint8Array([0xff, 0xff]))).toThrow(DnsFormatError);
  });
});
