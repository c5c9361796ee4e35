/** TLS within an EAP login (RFC 5216, RFC 9190): takes a message of the login server and returns TLS's answer, which may be empty. */
import type { X509Certificate } from "node:crypto";
import type { SecureContext, TLSSocket } from "node:tls";
import { NetworkFault } from "../net/fault.ts";
import type { TlsFlight, TlsSecured } from "../protocols/ikev2/eap.ts";
import { afterRounds } from "../transport/after-rounds.ts";
import { openTlsWithin, type TlsWithin } from "../transport/tls-within.ts";

/**
 * TLS has said all that it has to say when nothing came of it in so many rounds of the event loop: it computes nothing elsewhere, and Node hands
 * its records on within three.
 */
const QUIET_ROUNDS = 8;
/** RFC 5216 section 2.3 and RFC 9190 section 2.3: the first half is the master session key. */
const KEY_BYTES = 128;
const MASTER_KEY_BYTES = 64;
const LABEL = "client EAP encryption";
const LABEL_13 = "EXPORTER_EAP_TLS_Key_Material";
/** EAP's number for TLS. */
const CONTEXT_13 = Buffer.from([13]);
/** Certificates of a login server's chain that are read. */
const CHAIN_LIMIT = 16;

export class EapTlsSession {
  readonly #context: SecureContext;
  #tls: TlsWithin | null = null;
  #said: Buffer[] = [];
  #secured: TlsSecured | null = null;
  #fault: Error | null = null;
  #done: ((result: TlsFlight | Error) => void) | null = null;
  #stopWaiting: () => void = () => {};

  /** @param context made of WATCHED_TLS (transport/tls-bounds.ts) */
  constructor(context: SecureContext) {
    this.#context = context;
  }

  /**
   * @param records of the login server; none at the beginning
   * @param done is called once
   */
  turn(records: Buffer, done: (result: TlsFlight | Error) => void): void {
    this.#done = done;
    if (this.#fault !== null) this.#settle();
    else if (this.#tls === null) this.#begin();
    else {
      this.#tls.receive(records);
      this.#untilQuiet();
    }
  }

  close(): void {
    this.#done = null;
    this.#stopWaiting();
    this.#tls?.close();
  }

  /** Its first flight always comes, so that is waited for. */
  #begin(): void {
    this.#tls = openTlsWithin(
      { secureContext: this.#context },
      {
        send: (records) => {
          this.#said.push(records);
          this.#untilQuiet();
        },
        secured: (socket) => this.#secure(socket),
        // The server's word that it is done, in TLS 1.3 (RFC 9190 section 2.5).
        received: () => this.#untilQuiet(),
        failed: (error) => this.#fail(error),
      },
    );
  }

  #secure(socket: TLSSocket): void {
    try {
      this.#secured = { masterSessionKey: masterKeyOf(socket), chain: chainOf(socket) };
      this.#untilQuiet();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error("TLS has no key"));
    }
  }

  #fail(error: Error): void {
    const fault = faultOf(error);
    // Once it is up its end without an alert is none.
    if (fault === null && this.#secured !== null) return;
    this.#fault ??= fault ?? new NetworkFault("handshake-failed", "The login server ended TLS", { peerAnswered: true });
    this.#settle();
  }

  #untilQuiet(): void {
    this.#stopWaiting();
    this.#stopWaiting = afterRounds(QUIET_ROUNDS, () => this.#settle());
  }

  #settle(): void {
    const done = this.#done;
    if (done === null) return;
    this.#done = null;
    this.#stopWaiting();
    const records = Buffer.concat(this.#said);
    this.#said = [];
    done(this.#fault ?? { kind: "flight", records, secured: this.#secured });
  }
}

function masterKeyOf(socket: TLSSocket): Buffer {
  if (socket.getProtocol() === "TLSv1.3") {
    return socket.exportKeyingMaterial(KEY_BYTES, LABEL_13, CONTEXT_13).subarray(0, MASTER_KEY_BYTES);
  }
  // Without a context: an empty one is another key in TLS 1.2 (Node's types want one).
  const exporter: { exportKeyingMaterial(length: number, label: string): Buffer } = socket as never;
  return exporter.exportKeyingMaterial(KEY_BYTES, LABEL).subarray(0, MASTER_KEY_BYTES);
}

function chainOf(socket: TLSSocket): readonly Buffer[] {
  const chain: Buffer[] = [];
  let certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
  while (certificate !== undefined && chain.length < CHAIN_LIMIT) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

/** Errors of our own side of TLS, and alerts. @returns null for an end without a reason */
function faultOf(error: Error): Error | null {
  if (error instanceof NetworkFault) return error;
  const code = "code" in error ? String(error.code) : "";
  if (code === "") return null;
  const alert = code.split("_ALERT_")[1]?.toLowerCase().replaceAll("_", " ");
  const more = { peerAnswered: true, cause: error };
  if (alert !== undefined && /certificate|unknown ca|access denied/.test(alert)) {
    return new NetworkFault("auth-failed", `The login server refused our certificate: ${alert}`, more);
  }
  if (alert !== undefined && /version|handshake failure|insufficient security/.test(alert)) {
    return new NetworkFault("misconfigured", `The login server and we have no TLS in common: ${alert}`, more);
  }
  if (/UNSUPPORTED_PROTOCOL|WRONG_SSL_VERSION/.test(code)) {
    return new NetworkFault("misconfigured", "The login server's TLS is older than 1.2", more);
  }
  return error;
}
