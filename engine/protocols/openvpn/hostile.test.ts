/** Untrusted bytes and texts: for every input a decoder returns a value or refuses it with its error type, within bounds. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { fuzz } from "../fuzz.suite.ts";
import { ControlTextError, ControlTextReader, readPushed } from "./control-text.ts";
import { afterReceiving, DATA_CHANNELS, SEEDS, SERVER_HELLO, serverPacket } from "./foreign-bytes.suite.ts";
import { decodeKeyMethod, KeyMethodError } from "./key-method.ts";
import { CONTROL_HEADER_BYTES, decodeControl, encodeFrame, FrameReader, OPCODE } from "./packet.ts";
import { parseProfile } from "./profile.ts";
import { RECORDED } from "./recorded.suite.ts";
import { settingsOfScope } from "./settings.ts";
import { KeyFileError, keyBlockOf, parseClientKeyV2, parseStaticKey } from "./static-key.ts";

/** Of several packets each: 100,000 and more in all. */
const FEWER = 40_000;

const CHANGED: readonly Buffer[] = [
  ...SEEDS,
  encodeFrame(serverPacket(OPCODE.control, 2, Buffer.alloc(3))),
  SERVER_HELLO,
];

/** Good ones with bytes changed, cut out, cut off; and noise. */
const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 150 }).map((noise) => Buffer.from(noise)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...CHANGED),
        fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
        fc.option(fc.tuple(fc.nat(200), fc.nat(40))),
      )
      .map(([seed, changes, cut]) => {
        const changed = Buffer.from(seed);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        return cut === null ? changed : Buffer.concat([changed.subarray(0, cut[0]), changed.subarray(cut[0] + cut[1])]);
      }),
  },
);

function holds(decode: () => unknown, ...ours: readonly (new (...args: never[]) => Error)[]): void {
  try {
    decode();
  } catch (error) {
    if (!ours.some((kind) => error instanceof kind)) throw error;
  }
}

const OPENED: ReadonlySet<string> = new Set(["packet", "in-band", "replayed", "not-authentic", "odd"]);

describe("untrusted packets", () => {
  fuzz(
    "are control packets of a session or nothing",
    [bytes],
    (packet) => {
      for (const channel of afterReceiving(packet)) {
        must(channel.waitingAcks <= 2 && channel.due(1, 1).length <= 6, "a packet that is answered without bound");
      }
      if (packet.length >= CONTROL_HEADER_BYTES) {
        const decoded = decodeControl(packet.subarray(0, CONTROL_HEADER_BYTES), packet.subarray(CONTROL_HEADER_BYTES));
        must((decoded?.acks.length ?? 0) <= packet.length / 4, "more acknowledgements than there are bytes");
      }
    },
    FEWER,
  );

  fuzz(
    "are packets under our keys or refused",
    [bytes],
    (packet) => {
      for (const channel of DATA_CHANNELS) must(OPENED.has(channel.open(packet).kind), "another kind");
    },
    FEWER,
  );

  fuzz("are the server's keys, the beginning of them, or refused", [bytes], (packet) => {
    holds(() => {
      const hello = decodeKeyMethod(packet);
      if (hello !== undefined) must(hello.sizeBytes <= packet.length, "longer than it is");
    }, KeyMethodError);
  });

  fuzz(
    "come out of a stream as they went in, whatever its pieces",
    [fc.array(bytes, { maxLength: 5 }), fc.integer({ min: 1, max: 40 })],
    (packets, size) => {
      const stream = Buffer.concat(packets.map((packet) => encodeFrame(packet)));
      const reader = new FrameReader();
      const found: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) found.push(...reader.push(stream.subarray(at, at + size)));
      const isSame =
        found.length === packets.length && found.every((one, index) => one.equals(packets[index] ?? SERVER_HELLO));
      must(isSame, "other packets than went in");
    },
    FEWER,
  );
});

const words = fc.oneof(
  fc.constantFrom(
    "PUSH_REPLY",
    "AUTH_FAILED",
    "CRV1:",
    "INFO_PRE",
    "CR_TEXT:E:code",
    "RESTART",
    "ifconfig 10.0.0.2 ",
    "255.0.0.0",
    "\0",
    ",",
    "push-continuation 2",
    "peer-id 3",
    "dhcp-option DNS 1.1.1.1",
    "dns server 1 address 1.1.1.1",
    " ",
  ),
  fc.string({ maxLength: 12 }),
);

describe("untrusted texts", () => {
  fuzz("are messages of the control channel or refused", [fc.array(words, { maxLength: 12 })], (parts) => {
    holds(() => {
      const reader = new ControlTextReader();
      for (const part of parts) {
        for (const text of reader.push(Buffer.from(part))) {
          if (text.kind !== "push-reply") continue;
          must(readPushed(text.options).addresses.length <= 2, "more addresses than families");
        }
      }
    }, ControlTextError);
  });

  it("have an end", () => {
    const reader = new ControlTextReader();
    const flood = Buffer.alloc(100_000, 0x41);
    expect(() => {
      for (let times = 0; times < 5; times++) reader.push(flood);
    }).toThrow(ControlTextError);
    const options = Buffer.from(`PUSH_REPLY,${"a,".repeat(5_000)}push-continuation 2\0`);
    expect(() => {
      for (let times = 0; times < 3; times++) reader.push(options);
    }).toThrow(ControlTextError);
  });

  const key = `-----BEGIN OpenVPN Static key V1-----\n${RECORDED.tlsAuth.staticKey.toString("hex")}\n-----END OpenVPN Static key V1-----`;
  const v2 = `-----BEGIN OpenVPN tls-crypt-v2 client key-----\n${Buffer.concat([RECORDED.tlsAuth.staticKey, Buffer.alloc(40), Buffer.of(0, 42)]).toString("base64")}\n-----END OpenVPN tls-crypt-v2 client key-----`;
  const file = fc
    .tuple(fc.constantFrom(key, v2), fc.nat(700), fc.nat(60), fc.string({ maxLength: 8 }))
    .map(([text, at, size, put]) => text.slice(0, at) + put + text.slice(at + size));
  fuzz("are key files or refused without a word of them", [file], (text) => {
    holds(() => parseStaticKey(text), KeyFileError);
    holds(() => parseClientKeyV2(text), KeyFileError);
  });

  it("of key files are read", () => {
    expect(parseStaticKey(key)).toEqual(keyBlockOf(RECORDED.tlsAuth.staticKey));
    expect(parseClientKeyV2(v2).wrapped).toHaveLength(42);
  });

  const line = fc.oneof(
    fc.constantFrom(
      "auth SHA512",
      "auth none",
      "data-ciphers AES-128-GCM:?FOO",
      "data-ciphers DEFAULT",
      "cipher AES-256-CBC",
      "compress lz4",
      "comp-lzo",
      "fragment 1200",
      "tls-version-min 1.0",
      "tls-version-max 1.1",
      "verify-x509-name a name",
      "remote-cert-tls server",
      "remote-cert-ku 80 a0",
      "peer-fingerprint 00:11",
      "key-direction 1",
      `<tls-auth>\n${key}\n</tls-auth>`,
      `<tls-crypt-v2>\n${v2}\n</tls-crypt-v2>`,
      "<peer-fingerprint>\nAA:BB\n</peer-fingerprint>",
    ),
    fc.string({ maxLength: 30 }),
  );
  fuzz("are settings of a session or refused", [fc.array(line, { maxLength: 8 })], (lines) => {
    holds(() => settingsOfScope(parseProfile(lines.join("\n"))), TunnelConfigError);
  });
});
