import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../config.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { chooseDemoData, ForeignDataError, markDemoFolder } from "./data-folder.ts";

const root = temporaryFolder();

const folder = () => mkdtempSync(join(root, "data-"));
const of = (dataDir: string, env: Readonly<Record<string, string>> = {}) =>
  loadConfig({ SONDE_DATA_DIR: dataDir, SONDE_SEALING_KEY_FILE: "/key", ...env });
const used = () => {
  const dataDir = folder();
  writeFileSync(join(dataDir, "control.sqlite"), "");
  return dataDir;
};
const yes = async () => true;
const no = async () => false;

it("is a folder beside the usual one, which stays as it is", async () => {
  const usual = used();
  const { config, isOwn } = await chooseDemoData(of(usual), false, null);
  expect([config.dataDir, isOwn]).toEqual([`${usual}-demo`, true]);
});

it("is the folder that is given, when it is new or of a demo before", async () => {
  const given = folder();
  const first = await chooseDemoData(of(given), true, null);
  expect([first.config.dataDir, first.isOwn]).toEqual([given, true]);
  const before = used();
  markDemoFolder(of(before));
  expect((await chooseDemoData(of(before), true, null)).isOwn).toBe(true);
});

it.each([
  ["a used folder", {}, "data folder"],
  ["a database", { SONDE_DATABASE_URL: "postgres://u:s3cret@db/sonde" }, "SONDE_DATABASE_URL"],
  ["a result store", { SONDE_CLICKHOUSE_URL: "http://u:s3cret@ch" }, "SONDE_CLICKHOUSE_URL"],
  ["a Redis", { SONDE_REDIS_URL: "redis://:s3cret@r" }, "SONDE_REDIS_URL"],
])("is another place only when the user says yes: %s", async (_name, env, words) => {
  const config = of(used(), env);
  const questions: string[] = [];
  const asked = await chooseDemoData(config, true, (question) => {
    questions.push(question);
    return yes();
  });
  expect([asked.config.dataDir, asked.isOwn]).toEqual([config.dataDir, false]);
  expect(questions.join()).toContain(words);
  for (const ask of [no, null]) {
    const refused = chooseDemoData(config, true, ask);
    await expect(refused).rejects.toThrow(ForeignDataError);
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.not.toThrow(/s3cret|\n/);
  }
  expect(existsSync(join(config.dataDir, "demo"))).toBe(false);
});
