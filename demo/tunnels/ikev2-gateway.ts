/** A gateway for the demo and tests: the other side of engine/protocols/ikev2/initiator.ts with the manners that a test asks for. Pure but for its keys. */
import { randomBytes, sign, X509Certificate } from "node:crypto";
import { AES_256_GCM, GROUP, NO_ESN, PRF_SHA256, TRANSFORM } from "../../engine/protocols/ikev2/algorithms.ts";
import {
  AUTH_METHOD,
  isSharedKeyAuth,
  isSignature,
  sharedKeyAuth,
  signedOctets,
} from "../../engine/protocols/ikev2/auth.ts";
import {
  type Auth,
  decodeAuth,
  decodeKeyExchange,
  encodeAuth,
  encodeIdentity,
  encodeKeyExchange,
  type Identity,
} from "../../engine/protocols/ikev2/bodies.ts";
import { EapTlsFraming } from "../../engine/protocols/ikev2/eap-tls.ts";
import { EspReceiver, EspSender } from "../../engine/protocols/ikev2/esp.ts";
import { createKeyShare } from "../../engine/protocols/ikev2/key-share.ts";
import { deriveChildKeys, deriveIkeKeys, type IkeKeys } from "../../engine/protocols/ikev2/keys.ts";
import {
  bodyOf,
  decodeChain,
  decodeHeader,
  EXCHANGE,
  encodeMessage,
  HEADER_BYTES,
  type Header,
  type NewPayload,
  PAYLOAD,
  type Payload,
} from "../../engine/protocols/ikev2/message.ts";
import { proveMschap } from "../../engine/protocols/ikev2/mschap.ts";
import { NOTIFY, notifiesOf, notify } from "../../engine/protocols/ikev2/notify.ts";
import {
  decodeProposals,
  encodeProposals,
  type IkeSuite,
  PROTOCOL,
  type Protection,
  type Transform,
} from "../../engine/protocols/ikev2/proposals.ts";
import { Opener, Sealer } from "../../engine/protocols/ikev2/sealed.ts";
import type { MadeCertificate } from "../certificates.ts";
import { list } from "./kept.ts";

/** TLS of a login server: it may answer later. */
export interface LoginServer {
  /** @param done gets its flight, which may be empty, and the key once it is up; null: it refuses the client */
  turn(records: Buffer, done: (answer: ServerFlight | null) => void): void;
}

export interface ServerFlight {
  readonly records: Buffer;
  readonly masterSessionKey: Buffer | null;
}

export interface GatewayBehavior {
  readonly sharedKey?: string;
  readonly certificate?: MadeCertificate;
  readonly login?: { readonly username: string; readonly password: string };
  /** A login by EAP-TLS instead of a password. */
  readonly loginServer?: () => LoginServer;
  /** Bytes of TLS in each of its packets. */
  readonly pieceBytes?: number;
  readonly suite?: IkeSuite;
  readonly esp?: Protection;
  readonly asksForCookie?: boolean;
  /** Makes its answers so long that they come in fragments. */
  readonly isVerbose?: boolean;
  readonly identity?: string;
  /** The one client that it knows. */
  readonly client?: Identity;
  /** The client's certificate, which must come and prove it instead of the shared key. */
  readonly clientCertificate?: MadeCertificate;
  /** Hash algorithms of signatures that it takes. */
  readonly signatureHashes?: readonly number[];
  /** The beginning of the one named signature that it takes, as hexadecimal text. */
  readonly onlySignature?: string;
  /** Named signatures that it announces (RFC 9593), as hexadecimal text. */
  readonly announces?: readonly string[];
  /** Instead of a tunnel. */
  readonly childError?: number;
  /** Instead of a proof. */
  readonly hidesProof?: boolean;
  /** Bytes of its proof that are wrong. */
  readonly breaksProof?: boolean;
  /** Refuses the password by EAP-Failure. */
  readonly forgetsUser?: boolean;
}

export const ASSIGNED = "10.69.0.2";
const CHALLENGE = Buffer.alloc(16, 0x33);
const COOKIE = Buffer.from("a cookie");
const SPI = Buffer.from("gateway!");
const CHILD_SPI = Buffer.from("esp!");
const NONCE = Buffer.alloc(32, 0x44);
/** Flags of EAP-TLS. */
const START = Buffer.from([0x20]);

