import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

it("names settings that this V8 has: of others it only complains", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8", maxBuffer: 4 * 1024 * 1024 });
  expect(known).toContain("--bytecode-old-age ");
  expect(known).toContain("--flush-baseline-code ");
});
