/** Builds a core from the pinned Go module beside this file; its go.sum holds the checksum of every dependency. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Engine } from "../../model/subscription.ts";
import { makeFolder } from "../../native/make-folder.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { cores } from "./choice.ts";
import { coresFolder, errorOutputAbout, type FoundCore, PROGRAMS, versionOf } from "./program.ts";

/** Cannot be built, or is not what it should be; the message says what to do. */
class CoreError extends Error {
  override readonly name = "CoreError";
}

/** What Go prints is long; its end says what went wrong. */
const LAST_LINES = 5;
/** Of a cold build on a slow machine, ms. */
const BUILD_MS = 30 * 60_000;

/** @returns where it is now. @throws CoreError */
export async function installCore(engine: Engine, dataDir: string): Promise<FoundCore> {
  const { file, package: main, tags, linked } = PROGRAMS[engine];
  const folder = coresFolder(dataDir);
  makeFolder(folder);
  const built = join(folder, `.${file}.new`);
  const args = ["build", "-trimpath", "-mod=readonly", "-buildvcs=false", "-tags", tags.join(","), "-ldflags", linked];
  // Without C, so that the program runs on any Linux of this kind.
  await runEnv(["CGO_ENABLED=0", "go", ...args, "-o", built, main], moduleFolder(file));
  const found: FoundCore = { engine, path: join(folder, file), from: "data folder" };
  await writeFile(`${found.path}.sha256`, `${await digestOf(built)}\n`);
  await rename(built, found.path);
  const fault = await faultOf(found);
  if (fault === undefined) return found;
  await rm(found.path, { force: true });
  throw new CoreError(`${file} was built and does not work: ${fault}`);
}

/** Built files lie elsewhere than the sources. */
function moduleFolder(file: string): string {
  const places = [`./${file}/`, `../../../engine/cores/${file}/`].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = places.find((path) => existsSync(join(path, "go.mod")));
  if (folder === undefined) throw new CoreError(`engine/cores/${file}/go.mod is missing from this installation`);
  return folder;
}

function runEnv(args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("env", [...args], { cwd, timeout: BUILD_MS, maxBuffer: 64 * 1024 * 1024 }, (error, _, stderr) => {
      if (error === null) return resolve();
      // env(1): 127 is a command that is not there.
      const isMissing = error.code === 127;
      const said = stderr.trim().split("\n").slice(-LAST_LINES).join("\n");
      reject(
        new CoreError(isMissing ? "Go is needed to build it: install Go 1.26 or later (https://go.dev/dl)" : said),
      );
    });
  });
}

async function digestOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

/** One config for each thing that a build can lack: QUIC, uTLS with REALITY, gRPC. */
const SAMPLES = [
  "vless://3f1d6a52-7f0c-4c1e-9b7e-2d5a8c4e6b10@192.0.2.1:443?security=reality&sni=a.test&fp=chrome&pbk=BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc",
  "vless://3f1d6a52-7f0c-4c1e-9b7e-2d5a8c4e6b10@192.0.2.1:443?security=tls&sni=a.test&fp=chrome&type=grpc&serviceName=a",
  "hysteria2://secret@192.0.2.1:443?sni=a.test&obfs=salamander&obfs-password=salt",
];

/** @returns what is wrong with the program; undefined when it is what Sonde's files are made for */
export async function faultOf(found: FoundCore): Promise<string | undefined> {
  const version = await versionOf(found);
  if (version === undefined) return `${found.path} does not answer as ${PROGRAMS[found.engine].file}`;
  const { version: wanted, tags, file } = PROGRAMS[found.engine];
  if (version.version !== wanted) return `it is ${file} ${version.version}, and ${wanted} is needed`;
  const missing = tags.filter((tag) => !version.tags.includes(tag));
  if (missing.length > 0) return `it was built without ${missing.join(", ")}`;
  const entries = SAMPLES.map((link, index) => ({
    tag: `n_${index}`,
    config: parseProxyLink(link).config,
    address: "192.0.2.1",
    password: "password",
  }));
  const batch = { entries, port: 1_024, identityPassword: "password", isVerbose: false };
  const errorOutput = await errorOutputAbout(found, cores[found.engine].render(batch));
  if (errorOutput !== undefined) return `it refuses a config: ${errorOutput.split("\n").at(-1)}`;
  return found.from === "data folder" ? await changeSince(found.path) : undefined;
}

async function changeSince(path: string): Promise<string | undefined> {
  const written = await readFile(`${path}.sha256`, "utf8").catch(() => "");
  return written.trim() === (await digestOf(path)) ? undefined : "it is not the file that was installed";
}
