import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { serviceDatabase } from "./service-data.ts";

const folder = temporaryFolder();

it("is found, is not there, or cannot be opened: each in words of its own", () => {
  expect(() => serviceDatabase(folder)).toThrow(/^there is no data of a service in .*SONDE_DATA_DIR/);
  const file = join(folder, "control.sqlite");
  writeFileSync(file, "");
  expect(serviceDatabase(folder)).toBe(file);
  expect(() => serviceDatabase(file)).toThrow(/control\.sqlite \(ENOTDIR\): run this as the user/);
});
