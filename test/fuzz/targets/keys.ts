/** Key material of configurations: PEM, DER, BER, PKCS #12, certificates, OpenVPN's key files. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { makeCertificate } from "../../../demo/certificates.ts";
import { TunnelConfigError } from "../../../engine/contract/tunnel.ts";
import { NetworkFault } from "../../../engine/net/fault.ts";
import { boundCertificates, requireCertificates } from "../../../engine/protocols/certificates.ts";
import { namesOf, readCertificate } from "../../../engine/protocols/ikev2/certificate.ts";
import { encodeDer, oidText, readDer } from "../../../engine/protocols/ikev2/der.ts";
import { openKey } from "../../../engine/protocols/ikev2/own-certificate.ts";
import { createAnchors, trustedKey } from "../../../engine/protocols/ikev2/trust.ts";
import { toDer } from "../../../engine/protocols/keys/ber.ts";
import {
  certificateOf,
  dhPublic,
  dsaPublic,
  ecPublic,
  integer,
  nested,
  octets,
  oid,
  type Pkcs12,
  pkcs12Of,
  rsaPrivate,
  rsaPublic,
  sequence,
} from "../../../engine/protocols/keys/hostile-keys.suite.ts";
import {
  boundCertificate,
  boundCrl,
  boundPrivateKey,
  boundPublicKey,
  KeyBoundError,
  type KeyForm,
} from "../../../engine/protocols/keys/key-bounds.ts";
import { readPem, writePem } from "../../../engine/protocols/keys/pem.ts";
import { boundPkcs12, openPkcs12 } from "../../../engine/protocols/keys/pkcs12.ts";
import { parseProfile } from "../../../engine/protocols/openvpn/profile.ts";
import { RECORDED as OVPN } from "../../../engine/protocols/openvpn/recorded.suite.ts";
import { KeyFileError, parseClientKeyV2, parseStaticKey } from "../../../engine/protocols/openvpn/static-key.ts";
import { commonName, subjectText } from "../../../engine/protocols/openvpn/subject.ts";
import { refusalOf as refusalOfPeer, rulesOf } from "../../../engine/protocols/openvpn/verify.ts";
import { type FuzzTarget, must, text, utf8 } from "../target.ts";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = pair.privateKey.export({ type: "pkcs8", format: "der" });
const SPKI = pair.publicKey.export({ type: "spki", format: "der" });
const CERTIFICATE = certificateOf({ spki: SPKI, signer: pair.privateKey });
const MADE = makeCertificate({ commonName: "a.rig", names: ["a.rig", "192.0.2.1"] });
const MADE_DER = readPem(MADE.certPem)[0]?.der ?? Buffer.alloc(0);
const pkcs8 = (rsa: Buffer): Buffer =>
  sequence(integer(0), sequence(oid("1.2.840.113549.1.1.1"), Buffer.of(5, 0)), octets(rsa));
const CERTIFICATES = [
  CERTIFICATE,
  MADE_DER,
  certificateOf({ spki: rsaPublic(2_048) }),
  certificateOf({ spki: ecPublic("P-521", "explicit") }),
  certificateOf({ spki: dsaPublic(2_048) }),
];
const NAMELESS = certificateOf({ spki: SPKI, signer: pair.privateKey, subject: "" });
/** One of each way to compare. */
const IDENTITIES = ["gw.test", "192.0.2.7", "a@gw.test", "CN=gw"] as const;
const RULES = [
  "verify-x509-name CN=gw",
  "verify-x509-name gw name-prefix",
  "remote-cert-tls server",
  "verify-hash 00:11",
  "remote-cert-ku 80",
].map((line) => rulesOf(parseProfile(`${line}\n`)));
const PRIVATE = [
  KEY,
  rsaPrivate(1_024),
  pkcs8(rsaPrivate(1_024)),
  pair.privateKey.export({ type: "sec1", format: "der" }),
];
const DER_WORDS = [
  "30",
  "3080",
  "0000",
  "0201",
  "0401",
  "a000",
  "0500",
  "3084ffffffff",
  "020100",
  "03020000",
  "24800000",
].map((hex) => Buffer.from(hex, "hex"));
const FORMS: readonly KeyForm[] = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY"];

