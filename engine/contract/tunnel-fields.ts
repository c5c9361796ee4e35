/**
 * THE LIST of tunnel fields (docs/api-contract.md#tunnel-fields): one entry a field. The API, the document, the command line and the tunnels'
 * settings are made from it. The order is the one in which fields are read and refused, and their texts stored.
 */
import { z } from "zod";

interface FieldFacts {
  /** What the body may hold; what a protocol makes of a text is its parser's task. */
  readonly schema: z.ZodType;
  /** For the document, which adds the limit. */
  readonly about: string;
  /** Most bytes of UTF-8 (docs/api-contract.md#plans, #lengths); null: it is no text. */
  readonly maxBytes: number | null;
  /** Whether POST /check and `sonde check` take it too. */
  readonly isInCheck: boolean;
  /** It is another name of that field, understood for the kinds of wg-quick files. */
  readonly aliasOf: string | null;
  /** What a value must be, as a sentence goes on after the field's name; absent: text. */
  readonly rule?: string;
}

const text = z.string();
const port = z.int().min(1).max(65_535);
const proto = z.enum(["udp", "tcp"]);
/** Of config files and PEM, bytes. */
const LARGE = 102_400;
const own = { isInCheck: false, aliasOf: null } as const;
const inCheck = { isInCheck: true, aliasOf: null } as const;

export const TUNNEL_FIELDS = {
  url: { ...own, schema: text, about: "Share link", maxBytes: 8_192 },
  config: { ...inCheck, schema: text, about: "Text of a config file", maxBytes: LARGE },
  host: { ...inCheck, schema: text, about: "", maxBytes: 253 },
  username: { ...inCheck, schema: text, about: "", maxBytes: 256 },
  password: { ...inCheck, schema: text, about: "", maxBytes: 4_096 },
  port: { ...inCheck, schema: port, about: "", maxBytes: null, rule: "must be a whole number from 1 to 65535" },
  proto: { ...own, schema: proto, about: "", maxBytes: null, rule: "must be udp or tcp" },
  remote_id: { ...inCheck, schema: text, about: "", maxBytes: 256 },
  ip: { ...own, schema: text, about: "Literal address used instead of resolving the host", maxBytes: 64 },
  servers: {
    ...own,
    schema: z.array(z.object({ host: text, port: port.default(1_194), proto: proto.default("udp") })),
    about: "openvpn: at most 16, tried in order",
    maxBytes: null,
    rule: "must be a list of objects, each with host, and port and proto where they are not 1194 and udp",
  },
  wg: { isInCheck: false, aliasOf: "config", schema: text, about: "", maxBytes: LARGE },
  wireguard_config: { isInCheck: false, aliasOf: "config", schema: text, about: "", maxBytes: LARGE },
  wireguard_ip: { isInCheck: false, aliasOf: "ip", schema: text, about: "", maxBytes: 64 },
  group: { ...inCheck, schema: text, about: "openconnect", maxBytes: 256 },
  ca: { ...inCheck, schema: text, about: "openconnect and ikev2: PEM", maxBytes: LARGE },
  pin: { ...inCheck, schema: text, about: "openconnect: pin-sha256:…", maxBytes: 256 },
  all_peers: {
    ...own,
    schema: z.boolean(),
    about: "wireguard and amneziawg: degraded when a peer that does not decide is silent",
    maxBytes: null,
    rule: "must be true or false",
  },
  psk: { ...inCheck, schema: text, about: "ikev2", maxBytes: 4_096 },
  local_id: {
    ...inCheck,
    schema: text,
    about: "ikev2: our identity; by default the username, the certificate's subject, or our address",
    maxBytes: 256,
  },
  cert: {
    ...inCheck,
    schema: text,
    about: "ikev2: our certificate in PEM, and those between it and the gateway's authority; with username EAP-TLS",
    maxBytes: LARGE,
  },
  key: { ...inCheck, schema: text, about: "ikev2: its private key in PEM, not encrypted", maxBytes: 32_768 },
} as const satisfies Readonly<Record<string, FieldFacts>>;

type Facts = typeof TUNNEL_FIELDS;
/** Names that a body may use, aliases included. */
export type TunnelFieldName = keyof Facts;
/** Names without aliases. */
export type OwnFieldName = {
  [Name in TunnelFieldName]: Facts[Name]["aliasOf"] extends null ? Name : never;
}[TunnelFieldName];
/** Names that a check without a monitor takes. */
export type CheckFieldName = {
  [Name in OwnFieldName]: Facts[Name]["isInCheck"] extends true ? Name : never;
}[OwnFieldName];

type Constant<T> = T extends readonly (infer Item)[] ? readonly Readonly<Item>[] : T;

/** Fields as they are stored, other names resolved. Which of them a protocol reads is its parser's business. */
export type TunnelFields = { readonly [Name in OwnFieldName]?: Constant<z.output<Facts[Name]["schema"]>> };

export const TUNNEL_FIELD_NAMES = Object.keys(TUNNEL_FIELDS) as readonly TunnelFieldName[];

/** In the order in which they are stored. */
export const OWN_FIELD_NAMES = TUNNEL_FIELD_NAMES.filter((name): name is OwnFieldName => !isAlias(name));

export const CHECK_FIELD_NAMES = OWN_FIELD_NAMES.filter(
  (name): name is CheckFieldName => TUNNEL_FIELDS[name].isInCheck,
);

function isAlias(name: TunnelFieldName): boolean {
  return TUNNEL_FIELDS[name].aliasOf !== null;
}

/** Of a value that a body must not hold: the contract's words (docs/api-contract.md#conventions), and what helps. */
export function fieldRefusal(name: TunnelFieldName): string {
  const { rule }: FieldFacts = TUNNEL_FIELDS[name];
  return `Missing or invalid ${name}${rule === undefined ? "" : `: ${name} ${rule}.`}`;
}
