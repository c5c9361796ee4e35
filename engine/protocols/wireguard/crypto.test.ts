import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseCrypto, wireguardCrypto } from "../../tunnels/wireguard-crypto.ts";
import { opensslCrypto } from "../../tunnels/wireguard-openssl.ts";
import { deriveKeys, nonceOf, type WireguardCrypto } from "./crypto.ts";
import { nodeCrypto } from "./crypto-node.ts";
import { portableCrypto } from "./crypto-portable.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString("hex"));

/** Linux on x86-64 and arm64 have it; elsewhere node:crypto is the fastest. */
const native = opensslCrypto();
const fast: readonly (readonly [string, WireguardCrypto])[] = [
  ...(native === null ? [] : [["openssl", native] as const]),
  ["node", nodeCrypto],
];
const backends: readonly (readonly [string, WireguardCrypto])[] = [...fast, ["portable", portableCrypto]];

describe.each(backends)("the %s backend", (_name, crypto) => {
  it("agrees as RFC 7748 sections 5.2 and 6.1 say", () => {
    const scalar = hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
    const point = hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    const shared = crypto.privateKey(scalar).agree(crypto.publicKey(point));
    expect(text(shared)).toBe("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
    const bob = crypto.privateKey(hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"));
    expect(text(bob.publicBytes)).toBe("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    const alice = crypto.publicKey(hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"));
    expect(text(bob.agree(alice))).toBe("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  });

  it("refuses keys of low order", () => {
    const own = crypto.privateKey(new Uint8Array(32).fill(5));
    const lowOrder = [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    for (const key of lowOrder) expect(own.agree(crypto.publicKey(hex(key)))).toBeNull();
  });

  it("hashes as RFC 7693 appendix B says", () => {
    expect(text(crypto.hash(Buffer.from("abc")))).toBe(
      "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
    );
  });

  // wireguard-go, device/kdf_test.go
  it.each([
    [
      "746573742d6b6579",
      "746573742d696e707574",
      "6f0e5ad38daba1bea8a0d213688736f19763239305e0f58aba697f9ffc41c633",
      "df1194df20802a4fe594cde27e92991c8cae66c366e8106aaa937a55fa371e8a",
      "fac6e2745a325f5dc5d11a5b165aad08b0ada28e7b4e666b7c077934a4d76c24",
    ],
    [
      "776972656775617264",
      "776972656775617264",
      "491d43bbfdaa8750aaf535e334ecbfe5129967cd64635101c566d4caefda96e8",
      "1e71a379baefd8a79aa4662212fcafe19a23e2b609a3db7d6bcba8f560e3d25f",
      "31e1ae48bddfbe5de38f295e5452b1909a1b4e38e183926af3780b0c1e1f0160",
    ],
    [
      "",
      "",
      "8387b46bf43eccfcf349552a095d8315c4055beb90208fb1be23b894bc2ed5d0",
      "58a0e5f6faefccf4807bff1f05fa8a9217945762040bcec2f4b4a62bdfe0e86e",
      "0ce6ea98ec548f8e281e93e32db65621c45eb18dc6f0a7ad94178610a2f7338e",
    ],
  ])("derives the keys of case %#", (key, input, first, second, third) => {
    expect(deriveKeys(crypto, hex(key), hex(input), 3).map(text)).toEqual([first, second, third]);
    expect(deriveKeys(crypto, hex(key), hex(input), 2).map(text)).toEqual([first, second]);
  });

  it("opens the example of draft-irtf-cfrg-xchacha-03 appendix A.3.1", () => {
    const key = hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
    const nonce = hex("404142434445464748494a4b4c4d4e4f5051525354555657");
    const sealed = hex(
      "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49",
    );
    const opened = crypto.openCookie(key, nonce, sealed, hex("50515253c0c1c2c3c4c5c6c7"));
    expect(Buffer.from(opened ?? []).toString()).toMatch(/^Ladies and Gentlemen of the class of '99/);
    expect(crypto.openCookie(key, nonce, sealed, hex("50"))).toBeNull();
  });

  it("opens what it sealed, and nothing that was changed or cut", () => {
    const key = new Uint8Array(32).fill(9);
    const sealed = crypto.seal(key, 2 ** 33 + 1, hex("0102030405"), hex("aa"));
    expect(text(crypto.open(key, 2 ** 33 + 1, sealed, hex("aa")))).toBe("0102030405");
    expect(crypto.open(key, 1, sealed, hex("aa"))).toBeNull();
    expect(crypto.open(key, 2 ** 33 + 1, sealed, hex("ab"))).toBeNull();
    for (let length = 0; length < sealed.length; length++) {
      expect(crypto.open(key, 2 ** 33 + 1, sealed.subarray(0, length), hex("aa"))).toBeNull();
    }
  });
});

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

it("the native backend is there on Linux", () => {
  const isLinux = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");
  expect(native !== null).toBe(isLinux);
});

describe.each(fast)("the %s backend beside the portable one", (_name, crypto) => {
  it("says the same", () => {
    fc.assert(
      fc.property(
        bytes(32),
        bytes(32),
        fc.uint8Array({ maxLength: 200 }),
        fc.uint8Array({ maxLength: 70 }),
        fc.integer({ min: 0, max: 2 ** 48 }),
        (key, other, message, more, counter) => {
          const [ours, theirs] = [crypto.privateKey(key), portableCrypto.privateKey(key)];
          expect(text(ours.publicBytes)).toBe(text(theirs.publicBytes));
          expect(text(ours.agree(crypto.publicKey(other)))).toBe(text(theirs.agree(portableCrypto.publicKey(other))));
          expect(text(crypto.hash(message))).toBe(text(portableCrypto.hash(message)));
          const input = message.subarray(0, 100);
          expect(crypto.derive(key, input, 3).map(text)).toEqual(portableCrypto.derive(key, input, 3).map(text));
          const sealed = crypto.seal(key, counter, message, more);
          expect(text(sealed)).toBe(text(portableCrypto.seal(key, counter, message, more)));
          expect(text(portableCrypto.open(key, counter, sealed, more))).toBe(text(message));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("opens and seals datagrams of any length", () => {
    const key = new Uint8Array(32).fill(3);
    for (const size of [0, 1_420, 5_000, 65_000]) {
      const plain = new Uint8Array(size).fill(size & 255);
      const sealed = crypto.seal(key, 7, plain, new Uint8Array(0));
      expect(text(sealed)).toBe(text(portableCrypto.seal(key, 7, plain, new Uint8Array(0))));
      expect(text(crypto.open(key, 7, sealed, new Uint8Array(0)))).toBe(text(plain));
    }
  });

  it("keeps results apart", () => {
    const own = crypto.privateKey(new Uint8Array(32).fill(1));
    const shared = Array.from({ length: 2_000 }, (_, index) => {
      const seed = new Uint8Array(32).fill(index & 255);
      return text(own.agree(crypto.publicKey(crypto.privateKey(seed).publicBytes)));
    });
    expect(new Set(shared).size).toBe(256);
    expect(shared[300]).toBe(shared[44]);
  });
});

describe("nonces", () => {
  it("count in 64 bits, little-endian", () => {
    expect(text(nonceOf(0x1_0203_0405))).toBe("000000000504030201000000");
  });
});

describe("the choice of a backend", () => {
  it("is the fast one where OpenSSL has everything, else the portable one", () => {
    const chosen = wireguardCrypto();
    expect(chosen).toBe(wireguardCrypto());
    expect(chosen === nodeCrypto).toBe(native === null);
    const lacking: WireguardCrypto = {
      ...nodeCrypto,
      hash: () => {
        throw new Error("digital envelope routines::unsupported");
      },
    };
    expect(chooseCrypto([lacking, portableCrypto])).toBe(portableCrypto);
    expect(chooseCrypto([lacking])).toBe(lacking);
  });
});
