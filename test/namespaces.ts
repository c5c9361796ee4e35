/** Network namespaces of tests. Their names end with the test's process (`<prefix>…-<pid>`), so that the next test can remove what a killed one left. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";

/** Runs iproute2's `ip`; its complaint is the error. */
export function ip(...words: readonly string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
}

/** What it prints, by lines. */
export function listed(...words: readonly string[]): readonly string[] {
  return execFileSync("ip", words, { encoding: "utf8" }).split("\n");
}

/** Removes the namespaces of tests that are no more. */
export function sweepNamespaces(prefix: string): void {
  for (const line of listed("netns", "list")) {
    const [name = ""] = line.split(" ");
    const pid = name.startsWith(prefix) ? Number(name.split("-").at(-1)) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) removeNamespace(name);
  }
}

/** Ends its processes first. A link goes with the namespace that has one of its ends. */
export function removeNamespace(name: string): void {
  try {
    for (const pid of listed("netns", "pids", name).map(Number)) if (pid > 0) kill(pid);
    ip("netns", "del", name);
  } catch (error) {
    // Two tests may sweep at the same time.
    console.warn(`the namespace ${name} could not be removed: ${String(error).split("\n")[0]}`);
  }
  rmSync(`/etc/netns/${name}`, { recursive: true, force: true });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended in between.
  }
}
