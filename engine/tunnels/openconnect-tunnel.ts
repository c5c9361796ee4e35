/** OpenConnect as a tunnel: TCP, TLS, a login over HTTP, and packets in frames on the same connection. */

import { isIP } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { withoutBrackets } from "../../model/url.ts";
import type { ProbeContext } from "../contract/probe.ts";
import { certificateFaultOf } from "../net/certificate-fault.ts";
import { classify } from "../net/classify.ts";
import { faultOfAbort, NetworkFault, whenAborted } from "../net/fault.ts";
import { type LoginResult, type LoginSettings, logIn } from "../protocols/openconnect/login.ts";
import type { TunnelOffer } from "../protocols/openconnect/offer.ts";
import { isPinned, pinsOf } from "../protocols/openconnect/pin.ts";
import { closedBeforeTls, unexpected } from "../protocols/openconnect/refusals.ts";
import type { Address, DialContext } from "../transport/transport.ts";
import { OpenconnectLink } from "./openconnect-link.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** How long a server has to take the connection and to finish TLS, ms. */
const FIRST_ANSWER_MS = 5_000;
/** And for each answer of the login: servers delay the no to a wrong password by seconds. */
const ANSWER_MS = 8_000;
/** How long a farewell may take, ms. */
const GOODBYE_MS = 250;
/** From one server to the next: one that shares the load, one that has the user. */
const SERVER_LIMIT = 4;

export interface OpenconnectEndpoint {
  readonly place: LoginLocation;
  /** The server's, judged by the guard; tried in their order. */
  readonly addresses: readonly Address[];
  readonly login: Pick<LoginSettings, "username" | "password" | "group">;
  readonly trust: Trust;
  /** How long the tunnel may take to come up, ms. */
  readonly withinMs: number;
}

export interface LoginLocation {
  /** What the certificate must be for. */
  readonly host: string;
  readonly port: number;
  /** Path and query of the login. */
  readonly target: string;
}

export interface Trust {
  /** Authorities instead of the public ones, PEM; null: the public ones. */
  readonly ca: string | null;
  /** Of the server's key, and then nothing else counts; null: its chain and name count. */
  readonly pin: string | null;
}

export class OpenconnectTunnel implements Tunnel {
  readonly #end: OpenconnectEndpoint;
  readonly #context: ProbeContext;
  /** Ends what this tunnel has opened: with the check, or before. */
  readonly #ends = new AbortController();
  #link: OpenconnectLink | null = null;
  #offer: TunnelOffer | null = null;
  #startedAtMs = 0;
  #securedAtMs = 0;
  #cancelLimit = (): void => {};

  constructor(end: OpenconnectEndpoint, context: ProbeContext) {
    this.#end = end;
    this.#context = context;
  }

  /** What the server has given, once it is up. */
  get offer(): TunnelOffer | null {
    return this.#offer;
  }

  /** Why the server has ended it; null while it has not. */
  get ending(): string | null {
    return this.#link?.ending ?? null;
  }

  /** Why this client has ended it; null while it has not. */
  get fault(): Error | null {
    return this.#link?.fault ?? null;
  }

