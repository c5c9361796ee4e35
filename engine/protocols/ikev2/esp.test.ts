import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../../testkit/property.ts";
import {
  AES_128_CBC,
  AES_128_GCM,
  AES_256_CBC,
  AES_256_GCM,
  CHACHA,
  HMAC_SHA1_96,
  HMAC_SHA256_128,
  HMAC_SHA384_192,
  HMAC_SHA512_256,
} from "./algorithms.ts";
import { EspReceiver, EspSender } from "./esp.ts";
import type { DirectionKeys } from "./keys.ts";

const SPI = Buffer.from("spi!");
const PROTECTIONS = [
  { encryption: AES_256_GCM, integrity: null },
  { encryption: AES_128_GCM, integrity: null },
  { encryption: CHACHA, integrity: null },
  { encryption: AES_256_CBC, integrity: HMAC_SHA256_128 },
  { encryption: AES_128_CBC, integrity: HMAC_SHA1_96 },
  { encryption: AES_256_CBC, integrity: HMAC_SHA384_192 },
  { encryption: AES_128_CBC, integrity: HMAC_SHA512_256 },
] as const;

function keysFor({ encryption, integrity }: (typeof PROTECTIONS)[number]): DirectionKeys {
  return {
    encryption,
    integrity,
    key: randomBytes(encryption.keyBytes),
    salt: randomBytes(encryption.saltBytes),
    integrityKey: randomBytes(integrity?.keyBytes ?? 0),
  };
}

const packet = (version: 4 | 6, sizeBytes: number): Buffer => Buffer.alloc(sizeBytes, version << 4);

describe("ESP", () => {
  it.each(PROTECTIONS)("carries packets of every length by $encryption.cipher", (protection) => {
    const keys = keysFor(protection);
    const sender = new EspSender(keys, SPI, randomBytes);
    const receiver = new EspReceiver(keys, SPI);
    for (let sizeBytes = 1; sizeBytes <= 100; sizeBytes++) {
      const sent = packet(sizeBytes % 2 === 0 ? 4 : 6, sizeBytes);
      const datagram = sender.seal(sent);
      expect(datagram.readUInt32BE(4)).toBe(sizeBytes);
      expect(receiver.open(datagram)).toEqual(sent);
    }
  });

  it.each(PROTECTIONS)("takes nothing that was changed, by $encryption.cipher", (protection) => {
    const keys = keysFor(protection);
    const datagram = new EspSender(keys, SPI, randomBytes).seal(packet(4, 40));
    for (let at = 0; at < datagram.length; at++) {
      const changed = Buffer.from(datagram);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x10, at);
      expect(new EspReceiver(keys, SPI).open(changed)).toBeUndefined();
      expect(new EspReceiver(keys, SPI).open(datagram.subarray(0, at))).toBeUndefined();
    }
  });

  property([fc.array(fc.nat(199), { maxLength: 400 })])(
    "takes each packet once, in any order, unless it comes more than 64 late",
    (order) => {
      const keys = keysFor(PROTECTIONS[0]);
      const sender = new EspSender(keys, SPI, randomBytes);
      const datagrams = Array.from({ length: 200 }, (_, index) => sender.seal(packet(4, 20 + index)));
      const receiver = new EspReceiver(keys, SPI);
      const seen = new Set<number>();
      let highest = -1;
      for (const index of order) {
        const isWanted = !seen.has(index) && highest - index < 64;
        const opened = receiver.open(datagrams[index] ?? Buffer.alloc(0));
        expect(opened?.length).toBe(isWanted ? 20 + index : undefined);
        if (isWanted) seen.add(index);
        highest = isWanted ? Math.max(highest, index) : highest;
      }
    },
  );
});
