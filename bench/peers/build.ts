/**
 * Peers from their own sources: a throwaway Go module that requires the exact version, built once into a folder of the temporary
 * directory. Nothing of them is part of the project.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A first build downloads and compiles everything. */
const BUILD_WITHIN_MS = 15 * 60_000;

export interface PeerSource {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  readonly mainPackage: string;
}

/** @returns the binary's path, or why there is none */
export async function build(source: PeerSource): Promise<{ readonly binary: string } | { readonly reason: string }> {
  const folder = join(tmpdir(), "sonde-peers", `${source.name}-${source.version}`);
  const binary = join(folder, source.name);
  if (existsSync(binary)) return { binary };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "go.mod"), `module peer\n\ngo 1.25\n\nrequire ${source.module} ${source.version}\n`);
  writeFileSync(join(folder, "peer.go"), "package peer\n");
  try {
    const words = ["build", "-mod=mod", "-o", binary, source.mainPackage];
    await promisify(execFile)("go", words, { cwd: folder, timeout: BUILD_WITHIN_MS });
    return { binary };
  } catch (error) {
    const said = error instanceof Error ? (error.message.trim().split("\n").at(-1) ?? "") : String(error);
    return { reason: `${source.name} ${source.version} cannot be built here: ${said}` };
  }
}
