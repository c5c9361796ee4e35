/** SA payloads: what we offer, and what of it the gateway chose (RFC 7296 sections 2.7 and 3.3). Pure. */
import {
  AES_128_CBC,
  AES_128_GCM,
  AES_256_CBC,
  AES_256_GCM,
  CHACHA,
  type Encryption,
  GROUP,
  HMAC_SHA1_96,
  HMAC_SHA256_128,
  HMAC_SHA384_192,
  HMAC_SHA512_256,
  type Integrity,
  NO_ESN,
  PRF_SHA1,
  PRF_SHA256,
  PRF_SHA384,
  PRF_SHA512,
  type Prf,
  TRANSFORM,
} from "./algorithms.ts";
import { IkeFormatError } from "./message.ts";

export const PROTOCOL = { ike: 1, esp: 3 } as const;

export interface Transform {
  readonly type: number;
  readonly id: number;
  readonly keyBits: number | null;
}

export interface Proposal {
  readonly number: number;
  readonly protocol: number;
  readonly spi: Buffer;
  readonly transforms: readonly Transform[];
}

/** What protects an SA's packets; integrity is null with AEAD. */
export interface Protection {
  readonly encryption: Encryption;
  readonly integrity: Integrity | null;
}

export interface IkeSuite extends Protection {
  readonly prf: Prf;
  readonly group: number;
}

interface Offer {
  readonly encryptions: readonly Encryption[];
  readonly integrities: readonly Integrity[];
  readonly prfs: readonly Prf[];
  readonly groups: readonly number[];
}

/**
 * What most gateways accept, strongest first; AEAD and others must not share a proposal (RFC 5282 section 8). SHA-1 and the 1024-bit
 * group come last, for old gateways that know nothing else.
 */
const IKE_OFFERS: readonly Offer[] = [
  {
    encryptions: [AES_256_GCM, AES_128_GCM, CHACHA],
    integrities: [],
    prfs: [PRF_SHA256, PRF_SHA384, PRF_SHA512, PRF_SHA1],
    groups: [GROUP.p256, GROUP.x25519, GROUP.p384, GROUP.p521, GROUP.modp2048, GROUP.modp3072, GROUP.modp4096],
  },
  {
    encryptions: [AES_256_CBC, AES_128_CBC],
    integrities: [HMAC_SHA256_128, HMAC_SHA384_192, HMAC_SHA512_256, HMAC_SHA1_96],
    prfs: [PRF_SHA256, PRF_SHA384, PRF_SHA512, PRF_SHA1],
    groups: [
      GROUP.modp2048,
      GROUP.p256,
      GROUP.x25519,
      GROUP.p384,
      GROUP.p521,
      GROUP.modp3072,
      GROUP.modp4096,
      GROUP.modp1024,
    ],
  },
];

/** Numbers of IANA's registry. */
export const OFFERED_GROUPS: ReadonlySet<number> = new Set(IKE_OFFERS.flatMap(({ groups }) => groups));

/** No group: the first Child SA takes its keys from the IKE SA (section 2.17). */
const CHILD_OFFERS: readonly Offer[] = [
  { encryptions: [AES_256_GCM, AES_128_GCM], integrities: [], prfs: [], groups: [] },
  {
    encryptions: [AES_256_CBC, AES_128_CBC],
    integrities: [HMAC_SHA256_128, HMAC_SHA1_96, HMAC_SHA384_192, HMAC_SHA512_256],
    prfs: [],
    groups: [],
  },
  { encryptions: [CHACHA], integrities: [], prfs: [], groups: [] },
];

/** The group whose public value goes out first. What a gateway prefers instead it names (section 1.3). */
export const FIRST_GROUP = GROUP.p256;

export function isOfferedGroup(group: number): boolean {
  return IKE_OFFERS.some(({ groups }) => groups.includes(group));
}

/** Ours: bounds on what a peer makes us look at. */
const PROPOSAL_LIMIT = 32;
const TRANSFORM_LIMIT = 64;
const KEY_LENGTH_ATTRIBUTE = 0x800e;
const PROPOSAL_HEADER_BYTES = 8;
const TRANSFORM_HEADER_BYTES = 8;

