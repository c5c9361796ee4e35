/** A core does not outlive the process that started it, however that ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findCore } from "../engine/cores/program.ts";
import { CORE_PLACES } from "./lab/cores.ts";
import { describeWith } from "./prerequisites.ts";

const HOLDER = fileURLToPath(new URL("./fixtures/core-holder.mjs", import.meta.url));

async function startHolder(): Promise<{ readonly holder: ChildProcess; readonly core: number }> {
  const holder = spawn(process.execPath, [HOLDER, findCore("singbox", CORE_PLACES)?.path ?? ""], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: holder.stdout }), "line");
  return { holder, core: Number(line) };
}

describeWith(["proxy cores", "setpriv"], "a core", () => {
  it.each(["SIGKILL", "SIGTERM"] as const)("ends with us on %s", async (signal) => {
    const { holder, core } = await startHolder();
    expect(existsSync(`/proc/${core}`)).toBe(true);
    const ended = once(holder, "exit");
    holder.kill(signal);
    await ended;
    await expect.poll(() => existsSync(`/proc/${core}`), { timeout: 5_000 }).toBe(false);
  });
});
