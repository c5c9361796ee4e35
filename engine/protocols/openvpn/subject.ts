/**
 * A certificate's subject as OpenVPN compares it: as X509_NAME_print_ex() of OpenSSL writes it with XN_FLAG_SEP_CPLUS_SPC, XN_FLAG_FN_SN,
 * ASN1_STRFLGS_UTF8_CONVERT and ASN1_STRFLGS_ESC_CTRL (ssl_verify_openssl.c, x509_get_subject), and its common name (verify_cert). It is made from
 * the certificate's DER, because Node's own text escapes more characters and replaces bytes that are no UTF-8. Pure.
 */
import { DER, type DerValue, membersOf, oidText, readDer } from "../ikev2/der.ts";

/** [0] of TBSCertificate: its version. */
const VERSION = 0xa0;
const SET = 0x31;
/** Universal tags. Text of any other is one byte of Latin-1 a character (a_strex.c, tag2nbyte). */
const TAG = { bits: 0x03, utf8: 0x0c, sequence: 0x30, universal: 0x1c, bmp: 0x1e } as const;
const COMMON_NAME = "2.5.4.3";
/** Of Unicode. */
const LAST_CHARACTER = 0x10ffff;
/** ssl_verify.h TLS_USERNAME_LEN. */
const MAX_COMMON_NAME_BYTES = 64;

/** Short names of attribute types, as OpenSSL 3 has them (obj_mac.h): the last number of the type, and its name. */
const SHORT_NAMES = shortNames({
  "2.5.4": `3 CN 4 SN 5 serialNumber 6 C 7 L 8 ST 9 street 10 O 11 OU 12 title 13 description 14 searchGuide 15 businessCategory 16 postalAddress
    17 postalCode 18 postOfficeBox 19 physicalDeliveryOfficeName 20 telephoneNumber 21 telexNumber 22 teletexTerminalIdentifier
    23 facsimileTelephoneNumber 24 x121Address 25 internationaliSDNNumber 26 registeredAddress 27 destinationIndicator 28 preferredDeliveryMethod
    29 presentationAddress 30 supportedApplicationContext 31 member 32 owner 33 roleOccupant 34 seeAlso 35 userPassword 36 userCertificate
    37 cACertificate 38 authorityRevocationList 39 certificateRevocationList 40 crossCertificatePair 41 name 42 GN 43 initials
    44 generationQualifier 45 x500UniqueIdentifier 46 dnQualifier 47 enhancedSearchGuide 48 protocolInformation 49 distinguishedName
    50 uniqueMember 51 houseIdentifier 52 supportedAlgorithms 53 deltaRevocationList 54 dmdName 65 pseudonym 72 role 97 organizationIdentifier
    98 c3 99 n3 100 dnsName`,
  "0.9.2342.19200300.100.1": `1 UID 2 textEncodedORAddress 3 mail 4 info 5 favouriteDrink 6 roomNumber 7 photo 8 userClass 9 host 10 manager
    11 documentIdentifier 12 documentTitle 13 documentVersion 14 documentAuthor 15 documentLocation 20 homeTelephoneNumber 21 secretary
    22 otherMailbox 23 lastModifiedTime 24 lastModifiedBy 25 DC 26 aRecord 27 pilotAttributeType27 28 mXRecord 29 nSRecord 30 sOARecord
    31 cNAMERecord 37 associatedDomain 38 associatedName 39 homePostalAddress 40 personalTitle 41 mobileTelephoneNumber 42 pagerTelephoneNumber
    43 friendlyCountryName 44 uid 45 organizationalStatus 46 janetMailbox 47 mailPreferenceOption 48 buildingName 49 dSAQuality
    50 singleLevelQuality 51 subtreeMinimumQuality 52 subtreeMaximumQuality 53 personalSignature 54 dITRedirect 55 audio 56 documentPublisher`,
  "1.2.840.113549.1.9":
    "1 emailAddress 2 unstructuredName 7 challengePassword 8 unstructuredAddress 20 friendlyName 21 localKeyID",
  "1.3.6.1.4.1.311.60.2.1": "1 jurisdictionL 2 jurisdictionST 3 jurisdictionC",
  "1.3.6.1.4.1.311.20.2": "3 msUPN",
  "1.2.643.100": "1 OGRN 3 SNILS 5 OGRNIP",
  "1.2.643.3.131.1": "1 INN",
});