const file = (overrides: Partial<Pkcs12>): Buffer =>
  pkcs12Of({
    key: KEY,
    certificates: [CERTIFICATE],
    macRounds: 2,
    keyScheme: { kind: "pbkdf2", rounds: 2 },
    certificateScheme: { kind: "pbkdf2", rounds: 2 },
    ...overrides,
  });
const PKCS12 = [
  file({}),
  file({ keyScheme: { kind: "3des", rounds: 2 } }),
  file({ certificateScheme: null, depth: 2 }),
  file({ mac: "pbmac1" }),
  file({ macRounds: null, keyScheme: null }),
  file({ keyScheme: { kind: "scrypt", N: 2, r: 1, p: 1 } }),
];

/** Whether each number of rounds is still small: a million, which are allowed, take a second. */
function isCheap(bytes: Buffer): boolean {
  for (let at = 0; at + 1 < bytes.length; at++) {
    if (bytes[at] === 2 && (bytes[at + 1] ?? 0) > 1 && (bytes[at + 1] ?? 0) < 7) return false;
  }
  return true;
}

function refusalOf(run: () => unknown): KeyBoundError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof KeyBoundError) return error;
    throw error;
  }
}

const der: readonly FuzzTarget[] = [
  {
    name: "der",
    seeds: [...CERTIFICATES, ...PRIVATE, nested(20)],
    words: DER_WORDS,
    run(input) {
      const values = readDer(input);
      if (values === undefined) return "none";
      must(values.length <= 256, "more values than are taken");
      for (const { tag, content } of values) {
        const again = readDer(encodeDer(tag, content));
        must(
          again?.length === 1 && again[0]?.tag === tag && again[0].content.equals(content),
          "not the same after encoding",
        );
        oidText(content);
      }
      return values.length;
    },
  },
  {
    name: "ber",
    seeds: [...PKCS12, Buffer.from("30802480040161040162000002010500000000", "hex")],
    words: DER_WORDS,
    refusals: [KeyBoundError],
    run(input) {
      const once = toDer(input);
      must(toDer(once).equals(once), "read differently the second time");
      must(once.length <= 4 * input.length + 16, "longer than what it was made of");
      return Math.min(8, once.length >> 4);
    },
  },
  {
    name: "bounds of keys and certificates",
    seeds: [...CERTIFICATES, ...PRIVATE, SPKI, rsaPublic(1_024), dsaPublic(1_024), dhPublic(1_024), nested(20)],
    words: DER_WORDS,
    longest: 1_200_000,
    run: (input) =>
      [
        boundCertificate,
        boundCrl,
        boundPublicKey,
        ...FORMS.map((form) => (bytes: Buffer) => boundPrivateKey(bytes, form)),
      ]
        .map((bound) => {
          const refusal = refusalOf(() => bound(input));
          must((refusal?.message.length ?? 0) < 200, "a refusal that tells too much");
          return refusal === undefined ? "+" : refusal.isUnreadable ? "-" : "!";
        })
        .join(""),
  },
  {
    name: "pkcs12",
    seeds: PKCS12,
    words: DER_WORDS,
    cost: 4,
    run(input) {
      const bound = refusalOf(() => boundPkcs12(input));
      if (!isCheap(input)) return bound?.message.slice(0, 40) ?? "dear";
      const opened = refusalOf(() => openPkcs12(input));
      must(
        bound === undefined || bound.isUnreadable || opened !== undefined,
        `opened what its bounds refuse: ${bound?.message}`,
      );
      return `${bound?.message.slice(0, 40)} ${opened?.message.slice(0, 40)}`;
    },
  },
  {
    name: "ikev2 client keys",
    seeds: [KEY, pkcs8(rsaPrivate(1_024))],
    words: DER_WORDS,
    refusals: [TunnelConfigError, KeyBoundError],
    run(input) {
      boundPrivateKey(input, "PRIVATE KEY");
      const { asymmetricKeyType } = openKey(writePem("PRIVATE KEY", input));
      must(asymmetricKeyType !== undefined, "a key of no kind");
      return asymmetricKeyType;
    },
  },
  {
    name: "ikev2 certificates",
    seeds: [...CERTIFICATES, NAMELESS],
    words: DER_WORDS,
    cost: 4,
    run(input) {
      const read = readCertificate(input);
      const names = namesOf(input);
      const refusals = IDENTITIES.map((identity) => {
        try {
          trustedKey([input, CERTIFICATE], createAnchors([]), identity, Date.now());
        } catch (error) {
          if (error instanceof NetworkFault) return error.message;
          throw error;
        }
        return undefined;
      });
      must(!refusals.includes(undefined), "trusted without an authority");
      return `${read === undefined} ${names === undefined} ${refusals[0]?.slice(0, 60)}`;
    },
  },
  {
    name: "certificates of openvpn servers",
    seeds: [...CERTIFICATES, NAMELESS],
    words: DER_WORDS,
    cost: 4,
    run(input) {
      let own: X509Certificate;
      try {
        own = new X509Certificate(input);
      } catch {
        // TLS refuses it.
        return "none";
      }
      const printed = subjectText(own.raw);
      must(!printed.some((byte) => byte < 0x20 || byte === 0x7f), "a control character in a subject");
      must((commonName(own.raw)?.length ?? 0) <= 64, "a name that is too long");
      return RULES.map((rules) => refusalOfPeer({ certificate: own, issuer: () => own }, rules)?.length).join();
    },
  },
];

