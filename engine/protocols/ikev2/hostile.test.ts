/** Bytes from the network: whatever they are, a decoder ends in a value or in a refusal of its own, within bounds. */
import { test as property } from "@fast-check/vitest";
import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { NetworkFault } from "../../transport/fault.ts";
import { AES_128_CBC, AES_256_GCM, HMAC_SHA256_128 } from "./algorithms.ts";
import {
  decodeAuth,
  decodeCertificate,
  decodeConfigurationReply,
  decodeDelete,
  decodeIdentity,
  decodeKeyExchange,
  decodeSelectors,
} from "./bodies.ts";
import { oidText, readDer } from "./der.ts";
import { decodeEap, EapPeer } from "./eap.ts";
import { EspReceiver, EspSender } from "./esp.ts";
import { Initiator } from "./initiator.ts";
import type { DirectionKeys } from "./keys.ts";
import { decodeChain, decodeHeader, encodeChain, HEADER_BYTES, IkeFormatError, PAYLOAD } from "./message.ts";
import { decodeNotify } from "./notify.ts";
import { chosenChildSuite, chosenIkeSuite, decodeProposals } from "./proposals.ts";
import { RECORDED } from "./recorded.suite.ts";
import { Opener, Sealer } from "./sealed.ts";
import { createAnchors, trustedKey } from "./trust.ts";

/** Inputs as many as are said or 30 s of them, whichever is less, on a machine that may be busy with other things. */
const RUNS = { numRuns: 100_000, interruptAfterTimeLimit: 30_000 };
/** Of several packets each: 100,000 and more in all. */
const FEWER = { numRuns: 40_000, interruptAfterTimeLimit: 30_000 };
const TIMEOUT_MS = 90_000;

const SEEDS: readonly Buffer[] = [
  RECORDED.initRequest,
  RECORDED.initResponse,
  RECORDED.authRequest,
  RECORDED.authResponse,
  RECORDED.authRequestInner,
  RECORDED.authResponseInner,
  RECORDED.espReceived,
];

/** Recorded ones with bytes changed, cut out, doubled, cut off; and noise. */
const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((noise) => Buffer.from(noise)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...SEEDS),
        fc.array(fc.tuple(fc.nat(600), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
        fc.option(fc.tuple(fc.nat(600), fc.nat(40))),
        fc.nat(28),
      )
      .map(([seed, changes, cut, from]) => {
        const changed = Buffer.from(seed);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        const whole =
          cut === null ? changed : Buffer.concat([changed.subarray(0, cut[0]), changed.subarray(cut[0] + cut[1])]);
        return from > 24 ? whole.subarray(from) : whole;
      }),
  },
);

/** Whatever is thrown must be one of ours. */
function holds(decode: () => unknown): void {
  try {
    decode();
  } catch (error) {
    if (error instanceof IkeFormatError || error instanceof NetworkFault) return;
    throw error;
  }
}

const gcm: DirectionKeys = {
  encryption: AES_256_GCM,
  integrity: null,
  key: Buffer.alloc(32, 1),
  salt: Buffer.alloc(4, 2),
  integrityKey: Buffer.alloc(0),
};
const cbc: DirectionKeys = {
  encryption: AES_128_CBC,
  integrity: HMAC_SHA256_128,
  key: Buffer.alloc(16, 1),
  salt: Buffer.alloc(0),
  integrityKey: Buffer.alloc(32, 3),
};
const random = (sizeBytes: number): Uint8Array => Buffer.alloc(sizeBytes, 7);

