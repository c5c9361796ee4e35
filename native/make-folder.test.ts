import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { makeFolder } from "./make-folder.ts";

const dir = temporaryFolder();

it("makes all that is missing, closed to others, and leaves what is there", () => {
  const path = join(dir, "a", "b", "c");
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it("ends where nothing can be made", () => {
  expect(() => makeFolder("/proc/sonde-test/data")).toThrow(/ENOENT/);
  const file = join(dir, "file");
  writeFileSync(file, "");
  expect(() => makeFolder(file)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, "data"))).toThrow(/EEXIST|ENOTDIR/);
});