function shortNames(arcs: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [arc, text] of Object.entries(arcs)) {
    const words = text.split(/\s+/);
    for (let at = 0; at < words.length; at += 2) names.set(`${arc}.${words[at]}`, words[at + 1] ?? "");
  }
  return names;
}

interface Attribute {
  /** Dotted. */
  readonly type: string;
  readonly value: DerValue;
  /** It belongs to the same part of the name as the one before it. */
  readonly isJoined: boolean;
}

/** @returns UTF-8, which OpenSSL has made sure of when it read the certificate; empty for a subject of no parts, or one that cannot be read */
export function subjectText(certificate: Buffer): Buffer {
  return Buffer.concat(
    attributesOf(certificate).flatMap(({ type, value, isJoined }, index) => [
      Buffer.from(`${index === 0 ? "" : isJoined ? " + " : ", "}${SHORT_NAMES.get(type) ?? type}=`),
      withEscapes(utf8Of(value)),
    ]),
  );
}

/** `/C=XX/CN=gw`, the form of before 2.3 (X509_NAME_oneline). */
export function slashedSubject(certificate: Buffer): Buffer {
  return Buffer.concat(
    attributesOf(certificate).flatMap(({ type, value }) => [
      Buffer.from(`/${SHORT_NAMES.get(type) ?? type}=`),
      utf8Of(value),
    ]),
  );
}

/** The last one. @returns undefined where OpenVPN finds none that it can use */
export function commonName(certificate: Buffer): Buffer | undefined {
  const value = attributesOf(certificate).findLast(({ type }) => type === COMMON_NAME)?.value;
  if (value === undefined || value.tag === TAG.bits || value.tag === TAG.sequence) return undefined;
  const text = utf8Of(value);
  const nulAt = text.indexOf(0);
  const used = nulAt < 0 ? text : text.subarray(0, nulAt);
  if (used.length > MAX_COMMON_NAME_BYTES) return undefined;
  return used.map((byte) => (isControl(byte) ? 0x5f : byte)) as Buffer;
}

function attributesOf(certificate: Buffer): readonly Attribute[] {
  const [tbs] = membersOf(certificate, DER.sequence) ?? [];
  const fields = tbs?.tag === DER.sequence ? (readDer(tbs.content) ?? []) : [];
  const [, , , , subject] = fields[0]?.tag === VERSION ? fields.slice(1) : fields;
  const parts = subject?.tag === DER.sequence ? (readDer(subject.content) ?? []) : [];
  return parts.flatMap((part) => {
    const members = part.tag === SET ? (readDer(part.content) ?? []) : [];
    return members.flatMap(({ content }, index): Attribute[] => {
      const [type, value] = readDer(content) ?? [];
      if (type?.tag !== DER.oid || value === undefined) return [];
      return [{ type: oidText(type.content), value, isJoined: index > 0 }];
    });
  });
}

function utf8Of({ tag, content, whole }: DerValue): Buffer {
  switch (tag) {
    case TAG.utf8:
      return content;
    case TAG.bmp:
      return Buffer.from(charactersOf(content, 2));
    case TAG.universal:
      return Buffer.from(charactersOf(content, 4));
    case TAG.bits:
      return Buffer.from(bitsOf(content).toString("latin1"));
    case TAG.sequence:
      return Buffer.from(whole.toString("latin1"));
    default:
      return Buffer.from(content.toString("latin1"));
  }
}

function charactersOf(content: Buffer, width: 2 | 4): string {
  const codes = Array.from({ length: Math.floor(content.length / width) }, (_, index) =>
    content.readUIntBE(index * width, width),
  );
  return codes.map((code) => (code <= LAST_CHARACTER ? String.fromCodePoint(code) : "")).join("");
}

/** Behind the number of unused bits, which are zero then. */
function bitsOf(content: Buffer): Buffer {
  const [unused = 0, ...bytes] = content;
  const last = bytes.pop();
  return Buffer.from(last === undefined ? bytes : [...bytes, last & (0xff << (unused & 7))]);
}

/** A control character is written as its number, a backslash twice. */
function withEscapes(text: Buffer): Buffer {
  return Buffer.from(
    text.toString("latin1").replace(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      /[\u0000-\u001f\u007f\\]/g,
      (found) => (found === "\\" ? "\\\\" : `\\${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`),
    ),
    "latin1",
  );
}

function isControl(byte: number): boolean {
  return byte < 0x20 || byte === 0x7f;
}
