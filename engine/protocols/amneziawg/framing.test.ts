import { createCipheriv } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { parseIni } from "../wireguard/ini.ts";
import { plainFraming, setUint32, uint32At } from "../wireguard/message.ts";
import { createFraming, explainAnswer } from "./framing.ts";
import { type AmneziaParams, hasPreamble, parseParams } from "./params.ts";
import { encodeSignature, parseSignature } from "./tags.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function paramsOf(lines: string): AmneziaParams {
  return parseParams(parseIni(`[Interface]\n${lines}\n`).interface);
}
function reasonOf(lines: string): string {
  try {
    paramsOf(lines);
    return "none";
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
}
function around(seed = 1) {
  let random = seed;
  return {
    randomBytes: (size: number) => Uint8Array.from({ length: size }, () => (random = (random * 61 + 17) & 255)),
    wallNowMs: () => 1_700_000_000_999,
  };
}
function message(size: number, type: number): Uint8Array {
  const bytes = Uint8Array.from({ length: size }, (_, index) => index & 255);
  setUint32(bytes, 0, type);
  return bytes;
}

const KEY = Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex").toString("base64");
const NEW = "S1=15\nS2=25\nS3=35\nS4=45\nH1=10-19\nH2=20-29\nH3=30-39\nH4=40-49";

describe("generations", () => {
  it.each([
    ["", "plain"],
    ["Jc=4\nJmin=10\nJmax=50\nS1=1\nH1=5", "1.0"],
    ["Jc=4\nJmin=10\nJmax=50\nI1=<r 5>\nItime=60", "1.5"],
    ["J1=<r 5>", "1.5"],
    ["H1=5-9", "2.0"],
    ["S4=5", "2.0"],
    ["I1=<rc 5>", "2.0"],
    ["RandomTrailers=on", "3.x"],
    [`S1=12\nS2=12\nS3=12\nS4=12\nHeaderProtectionKey=${KEY}`, "3.x"],
    ["RekeyAfterTime=100-120", "3.x"],
  ])("are inferred: %j is %s", (lines, version) => {
    expect(paramsOf(lines).version).toBe(version);
  });

  it("of the first kind read H1 to H4 up to 4 as WireGuard's own", () => {
    expect(paramsOf("H1=2\nH2=1\nJc=1\nJmin=1").headers).toEqual({
      initiation: { first: 1, last: 1 },
      response: { first: 2, last: 2 },
      cookie: { first: 3, last: 3 },
      transport: { first: 4, last: 4 },
    });
    expect(paramsOf("H1=3-4\nH2=5").headers.initiation).toEqual({ first: 3, last: 4 });
  });
});

describe("parameters", () => {
  it.each([
    ["Jc=4000000000", "Jc must be a number from 0 to 65535"],
    ["Jc=x", "Jc must be a number from 0 to 65535"],
    [
      "S5=3",
      "config has an obfuscation key that is not known (Jc to Jmax, S1 to S4, H1 to H4, I1 to I5 and J1 to J3 are)",
    ],
    [
      "Junk=3",
      "config has an obfuscation key that is not known (Jc to Jmax, S1 to S4, H1 to H4, I1 to I5 and J1 to J3 are)",
    ],
    ["I1=<r 1200>\nI2=<r 1200>", "I1 to I5 are more than 2048 bytes"],
    ["I1=<r 999999999>", "I1 has a tag of more than 1400 bytes"],
    ["I1=<r 1000><r 1000>", "I1 is a packet of more than 1400 bytes"],
    ["I1=<zz>", "I1 has a tag that is not known"],
    ["I1=<b 0xzz>", "I1 has a tag that is not known"],
    ["I1=<wt 9000>", "I1 has a tag that is not known"],
    ["J2=<q>", "J2 has a tag that is not known"],
    ["H1=9-5", "H1 must be a number of 32 bits or a range of them"],
    ["H1=5-9\nH3=9", "H1 to H4 overlap"],
    [`HeaderProtectionKey=${KEY}`, "HeaderProtectionKey needs S1 to S4 of at least 12"],
    ["ContentPaddingAddition=70000", "ContentPaddingAddition must be a number from 0 to 65535 or a range of them"],
    ["RandomTrailers=perhaps", "RandomTrailers must be on or off"],
    ["KeepaliveTimeout=9-1", "KeepaliveTimeout must be a number from 0 to 4294967295 or a range of them"],
    ["Itime=soon", "Itime must be a number from 0 to 4294967295"],
  ])("are refused: %j", (lines, reason) => {
    expect(reasonOf(lines)).toBe(reason);
  });

  it.each([
    ["Jc=120\nJmin=23\nJmax=911", 16],
    ["Jc=15\nJmin=1\nI1=<r 5>\nI2=<r 5>", 14],
    ["Jc=16\nJmin=200\nJmax=201", 10],
    ["Jc=4\nJmin=100\nI1=<r 1400>\nI2=<r 640>", 0],
    ["Jc=3\nJmin=40\nJmax=70", 3],
  ])("of more junk than a check sends are taken, and less is sent: %j", (lines, count) => {
    const params = paramsOf(lines);
    expect(params.junk.count).toBe(count);
    const packets = createFraming(params, around()).preamble();
    expect(packets.length).toBe(count + params.signatures.length);
    expect(packets.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2_048);
  });

  it("that are empty send nothing before a handshake", () => {
    expect(hasPreamble(paramsOf("I1 ="))).toBe(false);
    expect(hasPreamble(paramsOf("I1 = <r 5>"))).toBe(true);
    expect(hasPreamble(paramsOf("Jc=1\nJmin=5"))).toBe(true);
  });
});

describe("signature packets", () => {
  const moment = { ...around(), unixS: 0x6553f100, counter: 7 };

  it("have every tag of every generation", () => {
    const packet = parseSignature("junk <b 0xabc><t> <c><d><ds><wt 50><dz 2><b C0 FF>", "I1", 4);
    expect(text(encodeSignature(packet, 4, moment))).toBe("0abc6553f100000000070000c0ff");
    const old = parseSignature("<t><c>", "I1", 8);
    expect(text(encodeSignature(old, 8, moment))).toBe("000000006553f1000000000000000007");
    const drawn = encodeSignature(parseSignature("<rc 30><rd 30><r 3>", "I1", 4), 4, moment);
    expect(Buffer.from(drawn.subarray(0, 60)).toString()).toMatch(/^[A-Za-z]{30}[0-9]{30}$/);
    expect(drawn.length).toBe(63);
  });

  it("of any text are read or refused, and are as long as they say", () => {
    const pieces = fc.constantFrom(
      "<b 0x",
      "<r ",
      "<rc ",
      "<t>",
      "<c>",
      ">",
      "<",
      "12",
      "ff",
      "<wt 1>",
      "<dz 3>",
      "é",
      " ",
    );
    assertProperty(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 12 }), (parts) => {
        let packet: ReturnType<typeof parseSignature>;
        try {
          packet = parseSignature(parts.join(""), "I1", 4);
        } catch (error) {
          must(/^TunnelConfigError: I1 (has a tag|is a packet)/.test(String(error)), String(error));
          return;
        }
        must(encodeSignature(packet, 4, moment).length === packet.sizeBytes, "not as long as it says");
        must(packet.sizeBytes <= 1_400, "longer than may be");
      }),
      { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
    );
  });
});

