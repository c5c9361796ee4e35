import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageOf, Memory } from "../../native/sandbox/image.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { confinementOf, standsAlone } from "./confinement.ts";

const folder = temporaryFolder();

const entry = (link: string, index: number) => ({
  tag: `n_${index}`,
  config: parseProxyLink(link).config,
  address: "203.0.113.9",
  password: "p",
});
const VLESS = "vless://5ec2e700-1111-4222-8333-444455556666@p.test-site.org";
const alone = join(folder, "alone");
const NEEDS = { engine: "singbox", path: alone, entries: [], port: 1, ownId: null, isBrokered: false } as const;
const HELD = { reach: "any", routes: "unheard" };
writeFileSync(alone, imageOf("x64", [], new Memory()));

describe("what a core may do", () => {
  it("is to start itself, listen on its port, and connect to its servers' ports", () => {
    const entries = [entry(`${VLESS}:443`, 1), entry(`${VLESS}:8443`, 2)];
    const { rules, ...rest } = confinementOf({ ...NEEDS, entries, port: 1_080 });
    expect(rules.files.filter(({ access }) => access !== "read")).toEqual([
      { path: alone, access: "run" },
      { path: "/dev/null", access: "device" },
      { path: "/dev/urandom", access: "device" },
      { path: "/dev/random", access: "device" },
    ]);
    expect([rules.listens, rules.connects]).toEqual([[1_080], [443, 8_443]]);
    expect(rest).toEqual({ ...HELD, mayUseDatagrams: false, ownId: null, capabilities: [], largestFileBytes: 0 });
  });

  it("connects to nothing by itself where a broker does it", () => {
    const brokered = confinementOf({ ...NEEDS, engine: "xray", entries: [entry(`${VLESS}:443`, 1)], isBrokered: true });
    expect(brokered).toMatchObject({ reach: "brokered", routes: "none", rules: { connects: [] } });
  });

  it("has datagrams where a config travels in them", () => {
    const entries = [entry(`${VLESS}:443`, 1), entry("hy2://pw@p.test-site.org:443", 2)];
    expect(confinementOf({ ...NEEDS, entries, ownId: 7 })).toMatchObject({
      mayUseDatagrams: true,
      ownId: 7,
    });
  });

  it("has the system's programs and libraries where the program needs others", () => {
    const script = join(folder, "script");
    writeFileSync(script, "#!/bin/sh\n");
    const { files } = confinementOf({ ...NEEDS, path: script }).rules;
    expect(files.filter(({ access }) => access === "run").map(({ path }) => path)).toEqual([
      folder,
      "/bin",
      "/lib",
      "/lib64",
      "/usr",
      "/etc/ld.so.cache",
      "/etc/alternatives",
    ]);
  });
});

describe("a program that stands alone", () => {
  const image = imageOf("x64", [], new Memory());
  it("names no interpreter", () => {
    expect(standsAlone(image.subarray(0, 4_096))).toBe(true);
    const other = Buffer.from(image.subarray(0, 4_096));
    // The first segment becomes PT_INTERP.
    other.writeUInt32LE(3, 64);
    expect(standsAlone(other)).toBe(false);
    expect([Buffer.alloc(0), Buffer.from("#!/bin/sh\n"), image.subarray(0, 100)].map(standsAlone)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("is asked of any bytes without a fault", () => {
    const start = Buffer.from(image.subarray(0, 256));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(255), fc.nat(255)), { maxLength: 8 }), fc.nat(256), (changes, length) => {
        const bytes = Buffer.from(start);
        for (const [at, value] of changes) bytes[at] = value;
        expect(typeof standsAlone(bytes.subarray(0, length))).toBe("boolean");
      }),
    );
  });
});
