import { describe, expect, it } from "vitest";
import { AES_128_CBC, GROUP, HMAC_SHA256_128, PRF_SHA256 } from "./algorithms.ts";
import { isSharedKeyAuth, sharedKeyAuth, signedOctets } from "./auth.ts";
import { decodeAuth, decodeKeyExchange, decodeSelectors } from "./bodies.ts";
import { readChild } from "./child.ts";
import { EspReceiver, EspSender } from "./esp.ts";
import { createKeyShare } from "./key-share.ts";
import { deriveChildKeys, deriveIkeKeys, type IkeKeys } from "./keys.ts";
import { bodyOf, decodeChain, decodeHeader, encodeMessage, HEADER_BYTES, PAYLOAD, type Payload } from "./message.ts";
import { isError, NOTIFY, notifiesOf } from "./notify.ts";
import { chosenChildSuite, decodeProposals, encodeProposals } from "./proposals.ts";
import { RECORDED } from "./recorded.suite.ts";
import { Opener, Sealer } from "./sealed.ts";

const suite = { encryption: AES_128_CBC, integrity: HMAC_SHA256_128, prf: PRF_SHA256, group: GROUP.x25519 };

function chainOf(message: Buffer): readonly Payload[] {
  return decodeChain(decodeHeader(message).firstPayload, message.subarray(HEADER_BYTES));
}

function body(payloads: readonly Payload[], type: number): Buffer {
  return bodyOf(payloads, type) ?? expect.fail(`no payload ${type}`);
}

function nonceOf(message: Buffer): Buffer {
  return body(chainOf(message), PAYLOAD.nonce);
}

function keysOf(): IkeKeys {
  const { initiatorSpi, responderSpi } = decodeHeader(RECORDED.initResponse);
  const share = createKeyShare(GROUP.x25519, () => RECORDED.privateValue);
  const { value } = decodeKeyExchange(body(chainOf(RECORDED.initResponse), PAYLOAD.ke));
  return deriveIkeKeys(suite, {
    sharedSecret: share.agree(value),
    initiatorNonce: nonceOf(RECORDED.initRequest),
    responderNonce: nonceOf(RECORDED.initResponse),
    initiatorSpi,
    responderSpi,
  });
}

