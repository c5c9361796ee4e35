import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { SEALED_CELLS } from "../sealed-cells.ts";
import type { Sealing } from "../sealed-text.ts";
import type { Location } from "../sql/coordination/locations-port.ts";
import { newKeyLine } from "./keys.ts";
import { type LocationKeys, openLocationKeys } from "./location-keys.ts";
import { openLocationSealing, openSealing } from "./sealing.ts";

describe("location keys", () => {
  let folder = "";
  let operator: Sealing;
  let rows: Location[] = [];
  let errors: unknown[] = [];
  let keys: LocationKeys | undefined;

  beforeEach(() => {
    folder = temporaryFolder();
    operator = openSealing({ keyFile: join(folder, "sealing.key"), createIfMissing: true });
    rows = [];
    errors = [];
  });
  afterEach(() => {
    keys?.close();
  });

  const open = async () => {
    keys = await openLocationKeys({
      locations: { all: async () => rows },
      sealing: operator,
      onError: (error) => errors.push(error),
    });
    return keys;
  };
  const sealed = (code: string, key: string): string => operator.seal(SEALED_CELLS.location(code), key);
  const rowOf = (code: string, key: string, next: string | null = null): Location => ({
    code,
    sealedKey: sealed(code, key),
    nextSealedKey: next === null ? null : sealed(code, next),
    createdAtMs: 0,
  });
  /** A checker with this file. */
  function checkerWith(...lines: readonly string[]): Sealing {
    const keyFile = join(folder, "checker.key");
    writeFileSync(keyFile, `# Sonde: key of a location\n${lines.join("\n")}\n`);
    return openLocationSealing(keyFile);
  }

  it("seal what the checkers of the location open, and no other checkers", async () => {
    const [de, nl] = [newKeyLine(), newKeyLine()];
    rows = [rowOf("de", de), rowOf("nl", nl)];
    const { codes, sealingOf } = await open();
    expect(codes()).toEqual(["de", "nl"]);
    const text = sealingOf("de")?.seal("runs de 1", "secret") ?? "";
    expect(checkerWith(de).open("runs de 1", text)).toBe("secret");
    expect(() => checkerWith(de).open("runs de 2", text)).toThrow();
    expect(() => checkerWith(nl).open("runs de 1", text)).toThrow();
    expect(() => sealingOf("nl")?.open("runs de 1", text)).toThrow();
    expect(sealingOf("fr")).toBeUndefined();
  });

  it("change without a moment in which checkers and schedulers do not understand each other", async () => {
    const [before, next] = [newKeyLine(), newKeyLine()];
    rows = [rowOf("de", before)];
    const opened = await open();
    const works = (checker: Sealing): void => {
      const ours = opened.sealingOf("de");
      expect(checker.open("runs", ours?.seal("runs", "out") ?? "")).toBe("out");
      expect(ours?.open("outcomes", checker.seal("outcomes", "back"))).toBe("back");
    };
    works(checkerWith(before));
    // Rotated: checkers still have the old file, then the new one.
    rows = [rowOf("de", before, next)];
    await opened.refresh();
    works(checkerWith(before));
    works(checkerWith(next, before));
    rows = [rowOf("de", next)];
    await opened.refresh();
    works(checkerWith(next, before));
    works(checkerWith(next));
    expect(() => works(checkerWith(before))).toThrow();
  });

  it("says which key cannot be opened, and serves the others", async () => {
    rows = [{ ...rowOf("de", newKeyLine()), sealedKey: "1.00000000.AAAA" }, rowOf("nl", newKeyLine())];
    const { sealingOf } = await open();
    expect(errors).toHaveLength(1);
    expect([sealingOf("de"), sealingOf("nl") !== undefined]).toEqual([undefined, true]);
  });
});