  async open(): Promise<TunnelInfo> {
    whenAborted(this.#context, (fault) => this.#ends.abort(fault));
    this.#startedAtMs = this.#context.now();
    let { place, addresses } = this.#end;
    for (let servers = 1; servers <= SERVER_LIMIT; servers++) {
      const end = await this.#logIn(place, addresses);
      if (end.kind === "up") return this.#infoOf(end.offer);
      this.#link?.drop();
      this.#link = null;
      place = locationOf(end.url);
      this.#context.phase("resolve");
      addresses = await this.#context.transport.resolve(place.host, place.port, "both", this.#context);
    }
    throw unexpected("The server redirects to another again and again");
  }

  send(ipPacket: Uint8Array): void {
    this.#link?.send(ipPacket);
  }

  onPacket(listener: (packet: Uint8Array, atMs: number) => void): void {
    this.#link?.onPacket(listener);
  }

  /** A server that gets no goodbye keeps the session, and one of the few that a user may have, until its own timeout. */
  async close(): Promise<void> {
    this.#cancelLimit();
    const link = this.#link;
    link?.onPacket(null);
    if (link !== null && this.#offer !== null && !this.#ends.signal.aborted) {
      await new Promise<void>((resolve) => {
        const cancel = this.#context.transport.after(GOODBYE_MS, resolve);
        whenAborted(this.#context, () => resolve());
        link.sayGoodbye(() => {
          cancel();
          resolve();
        });
      });
    }
    this.#ends.abort(new NetworkFault("cancelled", "The tunnel is closed"));
  }

  async #logIn(place: LoginLocation, addresses: readonly Address[]): Promise<LoginResult> {
    const { username, password, group } = this.#end.login;
    const talk = logIn({ username, password, group, authority: authorityOf(place), target: place.target });
    let step = talk.next();
    while (!step.done) {
      // A server may close behind each answer.
      if (this.#link === null || this.#link.isOver) this.#link = await this.#openLink(place, addresses);
      this.#limit(ANSWER_MS, "The server does not answer the login");
      step = talk.next(await this.#link.ask(step.value));
    }
    this.#cancelLimit();
    return step.value;
  }

  async #openLink({ host, port }: LoginLocation, addresses: readonly Address[]): Promise<OpenconnectLink> {
    const context = this.#dialContext();
    context.phase("connect");
    const { ca } = this.#end.trust;
    const options: ConnectionOptions = {
      // Judged below, by chain and name or by a pin.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      ...(ca !== null && { ca }),
    };
    const secure = await this.#context.transport.connectTls(addresses, port, options, context).catch((error) => {
      throw classify(error, "handshake").verdict === "closed" ? closedBeforeTls(error) : error;
    });
    const fault = this.#distrust(secure, host);
    if (fault !== null) {
      secure.destroy();
      throw fault;
    }
    return new OpenconnectLink(secure, context.signal, () => this.#context.now());
  }

  #distrust(secure: TLSSocket, host: string): NetworkFault | null {
    const { pin } = this.#end.trust;
    const certificate = secure.getPeerX509Certificate();
    const nowMs = this.#context.wallNowMs();
    if (pin === null) return secure.authorized ? null : certificateFaultOf(secure, host, certificate, nowMs);
    if (certificate !== undefined && isPinned(pin, certificate)) return null;
    return new NetworkFault("cert-invalid", "The server's key is not the one that was pinned", {
      ...(certificate !== undefined && { peer: pinsOf(certificate)[0] ?? "" }),
    });
  }

  #dialContext(): DialContext {
    const context = this.#context;
    return {
      signal: this.#ends.signal,
      phase: (name) => {
        context.phase(name);
        if (name === "connect") this.#limit(FIRST_ANSWER_MS, "No connection to the server");
        if (name !== "handshake") return;
        this.#securedAtMs = context.now();
        this.#limit(FIRST_ANSWER_MS, "The server takes the connection and does not answer the TLS handshake");
      },
      tried: (address) => context.tried(address),
      answered: () => context.answered(),
    };
  }

  /** From now on; what comes after replaces it. */
  #limit(stageMs: number, words: string): void {
    this.#cancelLimit();
    const leftMs = this.#end.withinMs - (this.#context.now() - this.#startedAtMs);
    const waitMs = Math.max(1, Math.min(stageMs, leftMs));
    this.#cancelLimit = this.#context.transport.after(waitMs, () => {
      const seconds = Math.round(waitMs / 100) / 10;
      this.#ends.abort(new NetworkFault("timeout", `${words} (${seconds} s)`));
    });
  }

  #infoOf(offer: TunnelOffer): TunnelInfo {
    if (this.#ends.signal.aborted) throw faultOfAbort(this.#ends.signal);
    this.#offer = offer;
    const nowMs = this.#context.now();
    const { addresses, dns, mtuBytes } = offer;
    return {
      addresses,
      dns,
      mtuBytes,
      connectMs: nowMs - this.#startedAtMs,
      handshakeMs: nowMs - this.#securedAtMs,
    };
  }
}

function authorityOf({ host, port }: LoginLocation): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}

/** @param url of https */
function locationOf(url: URL): LoginLocation {
  return {
    host: withoutBrackets(url.hostname),
    port: url.port === "" ? 443 : Number(url.port),
    target: `${url.pathname}${url.search}`,
  };
}