describe("an exchange with strongSwan, recorded", () => {
  it("begins with messages that are encoded as they were", () => {
    for (const message of [RECORDED.initRequest, RECORDED.initResponse]) {
      expect(encodeMessage(decodeHeader(message), chainOf(message)).equals(message)).toBe(true);
      const proposals = body(chainOf(message), PAYLOAD.sa);
      expect(encodeProposals(decodeProposals(proposals)).equals(proposals)).toBe(true);
    }
    const types = notifiesOf(chainOf(RECORDED.initResponse))
      .filter((each) => !isError(each))
      .map(({ type }) => type);
    expect(types).toContain(NOTIFY.fragmentationSupported);
    expect(types).toContain(NOTIFY.natDetectionSource);
  });

  it("agrees on these keys", () => {
    const { derive, fromInitiator, fromResponder, initiatorProof, responderProof } = keysOf();
    const material = Buffer.concat([
      derive,
      fromInitiator.integrityKey,
      fromResponder.integrityKey,
      fromInitiator.key,
      fromResponder.key,
      initiatorProof,
      responderProof,
    ]);
    expect(material.toString("hex")).toBe(RECORDED.keyMaterial.toString("hex"));
  });

  it("goes on encrypted, both ways", () => {
    const keys = keysOf();
    const request = new Opener(keys.fromInitiator).open(RECORDED.authRequest);
    const response = new Opener(keys.fromResponder).open(RECORDED.authResponse);
    expect(request?.payloads).toEqual(decodeChain(PAYLOAD.idInitiator, RECORDED.authRequestInner));
    expect(response?.payloads).toEqual(decodeChain(PAYLOAD.idResponder, RECORDED.authResponseInner));
    const iv = RECORDED.authRequest.subarray(32, 48);
    const again = new Sealer(keys.fromInitiator, () => iv).seal(
      decodeHeader(RECORDED.authRequest),
      decodeChain(PAYLOAD.idInitiator, RECORDED.authRequestInner),
      true,
    );
    expect(again.map((each) => each.toString("hex"))).toEqual([RECORDED.authRequest.toString("hex")]);
  });

  it("proves the pre-shared key on both sides", () => {
    const keys = keysOf();
    const secret = Buffer.from(RECORDED.preSharedKey);
    const ours = decodeChain(PAYLOAD.idInitiator, RECORDED.authRequestInner);
    const theirs = decodeChain(PAYLOAD.idResponder, RECORDED.authResponseInner);
    const ourOctets = signedOctets(
      RECORDED.initRequest,
      nonceOf(RECORDED.initResponse),
      suite.prf,
      keys.initiatorProof,
      body(ours, PAYLOAD.idInitiator),
    );
    const theirOctets = signedOctets(
      RECORDED.initResponse,
      nonceOf(RECORDED.initRequest),
      suite.prf,
      keys.responderProof,
      body(theirs, PAYLOAD.idResponder),
    );
    expect(sharedKeyAuth(suite.prf, secret, ourOctets)).toEqual(decodeAuth(body(ours, PAYLOAD.auth)).data);
    const proof = decodeAuth(body(theirs, PAYLOAD.auth));
    expect(isSharedKeyAuth(suite.prf, secret, theirOctets, proof)).toBe(true);
    expect(isSharedKeyAuth(suite.prf, Buffer.from("psk secret 2"), theirOctets, proof)).toBe(false);
    expect(isSharedKeyAuth(suite.prf, secret, ourOctets, proof)).toBe(false);
  });

  it("makes a tunnel with this address", () => {
    const theirs = decodeChain(PAYLOAD.idResponder, RECORDED.authResponseInner);
    const nonces = Buffer.concat([nonceOf(RECORDED.initRequest), nonceOf(RECORDED.initResponse)]);
    const derive = { prf: suite.prf, key: keysOf().derive, nonces };
    const child = readChild(theirs, RECORDED.espReceived.subarray(0, 4), derive, () => Buffer.alloc(0));
    expect(child.addresses).toEqual(["10.69.0.2"]);
    expect(child.dns).toEqual(["1.1.1.1"]);
    expect(child.receiver.open(RECORDED.espReceived)?.toString("hex")).toBe(RECORDED.innerReceived.toString("hex"));
    expect(decodeSelectors(body(theirs, PAYLOAD.selectorInitiator))).toHaveLength(1);
  });

  it("carries packets in ESP, each once", () => {
    const theirs = decodeChain(PAYLOAD.idResponder, RECORDED.authResponseInner);
    const chosen = chosenChildSuite(body(theirs, PAYLOAD.sa));
    const nonces = Buffer.concat([nonceOf(RECORDED.initRequest), nonceOf(RECORDED.initResponse)]);
    const [outward, inward] = deriveChildKeys(suite.prf, keysOf().derive, nonces, chosen);
    const material = Buffer.concat([outward.key, outward.salt, inward.key, inward.salt]);
    expect(material.toString("hex")).toBe(RECORDED.childKeyMaterial.toString("hex"));
    const sender = new EspSender(outward, chosen.spi, () => Buffer.alloc(0));
    const sent = sender.seal(RECORDED.innerSent);
    // strongSwan counted its IV from 0 where ours counts with the packets.
    expect(sent.subarray(0, 8).equals(RECORDED.espSent.subarray(0, 8))).toBe(true);
    expect(sent).toHaveLength(RECORDED.espSent.length);
    const mirror = new EspReceiver(outward, chosen.spi);
    expect(mirror.open(RECORDED.espSent)?.equals(RECORDED.innerSent)).toBe(true);
    const receiver = new EspReceiver(inward, RECORDED.espReceived.subarray(0, 4));
    expect(receiver.open(RECORDED.espReceived)?.equals(RECORDED.innerReceived)).toBe(true);
    expect(receiver.open(RECORDED.espReceived)).toBeUndefined();
  });
});
