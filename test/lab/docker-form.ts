/**
 * Sonde in a container of a Docker engine with all of the engine's defaults: its system call filter, capabilities and masked paths. Its network
 * is this machine's, because tests judge by what arrives here.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/** Of this machine, so that the image needs no registry: everything else in the container is the image's own. */
const SYSTEM = ["/usr", "/etc/ssl"] as const;
const IMAGE = "sonde-test-empty";
const LINKS = ["bin", "lib", "lib64"] as const;
/** Of the environment: Docker's client passes on what is named. */
const PASSED =
  "SONDE_PORT SONDE_DATA_DIR SONDE_LOG SONDE_SING_BOX SONDE_METRICS_TOKEN SONDE_PLANS SONDE_LIMITS SONDE_CANARIES SONDE_ALLOW_NETS";

/** @returns the engine's address (`unix:///var/run/docker.sock`); null: none is named */
export function dockerHere(): string | null {
  return process.env.SONDE_TEST_DOCKER ?? null;
}

export interface Container {
  /** Words before Sonde's script. */
  readonly command: readonly string[];
  /** At once; Docker's client cannot pass SIGKILL on. */
  kill(): void;
}

/** @param written folders that it may write. @param read folders that it may read */
export function containerOf(user: number, written: readonly string[], read: readonly string[]): Container {
  const docker = ["docker", "--host", dockerHere() ?? ""];
  makeImage(docker);
  const name = `sonde-test-${process.pid}-${randomUUID()}`;
  const mounts = [
    ...[...SYSTEM, ROOT, ...read].map((path) => `${path}:${path}:ro`),
    ...written.map((path) => `${path}:${path}`),
  ];
  const options = [`--name=${name}`, "--rm", "--init", "--network=host", `--user=${user}:${user}`];
  const passed = PASSED.split(" ").flatMap((setting) => ["--env", setting]);
  const volumes = mounts.flatMap((mount) => ["--volume", mount]);
  const [file = "", ...words] = docker;
  return {
    command: [...docker, "run", ...options, ...volumes, ...passed, IMAGE, process.execPath],
    kill: () => void execFileSync(file, [...words, "kill", name], { timeout: 60_000 }),
  };
}

/** Folders and links alone. */
function makeImage([file = "", ...words]: readonly string[]): void {
  const made = `cd "$(mktemp -d)" && mkdir tmp proc sys dev etc sbin && chmod 1777 tmp && for name in ${LINKS.join(" ")}; do ln -s usr/$name $name; done
    echo root:x:0:0::/root:/bin/sh > etc/passwd && tar -c . && rm -r "$PWD"`;
  const tar = execFileSync("sh", ["-c", made], { maxBuffer: 2 ** 22 });
  execFileSync(file, [...words, "import", "-", IMAGE], { input: tar, timeout: 60_000 });
}
