/** A device with one passkey, in software: it answers as a browser does, and lies where a case asks it to. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What a case changes of an honest answer. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly counter?: number;
  /** The person was not asked. */
  readonly unasked?: true;
  readonly userHandle?: string;
  readonly signature?: string;
  /** The device's maker vouches for it, with a certificate. */
  readonly withCertificate?: true;
}

/** WebAuthn section 6.1: user present, user verified, a new credential follows. */
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");
const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest();

export class Authenticator {
  readonly id: string = base64(randomBytes(32));
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  readonly #origin: string;
  readonly #rpId: string;
  #userHandle = "";
  #counter = 0;

  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#key = privateKey;
    // A COSE key as CBOR (RFC 9053 section 7.1): type EC2, ES256, P-256, x, y.
    const [head, middle] = [Buffer.from("a5010203262001215820", "hex"), Buffer.from("225820", "hex")];
    this.#publicKey = Buffer.concat([head, Buffer.from(x, "base64url"), middle, Buffer.from(y, "base64url")]);
    this.#origin = origin;
    this.#rpId = new URL(origin).hostname;
  }

  /** Makes the passkey. @returns what POST /passkeys takes as `credential` */
  register(asked: { readonly challenge: string; readonly user: { readonly id: string } }, lies: Lies = {}) {
    this.#userHandle = asked.user.id;
    const id = Buffer.from(this.id, "base64url");
    const length = Buffer.from([id.length >> 8, id.length & 0xff]);
    const data = Buffer.concat([this.#data(lies, ATTESTED ?? 0), Buffer.alloc(16), length, id, this.#publicKey]);
    const stated = lies.withCertificate
      ? "667061636b65646761747453746d74a363616c6726637369674100637835638141ff"
      : "646e6f6e656761747453746d74a0";
    const attestationObject = Buffer.concat([
      Buffer.from(`a363666d74${stated}68617574684461746159`, "hex"),
      Buffer.from([data.length >> 8, data.length & 0xff]),
      data,
    ]);
    const clientDataJSON = this.#clientData(asked.challenge, "webauthn.create", lies);
    return this.#credential({ clientDataJSON: base64(clientDataJSON), attestationObject: base64(attestationObject) });
  }

  /** @returns what POST /session takes as `passkey` */
  answer(challenge: string, lies: Lies = {}) {
    this.#counter += 1;
    const authenticatorData = this.#data(lies, 0);
    const clientDataJSON = this.#clientData(challenge, "webauthn.get", lies);
    const signature = sign("sha256", Buffer.concat([authenticatorData, sha256(clientDataJSON)]), this.#key);
    return this.#credential({
      clientDataJSON: base64(clientDataJSON),
      authenticatorData: base64(authenticatorData),
      signature: lies.signature ?? base64(signature),
      userHandle: lies.userHandle ?? this.#userHandle,
    });
  }

  #credential(response: Readonly<Record<string, string>>) {
    return { id: this.id, rawId: this.id, type: "public-key", response, clientExtensionResults: {} };
  }

  #clientData(challenge: string, type: string, lies: Lies): string {
    const { origin = this.#origin, crossOrigin = false } = lies;
    return JSON.stringify({ type: lies.type ?? type, challenge: lies.challenge ?? challenge, origin, crossOrigin });
  }

  #data({ rpId = this.#rpId, unasked, counter = this.#counter }: Lies, more: number): Buffer {
    const flags = (PRESENT ?? 0) | (unasked ? 0 : (VERIFIED ?? 0)) | more;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  }
}
