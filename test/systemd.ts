/**
 * A systemd of our own that runs units as an operator's does, with all that they ask for: users, state folders, read-only systems, system
 * call filters. It is the first process of namespaces that end with it, and sees this machine's files under its own /etc, /var/lib, /opt
 * and /run; the network is its own, too, and some ports are brought to it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./service.ts";

const UNIFIED = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
const SYSTEMD = "/lib/systemd/systemd";
/** A user and a group of their own, like those that `useradd --system` makes. */
const USER = "sonde:x:61184:61184::/nonexistent:/usr/sbin/nologin";
/** Targets that every service waits for; nothing of the machine's own is started. */
const TARGETS = ["sysinit", "basic", "shutdown", "network-online", "multi-user"];

/** What a service and its end say goes to a file. */
const SAID = `[Service]
StandardOutput=append:/run/said/%n
StandardError=append:/run/said/%n
ExecStopPost=/bin/sh -c 'echo "ended: $SERVICE_RESULT, $EXIT_CODE $EXIT_STATUS"'
`;

export interface Systemd {
  /** Words before a command that is to run as a root user of that machine. */
  readonly within: readonly string[];
  /** Its view of a file, for us. */
  file(path: string): string;
  /** @returns what it said. @throws with what it said when it fails */
  systemctl(...words: readonly string[]): string;
  /** Of a unit, by name. */
  property(unit: string, name: string): string;
  /** Everything that it wrote; for each end a line `ended: <result>, <how> <status>` (systemd.exec(5), $SERVICE_RESULT). */
  output(unit: string): string;
  stop(): Promise<void>;
}

/** Of this process: each has a group of its own. */
let started = 0;

/**
 * @param unitDirs folders of unit files
 * @param checkout what stands in /opt/sonde
 * @param release what of it stands in /opt/sonde-0.1.0 instead, where nothing is installed yet: no link, no user, no /etc/sonde
 */
export async function startSystemd(
  unitDirs: readonly string[],
  checkout: string,
  release: readonly string[] = [],
): Promise<Systemd> {
  const root = UNIFIED.find((path) => isThere(join(path, "cgroup.controllers")));
  if (root === undefined) throw new Error("there is no cgroup2 file system");
  const cgroup = join(root, `sonde-test-${process.pid}-${++started}`);
  const words = [
    "-C",
    "-m",
    "-n",
    "-p",
    "-i",
    "-u",
    "-f",
    "--mount-proc",
    "--kill-child",
    "bash",
    "-c",
    inside(unitDirs, checkout, release),
  ];
  const enter = `mkdir -p ${cgroup} && echo $$ > ${cgroup}/cgroup.procs && exec setpriv --pdeathsig KILL unshare "$@"`;
  const child = spawn("bash", ["-c", enter, "bash", ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  }
  const stop = async (): Promise<void> => {
    await killed(child);
    await eventually(() => removeCgroups(cgroup));
  };
  try {
    const pid = await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`systemd did not start: ${said}`);
      const [first] = childrenOf(child.pid ?? 0);
      return first !== undefined && readFileSync(`/proc/${first}/comm`, "utf8") === "systemd\n" ? first : undefined;
    }, 30_000);
    const running = systemdAt(pid, stop);
    await eventually(async () => isUp(running), 30_000);
    return running;
  } catch (error) {
    await stop();
    throw new Error(`${String(error)}: ${said}`);
  }
}

function systemdAt(pid: number, stop: () => Promise<void>): Systemd {
  const systemctl = (...words: readonly string[]): string =>
    execFileSync("nsenter", ["-t", String(pid), "-m", "-p", "systemctl", "--no-pager", ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
  const file = (path: string): string => join(`/proc/${pid}/root`, path);
  return {
    within: ["nsenter", "-t", String(pid), "-m", "-n", "-p", "-i", "-u", "--wd=/"],
    file,
    systemctl,
    property: (unit, name) => systemctl("show", "--value", "--property", name, unit).trim(),
    output(unit) {
      const path = file(`/run/said/${unit}`);
      return isThere(path) ? readFileSync(path, "utf8") : "";
    },
    stop,
  };
}

async function isUp({ systemctl }: Systemd): Promise<true | undefined> {
  try {
    return systemctl("is-active", "ready.target").trim() === "active" ? true : undefined;
  } catch {
    return undefined;
  }
}

/** What the first process does before it becomes systemd. */
function inside(unitDirs: readonly string[], checkout: string, release: readonly string[]): string {
  return [
    "set -e",
    "mount --make-rprivate /",
    "ip link set lo up",
    "umount -R /sys/fs/cgroup 2>/dev/null || true",
    "mount -t cgroup2 none /sys/fs/cgroup",
    "mount -t tmpfs tmpfs /run",
    "mkdir -p /run/etc/upper /run/etc/work /run/systemd/system /run/said",
    "mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc/upper,workdir=/run/etc/work /etc",
    ...(release.length === 0
      ? [`echo ${USER} >> /etc/passwd; echo sonde:x:61184: >> /etc/group`, "mkdir -p /etc/sonde"]
      : ["rm -rf /etc/sonde"]),
    "mount -t tmpfs tmpfs /etc/systemd && mkdir /etc/systemd/system",
    // Its own units would start what this machine is for.
    "mount -t tmpfs tmpfs /usr/lib/systemd/system",
    "mount -t tmpfs tmpfs /var/lib",
    `mkdir /run/checkout && mount --bind ${checkout} /run/checkout`,
    "mount -t tmpfs tmpfs /opt",
    ...(release.length === 0
      ? ["mkdir /opt/sonde && mount --move /run/checkout /opt/sonde"]
      : // Links, so that a page may delete the folder.
        ["mkdir /opt/sonde-0.1.0", ...release.map((name) => `ln -s /run/checkout/${name} /opt/sonde-0.1.0/`)]),
    ...unitDirs.map((dir) => `cp ${dir}/*.service /etc/systemd/system/`),
    // No journal: what a service says is read from a file.
    "mkdir -p /etc/systemd/system/service.d",
    `cat > /etc/systemd/system/service.d/said.conf <<'END'\n${SAID}END`,
    `for name in ${TARGETS.join(" ")} ready; do printf '[Unit]\\nDefaultDependencies=no\\n' > /etc/systemd/system/$name.target; done`,
    // As the first process of a machine makes them, and a container's manager for it: what a helper of systemd mounts for a unit in a mount
    // namespace of its own, its credentials, comes here only so. Nothing of it leaves: the first line has cut the ties with the outside.
    "mount --make-rshared /",
    `exec env -i container=sonde PATH=/usr/sbin:/usr/bin:/sbin:/bin ${SYSTEMD} --system --unit=ready.target --log-target=console --show-status=no`,
  ].join("\n");
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** When the first process of a namespace is killed, the kernel kills all others; the first ends after them. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const all = childrenOf(child.pid ?? 0);
  if (all.length === 0) child.kill("SIGKILL");
  for (const pid of all) process.kill(pid, "SIGKILL");
  await gone;
}

/** @returns undefined while a process is in one of them */
async function removeCgroups(folder: string): Promise<true | undefined> {
  try {
    for (const path of foldersIn(folder)) rmdirSync(path);
    return true;
  } catch {
    return undefined;
  }
}

/** The inmost first. */
function foldersIn(folder: string): readonly string[] {
  const inner = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
  return [...inner.flatMap(({ name }) => foldersIn(join(folder, name))), folder];
}

function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
}
