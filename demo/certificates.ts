/**
 * X.509 certificates made with node:crypto alone (RFC 5280), for tests and the demo: any dates, names and issuer, without a tool
 * that may not be installed.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

export interface MadeCertificate {
  readonly certPem: string;
  readonly keyPem: string;
  readonly key: KeyObject;
  readonly commonName: string;
}

export interface CertificateOptions {
  readonly commonName: string;
  /** DNS names and address literals. */
  readonly names?: readonly string[];
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  /** Self-signed when omitted. */
  readonly issuer?: MadeCertificate;
  /** An RSA key of so many bits instead of P-256, for a certificate below an issuer. */
  readonly rsaBits?: number;
  readonly ca?: boolean;
  /** How many authorities may follow an authority; any number when left out. */
  readonly pathLength?: number;
  /** Further extensions, as DER. */
  readonly more?: readonly Buffer[];
}

const DAY_MS = 86_400_000;

const OID = {
  commonName: "550403",
  ecdsaWithSha256: "2a8648ce3d040302",
  subjectKeyId: "551d0e",
  keyUsage: "551d0f",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
} as const;

/** A certificate and its key, signed with P-256. */
export function makeCertificate(options: CertificateOptions): MadeCertificate {
  const { commonName, issuer, rsaBits, ca = false, names = [] } = options;
  const { publicKey, privateKey } =
    rsaBits === undefined
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: rsaBits });
  const now = Date.now();
  const spki = publicKey.export({ type: "spki", format: "der" });
  const tbs = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm(),
    distinguishedName(issuer?.commonName ?? commonName),
    sequence(time(options.notBeforeMs ?? now - DAY_MS), time(options.notAfterMs ?? now + 365 * DAY_MS)),
    distinguishedName(commonName),
    spki,
    tagged(0xa3, sequence(...extensions(spki, ca, names, options.pathLength), ...(options.more ?? []))),
  );
  const signature = sign("sha256", tbs, issuer?.key ?? privateKey);
  const der = sequence(tbs, algorithm(), bitString(signature));
  return {
    certPem: `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    key: privateKey,
    commonName,
  };
}

export function makeAuthority(commonName = "Sonde test authority"): MadeCertificate {
  return makeCertificate({ commonName, ca: true });
}

function extensions(spki: Buffer, ca: boolean, names: readonly string[], pathLength?: number): Buffer[] {
  const limit = pathLength === undefined ? [] : [integer(Buffer.from([pathLength]))];
  const found = [
    extension(OID.basicConstraints, true, sequence(...(ca ? [tagged(0x01, Buffer.from([0xff])), ...limit] : []))),
    extension(OID.subjectKeyId, false, tagged(0x04, createHash("sha1").update(spki).digest())),
    // keyCertSign and cRLSign, or digitalSignature.
    extension(OID.keyUsage, true, tagged(0x03, ca ? Buffer.from([1, 0x06]) : Buffer.from([7, 0x80]))),
  ];
  if (names.length > 0) found.push(extension(OID.subjectAltName, false, sequence(...names.map(generalName))));
  return found;
}

function extension(oid: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(oid), ...(critical ? [tagged(0x01, Buffer.from([0xff]))] : []), tagged(0x04, value));
}

/** dNSName is [2], iPAddress [7]. */
function generalName(name: string): Buffer {
  return isIP(name) === 0 ? tagged(0x82, Buffer.from(name, "latin1")) : tagged(0x87, addressBytes(name));
}

function addressBytes(ip: string): Buffer {
  if (isIP(ip) === 4) return Buffer.from(ip.split(".").map(Number));
  const [head = "", tail] = ip.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill("0"), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId(OID.commonName), tagged(0x0c, Buffer.from(commonName, "utf8")))));
}

/** GeneralizedTime, which every reader takes for any year. */
function time(atMs: number): Buffer {
  const text = new Date(atMs).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return tagged(0x18, Buffer.from(`${text}Z`, "latin1"));
}

function algorithm(): Buffer {
  return sequence(objectId(OID.ecdsaWithSha256));
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** Tag, length and value of DER (X.690 section 8.1). */
function tagged(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
