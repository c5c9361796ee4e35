/**
 * The initiator's side, from the first message until the tunnel stands. Pure: a generator that yields requests and is resumed with their
 * answers; who runs it has the sockets, the clock and the retransmissions.
 *
 *   IKE_SA_INIT ──cookie, other group──▶ IKE_SA_INIT …
 *      └──▶ IKE_AUTH ──pre-shared key──▶ up
 *             └──the gateway has proven itself, or will by TLS──▶ EAP … ──▶ IKE_AUTH ──▶ up
 */
import { createHash, type KeyObject } from "node:crypto";
import { NetworkFault } from "../../net/fault.ts";
import {
  AUTH_METHOD,
  hasOtherPadding,
  isSharedKeyAuth,
  type RsaPadding,
  SIGNATURE_HASHES,
  sharedKeyAuth,
  signatureAuth,
  signedOctets,
} from "./auth.ts";
import {
  DELETE_IKE_SA,
  decodeAuth,
  decodeKeyExchange,
  encodeAnySelectors,
  encodeAuth,
  encodeConfigurationRequest,
  encodeIdentity,
  encodeKeyExchange,
  type Identity,
} from "./bodies.ts";
import { type Child, readChild } from "./child.ts";
import { EapPeer, type EapStep, type Login, type TlsFlight } from "./eap.ts";
import { faultOfNotify, type Stage } from "./faults.ts";
import { FirstAnswers, wishOf } from "./first-answers.ts";
import {
  type Agreed,
  CERTIFICATE_X509,
  claimedIdentity,
  type Expected,
  gatewayOctets,
  requireGateway,
  requireLoginServer,
} from "./gateway-proof.ts";
import { type Heard, IGNORED, IkeSa, type Request } from "./ike-sa.ts";
import { createKeyShare, type KeyShare } from "./key-share.ts";
import { deriveIkeKeys } from "./keys.ts";
import {
  bodyOf,
  decodeChain,
  decodeHeader,
  EXCHANGE,
  encodeMessage,
  HEADER_BYTES,
  IkeFormatError,
  type NewPayload,
  PAYLOAD,
  type Payload,
  requiredBody,
} from "./message.ts";
import { decodeAnnouncements, decodeHashes, isError, NOTIFY, notifiesOf, notify } from "./notify.ts";
import { chosenIkeSuite, encodeChildOffer, encodeIkeOffer, FIRST_GROUP, isOfferedGroup } from "./proposals.ts";
import type { Anchors } from "./trust.ts";

export interface InitiatorSettings {
  /** Ours, sent to the gateway; asked for once it has answered. */
  readonly identity: () => Identity;
  /** The gateway's, asked for by name; null: it sends the one it has. */
  readonly wantedIdentity: Identity | null;
  /** What its certificate must be for. */
  readonly gateway: string;
  /** With a login EAP, else our certificate, else the pre-shared key. The certificate of EAP-TLS is known to TLS only. */
  readonly login: Login | null;
  readonly certificate: OwnCertificate | null;
  readonly sharedKey: string | null;
  readonly anchors: () => Anchors;
  /** Address and port that the first message goes to, for NAT detection. */
  readonly remote: { readonly address: Buffer; readonly port: number };
}

/** What we prove ourselves by. */
export interface OwnCertificate {
  readonly key: KeyObject;
  /** DER, ours first. */
  readonly chain: readonly Buffer[];
  /** Of an RSA key, where the gateway does not say which it takes. */
  readonly padding: RsaPadding;
}

export interface InitiatorDeps {
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  readonly wallNowMs: () => number;
}

export type Answer = Extract<Heard, { kind: "answer" }>;
/** TLS within the login is to answer these records; at its beginning there are none. */
export interface TlsTurn {
  readonly stage: "tls";
  readonly records: Buffer;
}

/** A request is answered by the gateway, a turn of TLS by its flight. */
export type Talk<Result> = Generator<Request | TlsTurn, Result, Answer | TlsFlight>;

const SPI_BYTES = 8;
const NONCE_BYTES = 32;
/** RFC 7296 section 2.10. */
const NONCE_RANGE = { least: 16, most: 256 } as const;
/** A cookie, a group, and a second cookie for a group's sake; more is a gateway that does not want to talk. */
const INIT_LIMIT = 5;
/** MSCHAPv2 takes four; TLS takes six, and one more for each piece of a flight. */
const EAP_LIMIT = 16;
const EAP_TLS_LIMIT = 96;

