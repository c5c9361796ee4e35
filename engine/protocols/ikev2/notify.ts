/** Notify payloads: RFC 7296 section 3.10 and the registry "IKEv2 Notify Message Types". Pure. */
import { IkeFormatError, type NewPayload, PAYLOAD, type Payload } from "./message.ts";

export const NOTIFY = {
  unsupportedCriticalPayload: 1,
  invalidIkeSpi: 4,
  invalidMajorVersion: 5,
  invalidSyntax: 7,
  invalidMessageId: 9,
  invalidSpi: 11,
  noProposalChosen: 14,
  invalidKePayload: 17,
  authenticationFailed: 24,
  singlePairRequired: 34,
  noAdditionalSas: 35,
  internalAddressFailure: 36,
  failedCpRequired: 37,
  tsUnacceptable: 38,
  invalidSelectors: 39,
  temporaryFailure: 43,
  childSaNotFound: 44,
  natDetectionSource: 16_388,
  natDetectionDestination: 16_389,
  cookie: 16_390,
  esnTfcPaddingNotSupported: 16_394,
  eapOnlyAuthentication: 16_417,
  fragmentationSupported: 16_430,
  signatureHashAlgorithms: 16_431,
  supportedAuthMethods: 16_443,
} as const;

/** Types below it are errors, the others are status types (section 3.10.1). */
const FIRST_STATUS = 16_384;

const NAMES: ReadonlyMap<number, string> = new Map([
  [NOTIFY.unsupportedCriticalPayload, "UNSUPPORTED_CRITICAL_PAYLOAD"],
  [NOTIFY.invalidIkeSpi, "INVALID_IKE_SPI"],
  [NOTIFY.invalidMajorVersion, "INVALID_MAJOR_VERSION"],
  [NOTIFY.invalidSyntax, "INVALID_SYNTAX"],
  [NOTIFY.invalidMessageId, "INVALID_MESSAGE_ID"],
  [NOTIFY.invalidSpi, "INVALID_SPI"],
  [NOTIFY.noProposalChosen, "NO_PROPOSAL_CHOSEN"],
  [NOTIFY.invalidKePayload, "INVALID_KE_PAYLOAD"],
  [NOTIFY.authenticationFailed, "AUTHENTICATION_FAILED"],
  [NOTIFY.singlePairRequired, "SINGLE_PAIR_REQUIRED"],
  [NOTIFY.noAdditionalSas, "NO_ADDITIONAL_SAS"],
  [NOTIFY.internalAddressFailure, "INTERNAL_ADDRESS_FAILURE"],
  [NOTIFY.failedCpRequired, "FAILED_CP_REQUIRED"],
  [NOTIFY.tsUnacceptable, "TS_UNACCEPTABLE"],
  [NOTIFY.invalidSelectors, "INVALID_SELECTORS"],
  [NOTIFY.temporaryFailure, "TEMPORARY_FAILURE"],
  [NOTIFY.childSaNotFound, "CHILD_SA_NOT_FOUND"],
]);

export interface Notify {
  readonly type: number;
  /** 0: about the IKE SA. */
  readonly protocol: number;
  readonly data: Buffer;
}

/** @throws IkeFormatError */
export function decodeNotify(body: Buffer): Notify {
  if (body.length < 4) throw new IkeFormatError("a notify payload is cut off");
  const spiBytes = body.readUInt8(1);
  if (body.length < 4 + spiBytes) throw new IkeFormatError("a notify payload is cut off");
  return { protocol: body.readUInt8(0), type: body.readUInt16BE(2), data: body.subarray(4 + spiBytes) };
}

/** Numbers of hash algorithms (RFC 7427 section 4); an odd byte at the end says nothing. */
export function decodeHashes(data: Buffer): ReadonlySet<number> {
  const { length } = data;
  return new Set(Array.from({ length: length >> 1 }, (_, index) => data.readUInt16BE(2 * index)));
}

/** RFC 7427's method, and where its AlgorithmIdentifier begins: behind length, method and the number of an authority (RFC 9593 section 3.2.3). */
const NAMED_SIGNATURE = 14;
const IDENTIFIER_AT = 3;

/** @returns the AlgorithmIdentifiers of the announced signatures, as hexadecimal text; what follows a truncated one is ignored */
export function decodeAnnouncements(data: Buffer): readonly string[] {
  const identifiers: string[] = [];
  let at = 0;
  while (at + 2 <= data.length) {
    const sizeBytes = data.readUInt8(at);
    if (sizeBytes < 2 || at + sizeBytes > data.length) break;
    const isNamed = data.readUInt8(at + 1) === NAMED_SIGNATURE && sizeBytes > IDENTIFIER_AT;
    if (isNamed) identifiers.push(data.toString("hex", at + IDENTIFIER_AT, at + sizeBytes));
    at += sizeBytes;
  }
  return identifiers;
}

export function notify(type: number, data: Uint8Array = Buffer.alloc(0)): NewPayload {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 2);
  return { type: PAYLOAD.notify, body: Buffer.concat([header, data]) };
}

/** @throws IkeFormatError */
export function notifiesOf(payloads: readonly Payload[]): readonly Notify[] {
  return payloads.filter(({ type }) => type === PAYLOAD.notify).map(({ body }) => decodeNotify(body));
}

export function isError({ type }: Notify): boolean {
  return type < FIRST_STATUS;
}

export function notifyName(type: number): string {
  return NAMES.get(type) ?? `notify ${type}`;
}
