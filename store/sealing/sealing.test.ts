import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { StoreError } from "../errors.ts";
import { SEALED_CELLS, SEALED_FOR } from "../sealed-cells.ts";
import type { Sealing } from "../sealed-text.ts";
import type { Meta } from "../sql/coordination/meta-port.ts";
import { openCheckedSealing, openSealing } from "./sealing.ts";

let folder = "";
let keyFile = "";

beforeEach(() => {
  folder = temporaryFolder();
  keyFile = join(folder, "sealing.key");
});

function newSealing(): Sealing {
  return openSealing({ keyFile, createIfMissing: true });
}

function metaInMemory(): Meta {
  const values = new Map<string, string>();
  return {
    get: async (name) => values.get(name),
    set: async (name, value) => void values.set(name, value),
  };
}

describe("the key file", () => {
  it("is made once, whole, for us alone", () => {
    const { keyId } = newSealing();
    const key = readFileSync(keyFile);
    expect(key).toHaveLength(32);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(newSealing().keyId).toBe(keyId);
    expect(readFileSync(keyFile).equals(key)).toBe(true);
    expect(readdirSync(folder)).toEqual(["sealing.key"]);
  });

  it("may be written as bytes, hex or base64", () => {
    const key = randomBytes(32);
    const forms = [
      key,
      key.toString("hex"),
      `${key.toString("base64")}\n`,
      key.toString("base64url"),
      key.toString("hex").toUpperCase(),
    ];
    const sealed = forms.map((form) => {
      writeFileSync(keyFile, form);
      return openSealing({ keyFile, createIfMissing: false }).seal("p", "x");
    });
    for (const text of sealed) expect(newSealing().open("p", text)).toBe("x");
  });

  it.each([
    ["nothing", ""],
    ["too little", "a".repeat(31)],
    ["too much", "a".repeat(33)],
    ["words", "this is not a key, but a text of some length and no more"],
  ])("with %s in it is refused", (_what, content) => {
    writeFileSync(keyFile, content);
    expect(() => newSealing()).toThrow(/holds no key/);
  });

  it("must be there unless it may be made", () => {
    expect(() => openSealing({ keyFile, createIfMissing: false })).toThrow(/cannot read the sealing key .* \(ENOENT\)/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is named when it cannot be made or read", () => {
    expect(() => openSealing({ keyFile: join(folder, "no", "key"), createIfMissing: true })).toThrow(/cannot make/);
    mkdirSync(keyFile);
    expect(() => newSealing()).toThrow(StoreError);
  });
});

describe("sealing", () => {
  it("opens what it sealed, for the same purpose only", () => {
    const sealing = newSealing();
    const any = fc.string({ unit: "grapheme" });
    assertProperty(
      fc.property(any, any, any, (purpose, other, text) => {
        const sealed = sealing.seal(purpose, text);
        mustEqual(sealing.open(purpose, sealed), text);
        if (other !== purpose) expect(() => sealing.open(other, sealed)).toThrow(StoreError);
      }),
      { numRuns: 20_000 },
    );
  });

  it("never opens a text that was changed", () => {
    const sealing = newSealing();
    const sealed = sealing.seal("p", "secret");
    const change = fc.tuple(fc.nat(sealed.length - 1), fc.string({ minLength: 0, maxLength: 3 }));
    assertProperty(
      fc.property(change, ([at, text]) => {
        const changed = sealed.slice(0, at) + text + sealed.slice(at + 1);
        try {
          mustEqual(sealing.open("p", changed), "secret");
          // The last letter of base64url carries unused bits, and letters outside the alphabet are passed over.
          const bytes = (of: string): string => Buffer.from(of.split(".")[2] ?? "", "base64url").toString("hex");
          mustEqual(bytes(changed), bytes(sealed));
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
        }
      }),
      { numRuns: 100_000 },
    );
  });

  it("throws StoreError for whatever else is given", () => {
    const sealing = newSealing();
    const text = fc.oneof(
      fc.string(),
      fc.base64String().map((body) => `1.${sealing.keyId}.${body}`),
    );
    assertProperty(
      fc.property(text, (text) => {
        expect(() => sealing.open("p", text)).toThrow(StoreError);
      }),
      { numRuns: 100_000 },
    );
  });

  it("never seals alike twice, and shows nothing of the text", () => {
    const sealing = newSealing();
    expect(sealing.seal("p", "secret")).not.toBe(sealing.seal("p", "secret"));
    const sealed = sealing.seal("p", "secret");
    expect(Buffer.from(sealed.split(".")[2] ?? "", "base64url").includes("secret")).toBe(false);
  });

  const place = fc.record({
    purpose: fc.constantFrom(...Object.values(SEALED_FOR)),
    column: fc.string({ unit: "grapheme" }),
    row: fc.string({ unit: "grapheme" }),
  });

  it("of a place opens there only: another column or row is refused and named", () => {
    const sealing = newSealing();
    assertProperty(
      fc.property(place, place, fc.string({ unit: "grapheme" }), (here, there, text) => {
        const sealed = sealing.seal(here, text);
        expect(sealed).toMatch(/^2\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
        mustEqual(sealing.open(here, sealed), text);
        expect(() => sealing.open(here.purpose, sealed)).toThrow(StoreError);
        if (here.column === there.column && here.row === there.row) return;
        expect(() => sealing.open(there, sealed)).toThrow(`${there.column} of row ${there.row}`);
      }),
      { numRuns: 5_000 },
    );
  });

  it("of a place opens what was sealed for its purpose before, and that is all it takes", () => {
    const sealing = newSealing();
    const before = openSealing({ keyFile, createIfMissing: false, bindsRows: () => false });
    assertProperty(
      fc.property(place, fc.string(), (here, text) => {
        const old = before.seal(here, text);
        expect(old).toMatch(/^1\./);
        mustEqual(sealing.open(here, old), text);
        mustEqual(sealing.open(here.purpose, old), text);
        // The first form under the second's number, and the other way round, is neither.
        expect(() => sealing.open(here, `2${old.slice(1)}`)).toThrow(StoreError);
        expect(() => sealing.open(here, `1${sealing.seal(here, text).slice(1)}`)).toThrow(StoreError);
      }),
      { numRuns: 5_000 },
    );
    for (const other of ["0", "3", "", "22"]) {
      expect(() =>
        sealing.open(SEALED_CELLS.tunnel(1), `${other}${sealing.seal(SEALED_CELLS.tunnel(1), "x").slice(1)}`),
      ).toThrow("not in a form that this version knows");
    }
  });

  it("opens vectors of both forms, made with another program", () => {
    // Python's cryptography 48: AESGCM(key).encrypt(nonce, text, aad), key 00…1f, nonce 00…0b.
    writeFileSync(keyFile, Buffer.from(Array.from({ length: 32 }, (_, index) => index)));
    const sealing = openSealing({ keyFile, createIfMissing: false });
    expect(sealing.keyId).toBe("31d77c7c");
    expect(sealing.open("webhook", "1.31d77c7c.AAECAwQFBgcICQoLMGqlfqa6rXXodbijHMEUrfUeMY6g8k0pfA")).toBe("whsec_one");
    expect(sealing.open(SEALED_CELLS.webhook(7), "1.31d77c7c.AAECAwQFBgcICQoLMGqlfqa6rXXodbijHMEUrfUeMY6g8k0pfA")).toBe(
      "whsec_one",
    );
    expect(sealing.open(SEALED_CELLS.webhook(7), "2.31d77c7c.AAECAwQFBgcICQoLMGqlfqa6tmziMIpi7UbdsNs7BYvc_Sd5dQ")).toBe(
      "whsec_two",
    );
    expect(() =>
      sealing.open(SEALED_CELLS.webhook(8), "2.31d77c7c.AAECAwQFBgcICQoLMGqlfqa6tmziMIpi7UbdsNs7BYvc_Sd5dQ"),
    ).toThrow(/webhooks.secret_sealed of row 8/);
    expect(() =>
      sealing.open(SEALED_CELLS.webhookUrl(7), "2.31d77c7c.AAECAwQFBgcICQoLMGqlfqa6tmziMIpi7UbdsNs7BYvc_Sd5dQ"),
    ).toThrow(/webhooks.url_sealed of row 7/);
  });

  it("repeats nothing of a text that names no key", () => {
    const sealing = newSealing();
    for (const id of ["", "x".repeat(100_000), "DEADBEEF", "deadbeef\n"]) {
      expect(() => sealing.open("p", `1.${id}.AAAA`)).toThrow(
        "a sealed secret is not in a form that this version knows",
      );
    }
  });

  it("names both keys when the wrong one is used", () => {
    const first = newSealing();
    const sealed = first.seal("p", "x");
    rmSync(keyFile);
    const second = newSealing();
    expect(() => second.open("p", sealed)).toThrow(`sealed with key ${first.keyId}, not with key ${second.keyId}`);
  });
});

describe("the check against the control plane", () => {
  it("takes the key of the first start and the same one later", async () => {
    const meta = metaInMemory();
    const first = await openCheckedSealing(meta, { keyFile, createIfMissing: true });
    const again = await openCheckedSealing(meta, { keyFile, createIfMissing: true });
    expect(again.open("p", first.seal("p", "x"))).toBe("x");
  });

  it("stops a start with another key", async () => {
    const meta = metaInMemory();
    const { keyId } = await openCheckedSealing(meta, { keyFile, createIfMissing: true });
    writeFileSync(keyFile, randomBytes(32));
    const refused = openCheckedSealing(meta, { keyFile, createIfMissing: true });
    await expect(refused).rejects.toThrow(
      new RegExp(`is not the one .* \\(key ${keyId}\\): set SONDE_SEALING_KEY_FILE`),
    );
  });

  it("makes no new key where secrets were sealed with a lost one", async () => {
    const meta = metaInMemory();
    await openCheckedSealing(meta, { keyFile, createIfMissing: true });
    rmSync(keyFile);
    await expect(openCheckedSealing(meta, { keyFile, createIfMissing: true })).rejects.toThrow(/is missing.*restore/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