export class Initiator {
  readonly #settings: InitiatorSettings;
  readonly #deps: InitiatorDeps;
  readonly #spi: Buffer;
  readonly #firstAnswers = new FirstAnswers();
  #identity: Buffer = Buffer.alloc(0);
  #sa: IkeSa | undefined;
  #mayBeRemembered = false;
  /** Between the first message of a login and the last. */
  #isLoggingIn = false;
  #mayTakeOtherPadding = false;

  constructor(settings: InitiatorSettings, deps: InitiatorDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#spi = this.#random(SPI_BYTES);
  }

  /** The gateway has refused our signature, and may take one of the other padding. */
  get mayTakeOtherPadding(): boolean {
    return this.#mayTakeOtherPadding;
  }

  /** @throws NetworkFault */
  *open(): Talk<Child> {
    try {
      return yield* this.#open();
    } catch (error) {
      if (!(error instanceof IkeFormatError)) throw error;
      throw new NetworkFault("protocol-error", `The gateway's message cannot be read: ${error.message}`);
    }
  }

  /**
   * What ends the IKE SA where the gateway may have one; it waits for an answer like every request. In the middle of a login strongSwan
   * answers a Delete and keeps its half of the login until its own time-out, so there the login is ended instead.
   */
  goodbye(): Request | undefined {
    if (this.#sa === undefined || !this.#mayBeRemembered) return undefined;
    this.#mayBeRemembered = false;
    if (this.#isLoggingIn) return this.#sa.request(EXCHANGE.auth, "goodbye", [notify(NOTIFY.authenticationFailed)]);
    return this.#sa.request(EXCHANGE.informational, "goodbye", [{ type: PAYLOAD.delete, body: DELETE_IKE_SA }]);
  }

  /** @throws NetworkFault for what is from the gateway and cannot be read */
  hear(datagram: Uint8Array): Heard {
    try {
      return this.#sa === undefined ? this.#hearInit(datagram) : this.#sa.hear(datagram);
    } catch (error) {
      if (!(error instanceof IkeFormatError)) throw error;
      throw new NetworkFault("protocol-error", `The gateway's message cannot be read: ${error.message}`);
    }
  }

  /** These bytes are not authenticated, but their sender must have seen our request: it knows the request's SPI. */
  #hearInit(datagram: Uint8Array): Heard {
    const raw = Buffer.from(datagram);
    if (raw.length < HEADER_BYTES || !raw.subarray(0, SPI_BYTES).equals(this.#spi)) return IGNORED;
    const header = decodeHeader(raw);
    if (header.majorVersion !== 2) {
      throw new NetworkFault("misconfigured", "The gateway speaks another version of IKE", {
        peer: `version ${header.majorVersion}`,
      });
    }
    const isAnswer = header.isResponse && !header.isFromInitiator && header.exchange === EXCHANGE.init;
    if (!isAnswer || header.messageId !== 0) return IGNORED;
    const payloads = decodeChain(header.firstPayload, raw.subarray(HEADER_BYTES));
    return this.#firstAnswers.isOld(payloads) ? { kind: "repeated" } : { kind: "answer", payloads, raw };
  }

  *#open(): Talk<Child> {
    const agreed = yield* this.#agree();
    this.#sa = agreed.sa;
    this.#identity = encodeIdentity(this.#settings.identity());
    const childSpi = this.#childSpi();
    const { login } = this.#settings;
    const answer = yield* login === null
      ? this.#provingKey(agreed, childSpi)
      : this.#provingLogin(agreed, childSpi, login);
    refuseErrors(answer.payloads, "child");
    const nonces = Buffer.concat([agreed.initiatorNonce, agreed.responderNonce]);
    const derive = { prf: agreed.suite.prf, key: agreed.sa.keys.derive, nonces };
    return readChild(answer.payloads, childSpi, derive, this.#deps.randomBytes);
  }

  *#agree(): Talk<Agreed> {
    const initiatorNonce = this.#random(NONCE_BYTES);
    const source = this.#random(20);
    let share = createKeyShare(FIRST_GROUP, this.#deps.randomBytes);
    let cookie: Buffer | undefined;
    for (let round = 0; round < INIT_LIMIT; round++) {
      const request = this.#initRequest(share, initiatorNonce, source, cookie);
      this.#firstAnswers.sends(share.group);
      const answer = yield* answerTo({ stage: "init", datagrams: [request] });
      const wish = wishOf(answer.payloads);
      if (wish === undefined) {
        refuseErrors(answer.payloads, "init");
        return this.#agreed(answer, request, share, initiatorNonce);
      }
      if (wish.kind === "cookie") cookie = wish.cookie;
      else {
        const { group } = wish;
        if (!isOfferedGroup(group) || group === share.group) throw faultOfNotify(wish.notify, "init");
        share = createKeyShare(group, this.#deps.randomBytes);
      }
      this.#firstAnswers.grant(wish);
    }
    throw goesOnAsking();
  }

  #initRequest(share: KeyShare, nonce: Buffer, source: Buffer, cookie: Buffer | undefined): Buffer {
    const { address, port } = this.#settings.remote;
    const noSpi = Buffer.alloc(SPI_BYTES);
    const portBytes = Buffer.from([port >> 8, port & 0xff]);
    const destination = createHash("sha1").update(this.#spi).update(noSpi).update(address).update(portBytes).digest();
    return encodeMessage(
      {
        initiatorSpi: this.#spi,
        responderSpi: noSpi,
        exchange: EXCHANGE.init,
        messageId: 0,
        isFromInitiator: true,
        isResponse: false,
      },
      [
        ...(cookie === undefined ? [] : [notify(NOTIFY.cookie, cookie)]),
        { type: PAYLOAD.sa, body: encodeIkeOffer() },
        { type: PAYLOAD.ke, body: encodeKeyExchange({ group: share.group, value: share.publicValue }) },
        { type: PAYLOAD.nonce, body: nonce },
        // No hash of our address on purpose: it says that we are behind NAT, so ESP comes in UDP (section 2.23).
        notify(NOTIFY.natDetectionSource, source),
        notify(NOTIFY.natDetectionDestination, destination),
        notify(NOTIFY.fragmentationSupported),
        notify(NOTIFY.signatureHashAlgorithms, SIGNATURE_HASHES),
      ],
    );
  }

  #agreed({ payloads, raw }: Answer, request: Buffer, share: KeyShare, initiatorNonce: Buffer): Agreed {
    const { responderSpi } = decodeHeader(raw);
    const suite = chosenIkeSuite(requiredBody(payloads, PAYLOAD.sa, "algorithms"));
    const { group, value } = decodeKeyExchange(requiredBody(payloads, PAYLOAD.ke, "key exchange"));
    const responderNonce = requiredBody(payloads, PAYLOAD.nonce, "nonce");
    if (group !== share.group || suite.group !== share.group)
      throw new IkeFormatError("a key exchange of another group");
    if (responderNonce.length < NONCE_RANGE.least || responderNonce.length > NONCE_RANGE.most) {
      throw new IkeFormatError("a nonce of a wrong length");
    }
    if (responderSpi.every((byte) => byte === 0)) throw new IkeFormatError("no SPI");
    const spis = { initiatorSpi: this.#spi, responderSpi };
    const keys = deriveIkeKeys(suite, { sharedSecret: share.agree(value), initiatorNonce, responderNonce, ...spis });
    const notifies = notifiesOf(payloads);
    const mayFragment = notifies.some(({ type }) => type === NOTIFY.fragmentationSupported);
    const dataOf = (wanted: number): Buffer | undefined => notifies.find(({ type }) => type === wanted)?.data;
    const hashes = dataOf(NOTIFY.signatureHashAlgorithms);
    const methods = dataOf(NOTIFY.supportedAuthMethods);
    const announced = methods === undefined ? [] : decodeAnnouncements(methods);
    const sa = new IkeSa(keys, spis, this.#deps.randomBytes, mayFragment);
    const taken = {
      hashes: hashes === undefined ? null : decodeHashes(hashes),
      announced: announced.length === 0 ? null : announced,
    };
    return { sa, suite, request, response: raw, initiatorNonce, responderNonce, taken };
  }

  *#provingKey(agreed: Agreed, childSpi: Buffer): Talk<Answer> {
    const { certificate, sharedKey } = this.#settings;
    const proof =
      certificate === null ? this.#proof(agreed, Buffer.from(sharedKey ?? "")) : this.#signature(agreed, certificate);
    const answer = yield* this.#auth(agreed, this.#authPayloads(childSpi, [{ type: PAYLOAD.auth, body: proof }]));
    if (bodyOf(answer.payloads, PAYLOAD.eap) !== undefined) {
      throw new NetworkFault("misconfigured", "The gateway wants a username and a password", {
        hint: "Or a username with cert and key, where it logs in by certificate (EAP-TLS)",
      });
    }
    if (bodyOf(answer.payloads, PAYLOAD.auth) === undefined) {
      const isRefused = notifiesOf(answer.payloads).some(({ type }) => type === NOTIFY.authenticationFailed);
      this.#mayTakeOtherPadding = isRefused && certificate !== null && hasOtherPadding(certificate.key, agreed.taken);
      this.#refuseLogin(answer.payloads);
    }
    requireGateway(agreed, answer.payloads, this.#expected());
    return answer;
  }

  *#provingLogin(agreed: Agreed, childSpi: Buffer, login: Login): Talk<Answer> {
    this.#isLoggingIn = true;
    const first = yield* this.#auth(agreed, this.#authPayloads(childSpi, []));
    const isProven = bodyOf(first.payloads, PAYLOAD.auth) !== undefined;
    if (!isProven) this.#refuseLogin(first.payloads);
    // Before any secret leaves: a gateway that would not prove itself (RFC 5998) gets none. TLS proves both sides, and gives no secret away.
    const isProvenByTls = !isProven && login.password === null;
    const gatewayIdentity = isProvenByTls
      ? claimedIdentity(first.payloads, this.#expected())
      : requireGateway(agreed, first.payloads, this.#expected());
    const packet = requiredBody(first.payloads, PAYLOAD.eap, "login");
    const key = yield* this.#eap(agreed, packet, login, isProven);
    const last = yield* this.#auth(agreed, [
      { type: PAYLOAD.auth, body: this.#proof(agreed, key ?? agreed.sa.keys.initiatorProof) },
    ]);
    this.#isLoggingIn = false;
    const proof = bodyOf(last.payloads, PAYLOAD.auth);
    if (proof === undefined) this.#refuseLogin(last.payloads);
    const octets = gatewayOctets(agreed, gatewayIdentity);
    const auth = decodeAuth(proof ?? requiredBody(last.payloads, PAYLOAD.auth, "proof"));
    const isShared = auth.method === AUTH_METHOD.sharedKey;
    if (!isShared || !isSharedKeyAuth(agreed.suite.prf, key ?? agreed.sa.keys.responderProof, octets, auth)) {
      throw new NetworkFault("cert-invalid", "The gateway's proof at the end of the login is wrong");
    }
    return last;
  }

  *#eap(agreed: Agreed, first: Buffer, login: Login, isGatewayProven: boolean): Talk<Buffer | null> {
    const peer = new EapPeer(login, this.#deps.randomBytes);
    const limit = login.password === null ? EAP_TLS_LIMIT : EAP_LIMIT;
    let packet = first;
    for (let round = 0; round < limit; round++) {
      const step = this.#step(peer, packet);
      if (step.isDone) return step.masterSessionKey;
      const reply = step.reply ?? (yield* this.#tls(peer, step.records, isGatewayProven));
      const payloads = yield* this.#eapRound(agreed, peer, reply);
      const next = bodyOf(payloads, PAYLOAD.eap);
      if (next === undefined) this.#refuseLogin(payloads);
      packet = next ?? requiredBody(payloads, PAYLOAD.eap, "login");
    }
    throw new NetworkFault("handshake-failed", "The gateway's login does not end");
  }

  *#tls(peer: EapPeer, records: Buffer, isGatewayProven: boolean): Talk<Buffer> {
    const flight = yield { stage: "tls", records };
    if (flight.kind !== "flight") throw new Error("a turn of TLS was answered by the gateway");
    if (flight.secured !== null) requireLoginServer(flight.secured.chain, isGatewayProven, this.#expected());
    return peer.takeFlight(flight);
  }

  #step(peer: EapPeer, packet: Buffer): EapStep {
    try {
      return peer.step(packet);
    } catch (error) {
      if (peer.isRefused) this.#mayBeRemembered = false;
      throw error;
    }
  }

  /** What it said of the password counts, also when it says nothing more. */
  *#eapRound(agreed: Agreed, peer: EapPeer, reply: Buffer): Talk<readonly Payload[]> {
    try {
      return (yield* this.#auth(agreed, [{ type: PAYLOAD.eap, body: reply }])).payloads;
    } catch (error) {
      throw peer.failure ?? error;
    }
  }

  *#auth({ sa }: Agreed, payloads: readonly NewPayload[]): Talk<Answer> {
    // From the first of these on the gateway keeps something of us.
    this.#mayBeRemembered = true;
    return yield* answerTo(sa.request(EXCHANGE.auth, "auth", payloads));
  }

  #authPayloads(childSpi: Buffer, proof: readonly NewPayload[]): readonly NewPayload[] {
    const { wantedIdentity, anchors, certificate, login } = this.#settings;
    const x509 = (data: Buffer): Buffer => Buffer.concat([Buffer.from([CERTIFICATE_X509]), data]);
    return [
      { type: PAYLOAD.idInitiator, body: this.#identity },
      ...(certificate?.chain ?? []).map((der) => ({ type: PAYLOAD.cert, body: x509(der) })),
      { type: PAYLOAD.certRequest, body: x509(Buffer.concat(anchors().keyHashes)) },
      ...(wantedIdentity === null ? [] : [{ type: PAYLOAD.idResponder, body: encodeIdentity(wantedIdentity) }]),
      ...proof,
      { type: PAYLOAD.configuration, body: encodeConfigurationRequest() },
      { type: PAYLOAD.sa, body: encodeChildOffer(childSpi) },
      { type: PAYLOAD.selectorInitiator, body: encodeAnySelectors() },
      { type: PAYLOAD.selectorResponder, body: encodeAnySelectors() },
      notify(NOTIFY.esnTfcPaddingNotSupported),
      ...(login?.password === null ? [notify(NOTIFY.eapOnlyAuthentication)] : []),
    ];
  }

  #proof(agreed: Agreed, secret: Buffer): Buffer {
    const data = sharedKeyAuth(agreed.suite.prf, secret, this.#octets(agreed));
    return encodeAuth({ method: AUTH_METHOD.sharedKey, data });
  }

  #signature(agreed: Agreed, { key, padding }: OwnCertificate): Buffer {
    const auth = signatureAuth(key, this.#octets(agreed), agreed.taken, padding);
    if (auth !== undefined) return encodeAuth(auth);
    throw new NetworkFault("misconfigured", "The gateway does not know signatures of our certificate's kind", {
      peerAnswered: true,
      hint: "It has none of RFC 7427, or not with our key's hash: use an RSA or ECDSA certificate",
    });
  }

  #octets({ suite, request, responderNonce, sa }: Agreed): Buffer {
    return signedOctets(request, responderNonce, suite.prf, sa.keys.initiatorProof, this.#identity);
  }

  /** A gateway that answers IKE_AUTH with an error has forgotten the IKE SA (RFC 7296 section 2.21.2). */
  #refuseLogin(payloads: readonly Payload[]): void {
    if (notifiesOf(payloads).some(isError)) this.#mayBeRemembered = false;
    refuseErrors(payloads, "auth");
  }

  #expected(): Expected {
    return { ...this.#settings, nowMs: this.#deps.wallNowMs() };
  }

  /** Values below 256 are reserved (RFC 4303 section 2.1). */
  #childSpi(): Buffer {
    const spi = this.#random(4);
    spi.writeUInt8(spi.readUInt8(0) | 0x40, 0);
    return spi;
  }

  #random(sizeBytes: number): Buffer {
    return Buffer.from(this.#deps.randomBytes(sizeBytes));
  }
}

function* answerTo(request: Request): Talk<Answer> {
  const answer = yield request;
  if (answer.kind !== "answer") throw new Error("a request was answered by TLS");
  return answer;
}

export function goesOnAsking(): NetworkFault {
  return new NetworkFault("handshake-failed", "The gateway goes on asking for another first message", {
    peerAnswered: true,
  });
}

function refuseErrors(payloads: readonly Payload[], stage: Stage): void {
  const error = notifiesOf(payloads).find(isError);
  if (error !== undefined) throw faultOfNotify(error, stage);
}
