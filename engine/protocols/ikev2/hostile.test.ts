/** Bytes from the network: whatever they are, a decoder ends in a value or in a refusal of its own, within bounds. */
import * as fc from "fast-check";
import { describe } from "vitest";
import { must } from "../../../testkit/must.ts";
import { NetworkFault } from "../../net/fault.ts";
import { fuzz } from "../fuzz.suite.ts";
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
import { CBC_KEYS, GCM_KEYS, NO_ANCHORS, SEEDS, sameBytes, waitingInitiator } from "./foreign-bytes.suite.ts";
import { decodeChain, decodeHeader, encodeChain, HEADER_BYTES, IkeFormatError, PAYLOAD } from "./message.ts";
import { decodeAnnouncements, decodeNotify } from "./notify.ts";
import { chosenChildSuite, chosenIkeSuite, decodeProposals } from "./proposals.ts";
import { RECORDED } from "./recorded.suite.ts";
import { Opener, Sealer } from "./sealed.ts";
import { trustedKey } from "./trust.ts";

/** Of several packets each: 100,000 and more in all. */
const FEWER = 40_000;

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

describe("hostile bytes", () => {
  fuzz("as a message", [bytes], (message) => {
    holds(() => decodeChain(decodeHeader(message).firstPayload, message.subarray(HEADER_BYTES)));
  });

  fuzz("as a chain of payloads", [bytes, fc.constantFrom(...Object.values(PAYLOAD))], (chain, first) => {
    holds(() => must(decodeChain(first, chain).length <= 64, "more payloads than are taken"));
  });

  fuzz("as bodies of payloads", [bytes, fc.nat(300)], (message, from) => {
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
      decodeAnnouncements,
      decodeProposals,
      chosenIkeSuite,
      chosenChildSuite,
      decodeEap,
      (der: Buffer) => readDer(der)?.map(({ content }) => oidText(content)),
    ]) {
      holds(() => decode(body));
    }
  });

  fuzz("as an encrypted message, and as ESP", [bytes, fc.boolean()], (datagram, isGcm) => {
    const keys = isGcm ? GCM_KEYS : CBC_KEYS;
    holds(() => new Opener(keys).open(datagram));
    must(new EspReceiver(keys, datagram.subarray(0, 4)).open(datagram) === undefined, "opened what was not sealed");
  });

  fuzz(
    "inside of what was encrypted and signed by the gateway",
    [bytes],
    (content) => {
      const header = decodeHeader(RECORDED.authResponse);
      for (const keys of [GCM_KEYS, CBC_KEYS]) {
        const [sealed = Buffer.alloc(0)] = new Sealer(keys, sameBytes).seal(
          header,
          [{ type: PAYLOAD.eap, body: content }],
          false,
        );
        holds(() =>
          new EapPeer({ username: "u", password: "p" }, sameBytes).step(
            new Opener(keys).open(sealed)?.payloads[0]?.body ?? content,
          ),
        );
        const esp = new EspSender(keys, Buffer.from("abcd"), sameBytes).seal(content);
        const inner = new EspReceiver(keys, Buffer.from("abcd")).open(esp);
        const version = (content[0] ?? 0) >> 4;
        must(
          (inner?.equals(content) ?? false) === (version === 4 || version === 6),
          "what came out is not what went in",
        );
      }
    },
    FEWER,
  );

  fuzz("as an EAP packet", [bytes], (packet) => {
    const sized = Buffer.from(packet);
    if (sized.length >= 5) {
      sized.writeUInt16BE(sized.length, 2);
      sized[0] = 1;
      sized[4] = sized.length % 2 === 0 ? 26 : 4;
    }
    holds(() => new EapPeer({ username: "u", password: "p" }, sameBytes).step(sized));
  });

  fuzz("as packets of an EAP login by certificate", [fc.array(bytes, { maxLength: 4 })], (packets) => {
    const peer = new EapPeer({ username: "u", password: null }, sameBytes);
    holds(() => {
      peer.step(Buffer.from([1, 1, 0, 6, 13, 0x20]));
      peer.takeFlight({ kind: "flight", records: Buffer.alloc(1_500), secured: null });
      for (const [index, packet] of packets.entries()) {
        const sized = Buffer.concat([Buffer.from([1, index, 0, 0, 13]), packet]);
        sized.writeUInt16BE(sized.length, 2);
        const step = peer.step(sized);
        if (!step.isDone && step.reply === null) {
          peer.takeFlight({ kind: "flight", records: step.records, secured: null });
        }
      }
    });
  });

  let waiting = waitingInitiator();
  fuzz("as the answer to a first message", [bytes], (datagram) => {
    let isWaiting = false;
    const { initiator, talk } = waiting;
    holds(() => {
      const heard = initiator.hear(datagram);
      if (heard.kind === "answer") talk.next(heard);
      isWaiting = heard.kind === "ignored";
    });
    if (!isWaiting) waiting = waitingInitiator();
  });

  fuzz(
    "as certificates",
    [fc.array(bytes, { maxLength: 4 })],
    (certificates) => {
      let refusal: unknown;
      try {
        trustedKey(certificates, NO_ANCHORS, "gw", 0);
      } catch (error) {
        refusal = error;
      }
      must(refusal instanceof NetworkFault, "trusted without an authority, or another error");
    },
    FEWER,
  );

  fuzz(
    "as fragments in any order, some of them twice, some missing",
    [fc.uint8Array({ minLength: 1, maxLength: 6_000 }), fc.array(fc.nat(1_000), { maxLength: 40 }), fc.boolean()],
    (body, order, isGcm) => {
      const keys = isGcm ? GCM_KEYS : CBC_KEYS;
      const header = decodeHeader(RECORDED.authResponse);
      const payload = { type: PAYLOAD.vendor, body: Buffer.from(body) };
      const pieces = new Sealer(keys, sameBytes).seal(header, [payload], true);
      const opener = new Opener(keys);
      const missing = new Set(pieces.keys());
      for (const pick of order) {
        const at = pick % pieces.length;
        const isLast = missing.delete(at) && missing.size === 0;
        const opened = opener.open(pieces[at] ?? Buffer.alloc(0));
        must((opened === undefined) === !isLast, "opened too early, or not at the end");
        if (opened !== undefined) {
          must(encodeChain(opened.payloads).equals(encodeChain([payload])), "what came out is not what went in");
          return;
        }
      }
    },
    FEWER,
  );
});