interface Known {
  readonly keys: IkeKeys;
  readonly request: Buffer;
  readonly response: Buffer;
  readonly initiatorNonce: Buffer;
  readonly sealer: Sealer;
  readonly opener: Opener;
}

interface TlsLogin {
  readonly server: LoginServer;
  readonly framing: EapTlsFraming;
  key: Buffer | null;
}

export class Gateway {
  readonly #behavior: GatewayBehavior;
  #known: Known | undefined;
  #first: readonly Payload[] = [];
  #proof: ReturnType<typeof proveMschap> | undefined;
  #tls: TlsLogin | undefined;
  #eapId = 1;
  #replies = new Map<number, readonly Buffer[]>();
  /** Gets what is said later than the request came. */
  onLate: (replies: readonly Buffer[]) => void = () => {};
  receiver: EspReceiver | undefined;
  sender: EspSender | undefined;
  /** Names of what it was asked, in order; a repetition is not one. */
  readonly heard: string[] = [];

  constructor(manners: GatewayBehavior) {
    this.#behavior = manners;
  }

  answer(datagram: Buffer): readonly Buffer[] {
    const header = decodeHeader(datagram);
    if (header.isResponse) return [];
    if (header.exchange === EXCHANGE.init) return [this.#init(datagram, header)];
    const known = this.#known;
    const said = this.#replies.get(header.messageId);
    if (known === undefined || said !== undefined) return said ?? [];
    const opened = known.opener.open(datagram);
    if (opened === undefined) return [];
    const say = (payloads: readonly NewPayload[]): readonly Buffer[] => {
      const reply = known.sealer.seal({ ...header, isResponse: true, isFromInitiator: false }, payloads, true);
      this.#replies.set(header.messageId, reply);
      return reply;
    };
    this.#replies.set(header.messageId, []);
    const eap = bodyOf(opened.payloads, PAYLOAD.eap);
    if (eap !== undefined && this.#behavior.loginServer !== undefined) return this.#sayByTls(eap, say);
    return say(this.#answer(header, opened.payloads));
  }

  #sayByTls(eap: Buffer, say: (payloads: readonly NewPayload[]) => readonly Buffer[]): readonly Buffer[] {
    let replies: readonly Buffer[] = [];
    let isLate = false;
    this.#loginByTls(eap, (packet) => {
      replies = say([{ type: PAYLOAD.eap, body: packet }]);
      if (isLate) this.onLate(replies);
    });
    isLate = true;
    return replies;
  }

