import { expect, test } from "vitest";
import { shareHeapArenas } from "./heap-arenas.ts";

test("glibc takes the limit, and where there is no glibc nothing happens", () => {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  expect(shareHeapArenas()).toBe(header.glibcVersionRuntime !== undefined);
});