export function encodeIkeOffer(): Buffer {
  return encodeProposals(IKE_OFFERS.map((offer, index) => proposalOf(offer, index + 1, PROTOCOL.ike, Buffer.alloc(0))));
}

/** @param spi 4 bytes, ours: what the gateway's packets begin with */
export function encodeChildOffer(spi: Buffer): Buffer {
  return encodeProposals(CHILD_OFFERS.map((offer, index) => proposalOf(offer, index + 1, PROTOCOL.esp, spi)));
}

function proposalOf(offer: Offer, number: number, protocol: number, spi: Buffer): Proposal {
  const plain = (type: number) => (id: number) => ({ type, id, keyBits: null });
  const transforms: Transform[] = [
    ...offer.encryptions.map(({ id, keyBits }) => ({ type: TRANSFORM.encryption, id, keyBits })),
    ...offer.integrities.map(({ id }) => id).map(plain(TRANSFORM.integrity)),
    ...offer.prfs.map(({ id }) => id).map(plain(TRANSFORM.prf)),
    ...offer.groups.map(plain(TRANSFORM.group)),
    ...(protocol === PROTOCOL.esp ? [{ type: TRANSFORM.sequence, id: NO_ESN, keyBits: null }] : []),
  ];
  return { number, protocol, spi, transforms };
}

export function encodeProposals(proposals: readonly Proposal[]): Buffer {
  return Buffer.concat(
    proposals.map(({ number, protocol, spi, transforms }, index) => {
      const body = Buffer.concat(transforms.map((each, at) => encodeTransform(each, at === transforms.length - 1)));
      const header = Buffer.alloc(PROPOSAL_HEADER_BYTES);
      header.writeUInt8(index === proposals.length - 1 ? 0 : 2, 0);
      header.writeUInt16BE(header.length + spi.length + body.length, 2);
      header.set([number, protocol, spi.length, transforms.length], 4);
      return Buffer.concat([header, spi, body]);
    }),
  );
}

function encodeTransform({ type, id, keyBits }: Transform, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(TRANSFORM_HEADER_BYTES + (keyBits === null ? 0 : 4));
  bytes.writeUInt8(isLast ? 0 : 3, 0);
  bytes.writeUInt16BE(bytes.length, 2);
  bytes.writeUInt8(type, 4);
  bytes.writeUInt16BE(id, 6);
  if (keyBits !== null) {
    bytes.writeUInt16BE(KEY_LENGTH_ATTRIBUTE, 8);
    bytes.writeUInt16BE(keyBits, 10);
  }
  return bytes;
}

/** @throws IkeFormatError */
export function decodeProposals(body: Buffer): readonly Proposal[] {
  const proposals: Proposal[] = [];
  let offset = 0;
  while (offset < body.length) {
    if (proposals.length >= PROPOSAL_LIMIT) throw new IkeFormatError("too many proposals");
    const sizeBytes = sizeAt(body, offset, PROPOSAL_HEADER_BYTES, "a proposal");
    proposals.push(decodeProposal(body.subarray(offset, offset + sizeBytes)));
    offset += sizeBytes;
  }
  return proposals;
}

function decodeProposal(bytes: Buffer): Proposal {
  const spiBytes = bytes.readUInt8(6);
  const count = bytes.readUInt8(7);
  let offset = PROPOSAL_HEADER_BYTES + spiBytes;
  if (offset > bytes.length) throw new IkeFormatError("a proposal is cut off");
  const transforms: Transform[] = [];
  while (offset < bytes.length) {
    if (transforms.length >= TRANSFORM_LIMIT) throw new IkeFormatError("too many transforms");
    const sizeBytes = sizeAt(bytes, offset, TRANSFORM_HEADER_BYTES, "a transform");
    transforms.push(decodeTransform(bytes.subarray(offset, offset + sizeBytes)));
    offset += sizeBytes;
  }
  if (transforms.length !== count) throw new IkeFormatError("a proposal names another number of transforms");
  return {
    number: bytes.readUInt8(4),
    protocol: bytes.readUInt8(5),
    spi: bytes.subarray(PROPOSAL_HEADER_BYTES, PROPOSAL_HEADER_BYTES + spiBytes),
    transforms,
  };
}