describe("framing", () => {
  it("without parameters is WireGuard's own", () => {
    const [ours, plain] = [createFraming(paramsOf(""), around()), plainFraming()];
    for (const [size, type] of [
      [92, 2],
      [64, 3],
      [32, 4],
      [148, 1],
      [93, 2],
    ] as const) {
      const datagram = message(size, type);
      expect(ours.unwrap(datagram)).toEqual(plain.unwrap(datagram));
    }
    expect(ours.preamble()).toEqual([]);
    expect(ours.header("initiation")).toBe(1);
    expect(text(ours.wrap("initiation", message(148, 1)))).toBe(text(message(148, 1)));
  });

  it("pads, numbers and finds each kind of message by size and number", () => {
    const framing = createFraming(paramsOf(NEW), around());
    for (let each = 0; each < 50; each++) {
      expect(Math.floor(framing.header("initiation") / 10)).toBe(1);
      expect(Math.floor(framing.header("transport") / 10)).toBe(4);
    }
    const wrapped = framing.wrap("initiation", message(148, 10));
    expect(wrapped.length).toBe(163);
    expect(text(wrapped.subarray(15))).toBe(text(message(148, 10)));
    const padded = (size: number, inner: Uint8Array) => Uint8Array.from([...new Uint8Array(size), ...inner]);
    expect(framing.unwrap(padded(25, message(92, 25)))).toEqual([{ kind: "response", message: message(92, 25) }]);
    expect(framing.unwrap(padded(35, message(64, 39)))).toEqual([{ kind: "cookie", message: message(64, 39) }]);
    expect(framing.unwrap(padded(45, message(80, 40)))).toEqual([{ kind: "transport", message: message(80, 40) }]);
    for (const wrong of [padded(25, message(92, 30)), padded(24, message(92, 25)), padded(25, message(93, 25))]) {
      expect(framing.unwrap(wrong)).toEqual([]);
    }
  });

  it("gives every reading of a datagram that may be two things, handshakes first", () => {
    const framing = createFraming(paramsOf("S2=4\nS4=0\nH2=5-100000\nH4=200000-4294967295"), around());
    const datagram = new Uint8Array(96);
    setUint32(datagram, 0, 300_000);
    setUint32(datagram, 4, 6);
    expect(framing.unwrap(datagram).map(({ kind }) => kind)).toEqual(["response", "transport"]);
  });

  it("covers heads as AmneziaWG 3.1 does (recorded rule) and reads them back", () => {
    const lines = `S1=16\nS2=16\nS3=16\nS4=16\nHeaderProtectionKey=${KEY}`;
    const params = paramsOf(lines);
    const padding = hex("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
    const framing = createFraming(params, { ...around(), randomBytes: () => padding });
    const plain = new Uint8Array(48);
    plain.set(hex("04000000785634120000000000000000"));
    const wrapped = framing.wrap("transport", plain);
    expect(text(wrapped.subarray(16, 32))).toBe("f3baf7e4b44dcabca3e5885e99ca209f");
    expect(text(wrapped.subarray(32))).toBe(text(plain.subarray(16)));
    expect(framing.unwrap(wrapped)).toEqual([{ kind: "transport", message: plain }]);

    // OpenSSL as the other side: a response that is covered as a whole, with a trailer.
    const nonce = padding.subarray(0, 12);
    const cipher = createCipheriv("chacha20", Buffer.from(KEY, "base64"), Buffer.concat([Buffer.alloc(4), nonce]));
    const covered = cipher.update(message(92, 2));
    const datagram = Uint8Array.from([...padding, ...covered, 1, 2, 3]);
    expect(framing.unwrap(datagram)[0]).toEqual({ kind: "response", message: message(92, 2) });
    const asBuffer = Buffer.from(datagram);
    expect(framing.unwrap(asBuffer)[0]).toEqual({ kind: "response", message: message(92, 2) });
    expect(text(asBuffer)).toBe(text(datagram));
  });

  it("sends signatures and then junk, of the sizes that it was told, never more than 2 KiB", () => {
    const sizes = fc.record({ count: fc.nat(11), least: fc.nat(150), spread: fc.nat(1_200), signature: fc.nat(300) });
    assertProperty(
      fc.property(sizes, ({ count, least, spread, signature }) => {
        const most = Math.min(1_400, least + spread);
        fc.pre(count * least + 2 * signature <= 2_048);
        const params = paramsOf(`Jc=${count}\nJmin=${least}\nJmax=${most}\nI1=<r ${signature}>\nI3=<r ${signature}>`);
        const packets = createFraming(params, around()).preamble();
        expect(packets.length).toBeLessThanOrEqual(16);
        expect(packets.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2_048);
        const junk = packets.slice(signature > 0 ? 2 : 0);
        expect(junk.every(({ length }) => length >= Math.min(1, least) && length <= Math.max(least, most))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("survives any datagram under any parameters", () => {
    const all = [
      paramsOf(""),
      paramsOf(NEW),
      paramsOf("S2=1400\nH2=0-4294967290"),
      paramsOf(`${NEW}\nRandomTrailers=on\nHeaderProtectionKey=${KEY}`),
    ].map((params) => createFraming(params, around()));
    assertProperty(
      fc.property(fc.uint8Array({ maxLength: 1_600 }), (datagram) => {
        for (const framing of all) {
          for (const { kind, message: found } of framing.unwrap(datagram)) {
            must(kind !== "response" || found.length === 92, "a response of another length");
            must(kind !== "cookie" || found.length === 64, "a cookie of another length");
            must(found.length <= datagram.length, "more than came");
          }
        }
      }),
      { numRuns: 100_000 },
    );
  }, 120_000);
});

describe("unreadable answers", () => {
  it("say what is another at the server", () => {
    const params = paramsOf(NEW);
    expect(explainAnswer(params, "response", 92 + 25)).toBe("H2 is another there");
    expect(explainAnswer(params, "cookie", 64 + 35)).toBe("H3 is another there");
    expect(explainAnswer(params, "response", 150)).toBe("S2 is 58 there, and 25 here");
    expect(explainAnswer(params, "cookie", 64)).toBe("S3 is 0 there, and 35 here");
    expect(uint32At(hex("0102030405"), 1)).toBe(0x05040302);
  });
});