  /** Identity, start, and flights in pieces until TLS is up and has nothing more to say. */
  #loginByTls(eap: Buffer, say: (packet: Buffer) => void): void {
    const type = eap.readUInt8(4);
    const request = (data: Buffer): void => say(eapPacket(1, ++this.#eapId, Buffer.concat([Buffer.from([13]), data])));
    const end = (isGood: boolean): void => say(eapPacket(isGood ? 3 : 4, this.#eapId, Buffer.alloc(0)));
    if (type === 1) {
      this.#tls = this.#startTls();
      request(START);
    } else if (type !== 13 || this.#tls === undefined) end(false);
    else this.#turnTls(this.#tls, eap.subarray(5), request, end);
  }

  #startTls(): TlsLogin | undefined {
    const server = this.#behavior.loginServer?.();
    if (server === undefined) return undefined;
    const framing = new EapTlsFraming(this.#behavior.pieceBytes);
    framing.receive(START);
    return { server, framing, key: null };
  }

  #turnTls(tls: TlsLogin, data: Buffer, request: (data: Buffer) => void, end: (isGood: boolean) => void): void {
    const { framing, server } = tls;
    const heard = framing.receive(data);
    list(this.heard, `tls ${heard.kind}`);
    if (heard.kind === "flight") {
      server.turn(heard.records, (answer) => {
        tls.key = answer?.masterSessionKey ?? null;
        if (answer === null || (tls.key !== null && answer.records.length === 0)) end(answer !== null);
        else request(framing.send(answer.records));
      });
    } else if (heard.kind === "acknowledged" && framing.isSent && tls.key !== null) end(true);
    else request(framing.next());
  }

  get #suite(): IkeSuite {
    return this.#behavior.suite ?? { encryption: AES_256_GCM, integrity: null, prf: PRF_SHA256, group: GROUP.p256 };
  }

  #init(datagram: Buffer, header: Header): Buffer {
    if (this.#known?.request.equals(datagram) === true) return this.#known.response;
    const payloads = decodeChain(header.firstPayload, datagram.subarray(HEADER_BYTES));
    const reply = (parts: readonly NewPayload[], responderSpi = Buffer.alloc(8)): Buffer =>
      encodeMessage({ ...header, responderSpi, isResponse: true, isFromInitiator: false }, parts);
    const hasCookie = notifiesOf(payloads).some(({ type, data }) => type === NOTIFY.cookie && data.equals(COOKIE));
    if (this.#behavior.asksForCookie === true && !hasCookie) return reply([notify(NOTIFY.cookie, COOKIE)]);
    const { group, value } = decodeKeyExchange(bodyOf(payloads, PAYLOAD.ke) ?? Buffer.alloc(5));
    const suite = this.#suite;
    if (group !== suite.group) return reply([notify(NOTIFY.invalidKePayload, Buffer.from([0, suite.group]))]);
    list(this.heard, "init");
    this.#replies.clear();
    const share = createKeyShare(group, randomBytes);
    const initiatorNonce = Buffer.from(bodyOf(payloads, PAYLOAD.nonce) ?? Buffer.alloc(0));
    const { initiatorSpi } = header;
    const keys = deriveIkeKeys(suite, {
      sharedSecret: share.agree(value),
      initiatorNonce,
      responderNonce: NONCE,
      initiatorSpi,
      responderSpi: SPI,
    });
    const { encryption, integrity, prf } = suite;
    const transforms = [
      ...protectionTransforms({ encryption, integrity }),
      { type: TRANSFORM.prf, id: prf.id, keyBits: null },
      { type: TRANSFORM.group, id: group, keyBits: null },
    ];
    const response = reply(
      [
        { type: PAYLOAD.sa, body: chosen(bodyOf(payloads, PAYLOAD.sa), PROTOCOL.ike, Buffer.alloc(0), transforms) },
        { type: PAYLOAD.ke, body: encodeKeyExchange({ group, value: share.publicValue }) },
        { type: PAYLOAD.nonce, body: NONCE },
        notify(NOTIFY.fragmentationSupported),
        ...(this.#behavior.announces === undefined
          ? []
          : [notify(NOTIFY.supportedAuthMethods, Buffer.concat(this.#behavior.announces.map(announcement)))]),
        ...(this.#behavior.signatureHashes === undefined
          ? []
          : [
              notify(
                NOTIFY.signatureHashAlgorithms,
                Buffer.from(this.#behavior.signatureHashes.flatMap((hash) => [0, hash])),
              ),
            ]),
      ],
      SPI,
    );
    this.#known = {
      keys,
      request: Buffer.from(datagram),
      response,
      initiatorNonce,
      sealer: new Sealer(keys.fromResponder, randomBytes),
      opener: new Opener(keys.fromInitiator),
    };
    return response;
  }

  #answer({ exchange }: Header, payloads: readonly Payload[]): readonly NewPayload[] {
    if (exchange === EXCHANGE.informational) {
      list(this.heard, bodyOf(payloads, PAYLOAD.delete) === undefined ? "informational" : "delete");
      return [];
    }
    const eap = bodyOf(payloads, PAYLOAD.eap);
    if (eap !== undefined) return this.#login(eap);
    if (notifiesOf(payloads).some(({ type }) => type === NOTIFY.authenticationFailed)) {
      list(this.heard, "broken off");
      return [notify(NOTIFY.authenticationFailed)];
    }
    list(this.heard, "auth");
    const isFirst = bodyOf(payloads, PAYLOAD.idInitiator) !== undefined;
    if (isFirst) this.#first = payloads;
    if (isFirst && !this.#knowsClient) return [notify(NOTIFY.authenticationFailed)];
    if (isFirst && (this.#behavior.login !== undefined || this.#behavior.loginServer !== undefined))
      return this.#introduction([{ type: PAYLOAD.eap, body: eapOf(1, 1, "01") }]);
    const secret = this.#tls?.key ?? this.#proof?.masterSessionKey ?? Buffer.from(this.#behavior.sharedKey ?? "");
    const proof = decodeAuth(bodyOf(payloads, PAYLOAD.auth) ?? Buffer.alloc(4));
    if (!this.#isProven(payloads, proof, secret)) return [notify(NOTIFY.authenticationFailed)];
    return isFirst
      ? this.#introduction(this.#child())
      : [{ type: PAYLOAD.auth, body: this.#sharedProof(secret) }, ...this.#child()];
  }

  #isProven(payloads: readonly Payload[], proof: Auth, secret: Buffer): boolean {
    const { clientCertificate, onlySignature } = this.#behavior;
    const octets = this.#octetsOf("initiator");
    if (onlySignature !== undefined && !proof.data.subarray(1).toString("hex").startsWith(onlySignature)) return false;
    if (clientCertificate === undefined) return isSharedKeyAuth(this.#suite.prf, secret, octets, proof);
    const { raw, publicKey } = new X509Certificate(clientCertificate.certPem);
    const own = bodyOf(payloads, PAYLOAD.cert)?.subarray(1);
    return own?.equals(raw) === true && isSignature(proof, octets, publicKey);
  }

  get #knowsClient(): boolean {
    const { client } = this.#behavior;
    return client === undefined || bodyOf(this.#first, PAYLOAD.idInitiator)?.equals(encodeIdentity(client)) === true;
  }

  /** Success is the fourth thing said: identity, challenge, success, end. */
  #login(eap: Buffer): readonly NewPayload[] {
    const { username, password } = this.#behavior.login ?? { username: "", password: "" };
    const say = (body: Buffer): readonly NewPayload[] => [{ type: PAYLOAD.eap, body }];
    const type = eap.readUInt8(4);
    if (type === 1) return say(eapOf(1, 2, `1a010a001510${CHALLENGE.toString("hex")}`));
    if (type === 3) return say(eapOf(4, 2, ""));
    list(this.heard, `eap ${type} ${eap.readUInt8(5)}`);
    if (eap.readUInt8(5) === 3) return say(eapOf(3, 3, ""));
    if (this.#behavior.forgetsUser === true || eap.readUInt8(5) === 4) return say(eapOf(4, 3, ""));
    const peer = eap.subarray(10, 26);
    this.#proof = proveMschap(username, password, { peer, authenticator: CHALLENGE });
    const isRight = eap.subarray(34, 58).equals(this.#proof.response);
    const words = Buffer.from(isRight ? `${this.#proof.expected} M=hello` : "E=691 R=0 C=00 V=3 M=no");
    return say(eapOf(1, 3, `1a${isRight ? "03" : "04"}0a0000${words.toString("hex")}`));
  }

  #introduction(more: readonly NewPayload[]): readonly NewPayload[] {
    const { certificate, sharedKey = "", hidesProof, isVerbose } = this.#behavior;
    const der = certificate === undefined ? undefined : new X509Certificate(certificate.certPem).raw;
    const cert = der === undefined ? [] : [{ type: PAYLOAD.cert, body: Buffer.concat([Buffer.from([4]), der]) }];
    const proof =
      certificate === undefined
        ? this.#sharedProof(Buffer.from(sharedKey))
        : this.#bent(
            encodeAuth({
              method: AUTH_METHOD.ecdsa256,
              data: sign("sha256", this.#octetsOf("responder"), { key: certificate.key, dsaEncoding: "ieee-p1363" }),
            }),
          );
    return [
      { type: PAYLOAD.idResponder, body: this.#identity },
      ...cert,
      ...(hidesProof === true ? [] : [{ type: PAYLOAD.auth, body: proof }]),
      ...(isVerbose === true ? [{ type: PAYLOAD.vendor, body: Buffer.alloc(5_000, 0x55) }] : []),
      ...more,
    ];
  }

  #sharedProof(secret: Buffer): Buffer {
    const data = sharedKeyAuth(this.#suite.prf, secret, this.#octetsOf("responder"));
    return this.#bent(encodeAuth({ method: AUTH_METHOD.sharedKey, data }));
  }

  #bent(proof: Buffer): Buffer {
    if (this.#behavior.breaksProof === true) proof.writeUInt8(proof.readUInt8(10) ^ 1, 10);
    return proof;
  }

  get #identity(): Buffer {
    return Buffer.concat([Buffer.from([2, 0, 0, 0]), Buffer.from(this.#behavior.identity ?? "gw.test")]);
  }

  #octetsOf(side: "initiator" | "responder"): Buffer {
    const known = this.#known;
    if (known === undefined) throw new Error("no keys yet");
    const { prf } = this.#suite;
    return side === "responder"
      ? signedOctets(known.response, known.initiatorNonce, prf, known.keys.responderProof, this.#identity)
      : signedOctets(
          known.request,
          NONCE,
          prf,
          known.keys.initiatorProof,
          bodyOf(this.#first, PAYLOAD.idInitiator) ?? Buffer.alloc(0),
        );
  }

  #child(): readonly NewPayload[] {
    const known = this.#known;
    if (known === undefined) throw new Error("no keys yet");
    if (this.#behavior.childError !== undefined) return [notify(this.#behavior.childError)];
    const offer = bodyOf(this.#first, PAYLOAD.sa);
    const esp = this.#behavior.esp ?? { encryption: AES_256_GCM, integrity: null };
    const nonces = Buffer.concat([known.initiatorNonce, NONCE]);
    const [inward, outward] = deriveChildKeys(this.#suite.prf, known.keys.derive, nonces, esp);
    this.receiver = new EspReceiver(inward, CHILD_SPI);
    this.sender = new EspSender(outward, decodeProposals(offer ?? Buffer.alloc(0))[0]?.spi ?? CHILD_SPI, randomBytes);
    const transforms = [...protectionTransforms(esp), { type: TRANSFORM.sequence, id: NO_ESN, keyBits: null }];
    const address = ASSIGNED.split(".").map(Number);
    const narrowed = Buffer.from([1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 255, 255, ...address, ...address]);
    const any = Buffer.from([1, 0, 0, 0, 7, 0, 0, 16, 0, 0, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255]);
    return [
      { type: PAYLOAD.configuration, body: Buffer.from([2, 0, 0, 0, 0, 1, 0, 4, ...address, 0, 3, 0, 4, 1, 1, 1, 1]) },
      { type: PAYLOAD.sa, body: chosen(offer, PROTOCOL.esp, CHILD_SPI, transforms) },
      { type: PAYLOAD.selectorInitiator, body: narrowed },
      { type: PAYLOAD.selectorResponder, body: any },
    ];
  }
}

function protectionTransforms({ encryption, integrity }: Protection): readonly Transform[] {
  const { id, keyBits } = encryption;
  return [
    { type: TRANSFORM.encryption, id, keyBits },
    ...(integrity === null ? [] : [{ type: TRANSFORM.integrity, id: integrity.id, keyBits: null }]),
  ];
}

/** One proposal with the number of that of the offer which has all of these. */
function chosen(offer: Buffer | undefined, protocol: number, spi: Buffer, transforms: readonly Transform[]): Buffer {
  const fitting = decodeProposals(offer ?? Buffer.alloc(0)).find((proposal) =>
    transforms.every((wanted) =>
      proposal.transforms.some(
        ({ type, id, keyBits }) => type === wanted.type && id === wanted.id && keyBits === wanted.keyBits,
      ),
    ),
  );
  if (fitting === undefined) throw new Error("what the test wants is not offered");
  return encodeProposals([{ number: fitting.number, protocol, spi, transforms }]);
}

/** Of RFC 9593: a named signature, of any authority. */
function announcement(identifier: string): Buffer {
  const bytes = Buffer.from(identifier, "hex");
  return Buffer.concat([Buffer.from([3 + bytes.length, AUTH_METHOD.signature, 0]), bytes]);
}

function eapPacket(code: number, identifier: number, content: Buffer): Buffer {
  const header = Buffer.from([code, identifier & 0xff, 0, 0]);
  header.writeUInt16BE(header.length + content.length, 2);
  return Buffer.concat([header, content]);
}

function eapOf(code: number, identifier: number, hex: string): Buffer {
  const content = Buffer.from(hex, "hex");
  return Buffer.concat([Buffer.from([code, identifier, 0, 4 + content.length]), content]);
}