function decodeTransform(bytes: Buffer): Transform {
  let keyBits: number | null = null;
  let offset = TRANSFORM_HEADER_BYTES;
  while (offset < bytes.length) {
    if (bytes.length - offset < 4) throw new IkeFormatError("a transform attribute is cut off");
    const type = bytes.readUInt16BE(offset);
    const value = bytes.readUInt16BE(offset + 2);
    // The high bit says that the value follows at once; otherwise it is a length (section 3.3.5).
    if (type === KEY_LENGTH_ATTRIBUTE) keyBits = value;
    offset += 4 + ((type & 0x8000) === 0 ? value : 0);
  }
  if (offset !== bytes.length) throw new IkeFormatError("a transform attribute is cut off");
  return { type: bytes.readUInt8(4), id: bytes.readUInt16BE(6), keyBits };
}

function sizeAt(bytes: Buffer, offset: number, leastBytes: number, what: string): number {
  if (bytes.length - offset < leastBytes) throw new IkeFormatError(`${what} is cut off`);
  const sizeBytes = bytes.readUInt16BE(offset + 2);
  if (sizeBytes < leastBytes || sizeBytes > bytes.length - offset)
    throw new IkeFormatError(`${what}'s length is wrong`);
  return sizeBytes;
}

/** The suite of the gateway's answer. @throws IkeFormatError when it is none of what we offered */
export function chosenIkeSuite(body: Buffer): IkeSuite {
  const { offer, proposal } = chosen(body, PROTOCOL.ike, IKE_OFFERS);
  const prf = offer.prfs.find(({ id }) => id === oneOf(proposal, TRANSFORM.prf)?.id);
  const group = oneOf(proposal, TRANSFORM.group)?.id;
  if (prf === undefined || group === undefined || !offer.groups.includes(group)) throw notOffered();
  return { ...protectionOf(offer, proposal), prf, group };
}

/** The Child SA's protection and the gateway's SPI. @throws IkeFormatError when it is none of what we offered */
export function chosenChildSuite(body: Buffer): Protection & { readonly spi: Buffer } {
  const { offer, proposal } = chosen(body, PROTOCOL.esp, CHILD_OFFERS);
  if (proposal.spi.length !== 4 || proposal.spi.readUInt32BE(0) === 0) throw new IkeFormatError("a bad SPI");
  if ((oneOf(proposal, TRANSFORM.sequence)?.id ?? NO_ESN) !== NO_ESN) throw notOffered();
  return { ...protectionOf(offer, proposal), spi: proposal.spi };
}

function chosen(body: Buffer, protocol: number, offers: readonly Offer[]) {
  const [proposal, ...others] = decodeProposals(body);
  if (proposal === undefined || others.length > 0 || proposal.protocol !== protocol) throw notOffered();
  const offer = offers[proposal.number - 1];
  if (offer === undefined) throw notOffered();
  return { offer, proposal };
}

function protectionOf(offer: Offer, proposal: Proposal): Protection {
  const wanted = oneOf(proposal, TRANSFORM.encryption);
  const encryption = offer.encryptions.find(({ id, keyBits }) => id === wanted?.id && keyBits === wanted.keyBits);
  if (encryption === undefined) throw notOffered();
  if (offer.integrities.length === 0) return { encryption, integrity: null };
  const integrity = offer.integrities.find(({ id }) => id === oneOf(proposal, TRANSFORM.integrity)?.id);
  if (integrity === undefined) throw notOffered();
  return { encryption, integrity };
}

/** Exactly one of a type may be chosen. */
function oneOf({ transforms }: Proposal, type: number): Transform | undefined {
  const [first, ...others] = transforms.filter((transform) => transform.type === type);
  if (others.length > 0) throw notOffered();
  return first;
}

function notOffered(): IkeFormatError {
  return new IkeFormatError("the gateway chose algorithms that were not offered");
}
