/** Acts of `sonde admin` on a store with one workspace, run as the command runs them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { loadConfig } from "../../config.ts";
import type { CreatedWorkspace } from "../../store/sql/accounts/port.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ActGroup, Done } from "./act.ts";
import type { AdminStores } from "./stores.ts";

export const NOW_MS = Date.UTC(2026, 10, 26);

/** @returns runs an act by its words, such as `user unlink 7` without its group's name */
export type RunAct = (words: string, options?: Readonly<Record<string, unknown>>) => Promise<Done>;

/**
 * Opens the store before the tests of the file, and removes it behind them.
 * @param fill what the store has when the tests begin
 */
export function adminRig(
  { acts }: ActGroup,
  fill: (controlPlane: ControlPlane, first: CreatedWorkspace) => Promise<void>,
): { readonly run: RunAct; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "sonde-admin-"));
  let controlPlane: ControlPlane;
  beforeAll(async () => {
    controlPlane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "api" });
    const names = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
    await fill(controlPlane, await controlPlane.accounts.createFirst({ ...names, plan: "pro", nowMs: NOW_MS }));
  });
  afterAll(async () => {
    await controlPlane.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    run: (words, options = {}) => {
      const [name, ...rest] = words.split(" ");
      const act = acts.find(({ usage }) => usage.split(" ")[0] === name);
      if (act === undefined) throw new Error(`there is no act ${name}`);
      const stores = { controlPlane, nowMs: NOW_MS + 5, config: loadConfig({}) } as unknown as AdminStores;
      return act.run(stores, options as never, rest);
    },
  };
}
