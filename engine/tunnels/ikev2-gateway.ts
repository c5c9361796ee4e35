/** What an IKEv2 configuration asks for, made ready once for all of a monitor's checks, and one check of it. */
import { constants, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { TunnelConfigError, type TunnelFields } from "../contract/tunnel.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { NetworkFault } from "../net/fault.ts";
import { endpointOfFields } from "../protocols/endpoint.ts";
import type { RsaPadding } from "../protocols/ikev2/auth.ts";
import { IDENTITY, type Identity, type Selector } from "../protocols/ikev2/bodies.ts";
import { isReached } from "../protocols/ikev2/child.ts";
import type { Login } from "../protocols/ikev2/eap.ts";
import { isDistinguishedName, plainIdentity, readIdentity } from "../protocols/ikev2/identity.ts";
import type { OwnCertificate } from "../protocols/ikev2/initiator.ts";
import { type GivenCertificate, openKey, requireOwnCertificate } from "../protocols/ikev2/own-certificate.ts";
import { type Anchors, createAnchors, sameName } from "../protocols/ikev2/trust.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import { writePem } from "../protocols/keys/pem.ts";
import { requirePrivateKey } from "../protocols/private-key.ts";
import { onePerFamily } from "../transport/one-per-family.ts";
import { WATCHED_TLS } from "../transport/tls-bounds.ts";
import type { Address } from "../transport/transport.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { openForeignKey } from "./foreign-key.ts";
import { IKE_PORT, NAT_PORT } from "./ikev2-attempt.ts";
import { Ikev2Tunnel } from "./ikev2-tunnel.ts";
import { withOwnAge } from "./own-certificate-age.ts";
import { withUnasked } from "./unasked-addresses.ts";

/** Of one configuration. */
export interface PreparedGateway {
  readonly host: string;
  readonly port: number;
  /** Dialled instead of resolving the host; null: the host is resolved. */
  readonly ip: string | null;
  readonly login: Login | null;
  readonly sharedKey: string | null;
  readonly certificate: ClientCertificate | null;
  readonly identity: Identity | null;
  readonly wantedIdentity: Identity | null;
  /** What the gateway's certificate must be for. */
  readonly gateway: string;
  /** Those of `ca`, and then no others; null: the public ones. */
  readonly anchors: Anchors | null;
}

/** @throws TunnelConfigError */
export function prepareGateway(fields: TunnelFields): PreparedGateway {
  const { host, port } = endpointOfFields(fields, fields.host ?? "", IKE_PORT);
  const { username, password, psk, ip, ca, cert, key } = fields;
  const own = cert === undefined || key === undefined ? null : requireOwnCertificate(cert, key);
  const login = username === undefined ? null : { username, password: own === null ? (password ?? "") : null };
  // libreswan's way of writing names, `@gw.example`.
  const remoteId = fields.remote_id?.trim().replace(/^@/, "") || undefined;
  return {
    host,
    port,
    ip: ip ?? null,
    login,
    sharedKey: psk ?? (login === null ? (password ?? null) : null),
    certificate: own === null ? null : new ClientCertificate(own),
    identity: ownIdentity(fields, own),
    wantedIdentity: remoteId === undefined || remoteId.includes("=") ? null : plainIdentity(remoteId),
    gateway: remoteId ?? host,
    anchors: ca === undefined ? null : createAnchors([ca]),
  };
}

/** null: the address that we send from. */
function ownIdentity({ local_id = "", username }: TunnelFields, certificate: GivenCertificate | null): Identity | null {
  const subject = certificate === null ? null : { type: IDENTITY.distinguishedName, data: certificate.subject };
  if (isDistinguishedName(local_id)) return subject;
  const written = readIdentity(local_id);
  if (written !== undefined || username === undefined) return written ?? subject;
  const isSubject = certificate !== null && sameName(certificate.subjectText, username);
  return isSubject ? subject : plainIdentity(username);
}

/** Of one configuration: its key is opened once. */
class ClientCertificate {
  readonly #given: GivenCertificate;
  #key: KeyObject | null;
  #tls: SecureContext | null = null;
  /** Most gateways take it; one that does not is remembered. */
  #padding: RsaPadding = "pkcs1";

  constructor(certificate: GivenCertificate) {
    this.#given = certificate;
    this.#key = certificate.key;
  }

  /** @throws NetworkFault see openForeignKey */
  async open(context: ProbeContext): Promise<OwnCertificate> {
    this.#key ??= await this.#openKey(context);
    return { key: this.#key, chain: this.#given.chain, padding: this.#padding };
  }

  get own(): Buffer | null {
    return this.#given.chain[0] ?? null;
  }

  remember(padding: RsaPadding): void {
    this.#padding = padding;
  }

  /** For EAP-TLS, whose servers trust.ts judges afterwards. @throws NetworkFault see openForeignKey */
  async openTls(context: ProbeContext): Promise<SecureContext> {
    const { key, chain } = await this.open(context);
    this.#tls ??= secureContextOf(key, chain);
    return this.#tls;
  }

  async #openKey(context: ProbeContext): Promise<KeyObject> {
    const { keyPem, chain } = this.#given;
    const opened = await openForeignKey({ kind: "key", pem: keyPem }, "key", context);
    const key = ownKey(requirePrivateKey(opened.keyPem, "key").pem);
    const [own] = chain;
    if (own !== undefined && new X509Certificate(own).checkPrivateKey(key)) return key;
    throw new NetworkFault("misconfigured", "Invalid VPN configuration: cert and key do not belong together");
  }
}

/** @throws NetworkFault */
function secureContextOf(key: KeyObject, chain: readonly Buffer[]): SecureContext {
  try {
    return createSecureContext({
      ...WATCHED_TLS,
      // strongSwan's TLS 1.2 does not know RFC 5746. What that is against, a new handshake within TLS before the peer's first words, cannot be here.
      secureOptions: WATCHED_TLS.secureOptions | constants.SSL_OP_LEGACY_SERVER_CONNECT,
      // With undefined Node would load every public authority, to no use.
      ca: [],
      minVersion: "TLSv1.2",
      key: key.export({ type: "pkcs8", format: "pem" }),
      cert: chain.map((der) => writePem("CERTIFICATE", der)).join(""),
    });
  } catch (error) {
    const words = "Invalid VPN configuration: cert and key are too weak for TLS, or of a kind that it does not know";
    throw new NetworkFault("misconfigured", words, { cause: error });
  }
}

/** @throws NetworkFault */
function ownKey(pem: string): KeyObject {
  try {
    return openKey(pem);
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    throw new NetworkFault("misconfigured", `Invalid VPN configuration: ${error.message}`, { cause: error });
  }
}

export async function checkGateway(prepared: PreparedGateway, context: ProbeContext): Promise<Outcome> {
  const isTls = prepared.login?.password === null;
  const certificate = isTls ? null : ((await prepared.certificate?.open(context)) ?? null);
  const tls = isTls ? ((await prepared.certificate?.openTls(context)) ?? null) : null;
  context.phase("resolve");
  const resolved = await dialable(prepared, context);
  const servers = onePerFamily(resolved);
  const { login, sharedKey, wantedIdentity, gateway } = prepared;
  const anchors = (): Anchors => prepared.anchors ?? publicAnchors(context.transport.extraCaPem);
  let tunnel: Ikev2Tunnel | undefined;
  return checkTunnel(
    {
      create: (withinMs) => {
        const settings = { login, certificate, sharedKey, wantedIdentity, gateway, anchors };
        const { identity, port } = prepared;
        const onPadding = (padding: RsaPadding): void => prepared.certificate?.remember(padding);
        tunnel = new Ikev2Tunnel({ settings, tls, identity, servers, port, withinMs, onPadding }, context);
        return tunnel;
      },
      targets: (info) => targetsThrough(tunnel?.child?.reaches ?? [], info.dns, context.transport.tunnelTargets),
      tries: 1,
      stuckHint: "Look at forwarding, NAT and firewalls behind the gateway, and whether ESP in UDP passes on port 4500",
      deadlineAtMs: context.deadlineAtMs,
      tellsAddress: true,
    },
    context,
  ).catch((error: unknown) => {
    const aged = withOwnAge(error, prepared.certificate?.own ?? null, context.wallNowMs());
    throw withUnasked(aged, { resolved, asked: servers }, context);
  });
}

/** Addresses that are allowed for all ports that will be dialled. */
async function dialable({ host, ip, port }: PreparedGateway, context: ProbeContext): Promise<readonly Address[]> {
  const { transport } = context;
  const addresses = await transport.resolve(ip ?? host, port, "both", context);
  const withBoth = port === IKE_PORT ? await transport.resolve(ip ?? host, NAT_PORT, "both", context) : addresses;
  return withBoth.filter((each) => addresses.some((other) => other.ip === each.ip));
}

/** What is to be asked and may pass; when the gateway lets none of it through, a host of the networks that it does. */
function targetsThrough(
  reaches: readonly Selector[],
  dns: readonly string[],
  operators: readonly QuestionTarget[],
): readonly QuestionTarget[] {
  const wanted = targetsOf(dns, operators).filter(({ address }) => isReached({ reaches }, Buffer.from(address)));
  if (wanted.length > 0) return wanted;
  return reaches.map(({ first, last }): QuestionTarget => {
    const address = Uint8Array.from(first);
    const end = address.length - 1;
    // The first address of a network, where gateways live; of a single address itself.
    if (!first.equals(last)) address[end] = (address[end] ?? 0) | 1;
    return { kind: "icmp", address, port: 0 };
  });
}

/** Of one prober: a hundred and fifty certificates are looked through once. */
const publicAnchorsOf = new Map<string | null, Anchors>();

function publicAnchors(extraCaPem: string | null): Anchors {
  const known = publicAnchorsOf.get(extraCaPem);
  if (known !== undefined) return known;
  // The operator's own come first: authorities are named to gateways in this order, and not all of them.
  const anchors = createAnchors([...(extraCaPem === null ? [] : [extraCaPem]), ...rootCertificates]);
  publicAnchorsOf.set(extraCaPem, anchors);
  return anchors;
}
