import { getDiffieHellman, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { GROUP } from "./algorithms.ts";
import { createKeyShare } from "./key-share.ts";
import { IkeFormatError } from "./message.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");
const SIZES = new Map<number, number>([
  [GROUP.modp1024, 128],
  [GROUP.modp2048, 256],
  [GROUP.modp3072, 384],
  [GROUP.modp4096, 512],
  [GROUP.p256, 64],
  [GROUP.p384, 96],
  [GROUP.p521, 132],
  [GROUP.x25519, 32],
]);

describe("key exchange", () => {
  it.each([...SIZES])("in group %i: both sides agree, with values of %i bytes", (group, sizeBytes) => {
    const [ours, theirs] = [createKeyShare(group, randomBytes), createKeyShare(group, randomBytes)];
    expect(ours.publicValue).toHaveLength(sizeBytes);
    expect(ours.agree(theirs.publicValue).equals(theirs.agree(ours.publicValue))).toBe(true);
    expect(ours.publicValue.equals(theirs.publicValue)).toBe(false);
  });

  it("in group 19 is that of RFC 5903 section 8.1", () => {
    const ours = createKeyShare(GROUP.p256, () =>
      hex("C88F01F5 10D9AC3F 70A292DA A2316DE5 44E9AAB8 AFE84049 C62A9C57 862D1433"),
    );
    const theirs = createKeyShare(GROUP.p256, () =>
      hex("C6EF9C5D 78AE012A 011164AC B397CE20 88685D8F 06BF9BE0 B283AB46 476BEE53"),
    );
    const shared = hex("D6840F6B 42F6EDAF D13116E0 E1256520 2FEF8E9E CE7DCE03 812464D0 4B9442DE");
    expect(ours.publicValue.subarray(0, 32)).toEqual(
      hex("DAD0B653 94221CF9 B051E1FE CA5787D0 98DFE637 FC90B9EF 945D0C37 72581180"),
    );
    expect(ours.agree(theirs.publicValue)).toEqual(shared);
    expect(theirs.agree(ours.publicValue)).toEqual(shared);
  });

  it("in group 31 is that of RFC 7748 section 5.2", () => {
    const ours = createKeyShare(GROUP.x25519, () =>
      hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
    );
    const shared = ours.agree(hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"));
    expect(shared.toString("hex")).toBe("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  });

  it("in the old group is the one that OpenSSL knows too", () => {
    const other = getDiffieHellman("modp2");
    other.generateKeys();
    const ours = createKeyShare(GROUP.modp1024, randomBytes);
    const theirValue = Buffer.concat([Buffer.alloc(128 - other.getPublicKey().length), other.getPublicKey()]);
    const secret = other.computeSecret(ours.publicValue);
    expect(ours.agree(theirValue)).toEqual(Buffer.concat([Buffer.alloc(128 - secret.length), secret]));
  });

  it.each([...SIZES])("in group %i refuses what is no value of it", (group, sizeBytes) => {
    const ours = createKeyShare(group, randomBytes);
    const bad = [
      Buffer.alloc(sizeBytes),
      Buffer.alloc(sizeBytes - 1, 1),
      Buffer.alloc(sizeBytes + 1, 1),
      Buffer.alloc(0),
      ...(group === GROUP.x25519 ? [] : [Buffer.alloc(sizeBytes, 0xff)]),
      ...(group < GROUP.p256 ? [Buffer.concat([Buffer.alloc(sizeBytes - 1), Buffer.from([1])])] : []),
    ];
    for (const value of bad) expect(() => ours.agree(value)).toThrow(IkeFormatError);
  });

  it("in a group that was not offered is refused", () => {
    expect(() => createKeyShare(22, randomBytes)).toThrow(IkeFormatError);
  });
});