describe("hostile bytes", () => {
  property.prop([bytes], RUNS)(
    "as a message",
    (message) => {
      holds(() => decodeChain(decodeHeader(message).firstPayload, message.subarray(HEADER_BYTES)));
    },
    TIMEOUT_MS,
  );

  property.prop([bytes, fc.constantFrom(...Object.values(PAYLOAD))], RUNS)(
    "as a chain of payloads",
    (chain, first) => {
      holds(() => expect(decodeChain(first, chain).length).toBeLessThanOrEqual(64));
    },
    TIMEOUT_MS,
  );

  property.prop([bytes, fc.nat(300)], RUNS)(
    "as bodies of payloads",
    (message, from) => {
      const body = message.subarray(from);
      for (const decode of [
        decodeKeyExchange,
        decodeIdentity,
        decodeAuth,
        decodeCertificate,
        decodeSelectors,
        decodeConfigurationReply,
        decodeDelete,
        decodeNotify,
        decodeProposals,
        chosenIkeSuite,
        chosenChildSuite,
        decodeEap,
        (der: Buffer) => readDer(der)?.map(({ content }) => oidText(content)),
      ]) {
        holds(() => decode(body));
      }
    },
    TIMEOUT_MS,
  );

  property.prop([bytes, fc.boolean()], RUNS)(
    "as an encrypted message, and as ESP",
    (datagram, isGcm) => {
      const keys = isGcm ? gcm : cbc;
      holds(() => new Opener(keys).open(datagram));
      expect(new EspReceiver(keys, datagram.subarray(0, 4)).open(datagram)).toBeUndefined();
    },
    TIMEOUT_MS,
  );

  property.prop([bytes], RUNS)(
    "inside of what was encrypted and signed by the gateway",
    (content) => {
      const header = decodeHeader(RECORDED.authResponse);
      for (const keys of [gcm, cbc]) {
        const [sealed = Buffer.alloc(0)] = new Sealer(keys, random).seal(
          header,
          [{ type: PAYLOAD.eap, body: content }],
          false,
        );
        holds(() =>
          new EapPeer({ username: "u", password: "p" }, random).step(
            new Opener(keys).open(sealed)?.payloads[0]?.body ?? content,
          ),
        );
        const esp = new EspSender(keys, Buffer.from("abcd"), random).seal(content);
        const inner = new EspReceiver(keys, Buffer.from("abcd")).open(esp);
        const version = (content[0] ?? 0) >> 4;
        expect(inner?.equals(content) ?? false).toBe(version === 4 || version === 6);
      }
    },
    TIMEOUT_MS,
  );

  property.prop([bytes], RUNS)(
    "as an EAP packet",
    (packet) => {
      const sized = Buffer.from(packet);
      if (sized.length >= 5) {
        sized.writeUInt16BE(sized.length, 2);
        sized[0] = 1;
        sized[4] = sized.length % 2 === 0 ? 26 : 4;
      }
      holds(() => new EapPeer({ username: "u", password: "p" }, random).step(sized));
    },
    TIMEOUT_MS,
  );

  property.prop([bytes], RUNS)(
    "as the answer to a first message",
    (datagram) => {
      const initiator = new Initiator(
        {
          identity: () => ({ type: 2, data: Buffer.from("u") }),
          wantedIdentity: null,
          gateway: "gw",
          login: null,
          sharedKey: "k",
          anchors: () => createAnchors([]),
          remote: { address: Buffer.alloc(4), port: 500 },
        },
        {
          randomBytes: (sizeBytes) => RECORDED.authRequest.subarray(0, sizeBytes),
          wallNowMs: () => 0,
        },
      );
      holds(() => {
        const talk = initiator.open();
        talk.next();
        const heard = initiator.hear(datagram);
        if (heard.kind === "answer") talk.next(heard);
      });
    },
    TIMEOUT_MS,
  );

  property.prop([fc.array(bytes, { maxLength: 4 })], FEWER)(
    "as certificates",
    (certificates) => {
      expect(() => trustedKey(certificates, createAnchors([]), "gw", 0)).toThrow(NetworkFault);
    },
    TIMEOUT_MS,
  );

  property.prop(
    [fc.uint8Array({ minLength: 1, maxLength: 6_000 }), fc.array(fc.nat(1_000), { maxLength: 40 }), fc.boolean()],
    FEWER,
  )(
    "as fragments in any order, some of them twice, some missing",
    (body, order, isGcm) => {
      const keys = isGcm ? gcm : cbc;
      const header = decodeHeader(RECORDED.authResponse);
      const payload = { type: PAYLOAD.vendor, body: Buffer.from(body) };
      const pieces = new Sealer(keys, random).seal(header, [payload], true);
      const opener = new Opener(keys);
      const missing = new Set(pieces.keys());
      for (const pick of order) {
        const at = pick % pieces.length;
        const isLast = missing.delete(at) && missing.size === 0;
        const opened = opener.open(pieces[at] ?? Buffer.alloc(0));
        expect(opened === undefined).toBe(!isLast);
        if (opened !== undefined) {
          expect(encodeChain(opened.payloads)).toEqual(encodeChain([payload]));
          return;
        }
      }
    },
    TIMEOUT_MS,
  );
});
