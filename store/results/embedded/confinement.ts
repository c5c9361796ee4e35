/**
 * What the embedded ClickHouse may do: read its own code and the system's libraries, write its folder, listen on its port. It connects to nothing,
 * starts nothing, and signals nothing, so that neither a flaw of the engine nor a table function (url, file, executable, remote) leads out of it.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Confinement } from "../../../native/sandbox/confined.ts";
import type { FileAccess, FileRule } from "../../../native/sandbox/landlock.ts";

/** Of the loader, glibc, Node and the engine: what it asks the kernel about itself and the machine is in /proc and /sys. */
const LIBRARIES = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];
const READ = [
  "/proc",
  "/sys",
  "/etc/localtime",
  "/etc/timezone",
  "/usr/share/zoneinfo",
  "/etc/ssl/openssl.cnf",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/hosts",
];
const DEVICES = ["/dev/null", "/dev/urandom", "/dev/random"];
/** CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER (linux/capability.h): for root on a folder of another user. */
const FILE_CAPABILITIES = [0, 1, 3];
/** From the front's file up to where built files begin. */
const TO_BUILT = "../../..";

export interface FrontNeeds {
  /** The engine's folder, absolute. */
  readonly dir: string;
  /** 0: any. */
  readonly port: number;
  readonly frontFile: URL;
}

export function confinementOf({ dir, port, frontFile }: FrontNeeds): Confinement {
  const built = fileURLToPath(new URL(TO_BUILT, frontFile));
  return {
    rules: {
      files: [
        ...all([process.execPath, ...LIBRARIES], "run"),
        ...all([built, ...packagesAbove(built), ...READ], "read"),
        ...all(DEVICES, "device"),
        ...all([dir], "write"),
      ],
      listens: [port],
      connects: [],
    },
    mayUseDatagrams: false,
    reach: "none",
    routes: "any",
    ownId: null,
    capabilities: FILE_CAPABILITIES,
    largestFileBytes: null,
  };
}

function all(paths: readonly string[], access: FileAccess): readonly FileRule[] {
  return paths.map((path) => ({ path, access }));
}

/** Where Node looks for packages and for what kind of module a file is: not all of the checkout, where a data folder may lie. */
function packagesAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = dirname(join(folder, "x")); ; at = dirname(at)) {
    found.push(...[join(at, "node_modules"), join(at, "package.json")].filter((path) => existsSync(path)));
    if (at === dirname(at)) return found;
  }
}