const PEMS = [
  MADE.certPem,
  `Bag Attributes\n  x: y\n${MADE.certPem}\r\n${MADE.keyPem.replaceAll("\n", "\r\n")}rest`,
  "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
  writePem("CERTIFICATE", CERTIFICATE),
];
const PEM_WORDS = [
  "-----BEGIN ",
  "-----",
  "-----END ",
  "CERTIFICATE",
  "TRUSTED CERTIFICATE",
  "X509 CRL",
  "Proc-Type: 4,ENCRYPTED",
  "AAAA",
  "=",
  "\n",
];
const STATIC_KEY = `-----BEGIN OpenVPN Static key V1-----\n${OVPN.tlsAuth.staticKey.toString("hex")}\n-----END OpenVPN Static key V1-----`;
const V2_KEY = `-----BEGIN OpenVPN tls-crypt-v2 client key-----\n${Buffer.concat([OVPN.tlsAuth.staticKey, Buffer.alloc(40), Buffer.of(0, 42)]).toString("base64")}\n-----END OpenVPN tls-crypt-v2 client key-----`;

const pem: readonly FuzzTarget[] = [
  {
    name: "pem",
    seeds: utf8(...PEMS),
    words: PEM_WORDS,
    longest: 128 * 1024,
    run(input) {
      const blocks = readPem(text(input));
      must(blocks.length <= 1_024, "more blocks than are taken");
      for (const { label, der: bytes } of blocks.slice(0, 8)) {
        const [again] = readPem(writePem(label, bytes));
        must(again?.label === label && again.der.equals(bytes), "not the same after writing");
      }
      return `${Math.min(4, blocks.length)} ${blocks[0]?.isEncrypted}`;
    },
  },
  {
    name: "certificates of a configuration",
    seeds: utf8(...PEMS.slice(0, 2), PEMS[3] ?? ""),
    words: PEM_WORDS,
    refusals: [TunnelConfigError],
    longest: 102_400,
    cost: 4,
    run(input) {
      boundCertificates(text(input), "ca");
      const written = requireCertificates(text(input), "ca");
      must(requireCertificates(written, "ca") === written, "not the same when it is read again");
      return Math.min(4, readPem(written).length);
    },
  },
  {
    name: "authorities of ikev2",
    seeds: utf8(...PEMS),
    words: PEM_WORDS,
    longest: 102_400,
    cost: 4,
    run: (input) => Math.min(4, createAnchors([text(input)]).keyHashes.length),
  },
  {
    name: "openvpn key files",
    seeds: utf8(STATIC_KEY, V2_KEY),
    words: [...PEM_WORDS, "OpenVPN Static key V1", "OpenVPN tls-crypt-v2 client key"],
    refusals: [KeyFileError],
    run(input) {
      const [first, second] = [parseStaticKey, parseClientKeyV2].map((parse) => {
        try {
          return parse(text(input));
        } catch (error) {
          if (error instanceof KeyFileError) return error.message;
          throw error;
        }
      });
      must(
        typeof first === "string" || typeof second === "string" || !isDeepStrictEqual(first, second),
        "one key as two",
      );
      return `${typeof first} ${typeof second}`;
    },
  },
];

export const KEYS: readonly FuzzTarget[] = [...der, ...pem];
