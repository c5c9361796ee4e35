import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADA, type Ground, newHeartbeat, newMonitor } from "../../testkit/store/ground.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { SEALED_CELLS, SEALED_FOR } from "../sealed-cells.ts";
import { openControlPlane } from "../sql/control-plane/open.ts";
import type { ControlPlane } from "../sql/control-plane/port.ts";
import type { SchedulerReport } from "../sql/coordination/shards-port.ts";
import { Sqlite } from "../sqlite-library.ts";
import { openFollowedSealing, sealRowsLater, sealRowsNow } from "./row-form.ts";
import { openSealing, ROW_FORM, ROWS_BOUND } from "./sealing.ts";

const URL_IN_CLEAR = "https://ada:m4rk-password@www.test-site.org/a?token=m4rk-token";
const HOOK_IN_CLEAR = "https://hooks.test-site.org/services/m4rk-hook";
const REPORT: SchedulerReport = {
  monitors: 0,
  running: 0,
  waiting: 0,
  silentMonitors: 0,
  skippedTurns: 0,
  spoolRows: 0,
  trouble: null,
};
const SILENT = { info() {}, warn() {} };

describe("secrets of a database of the version before", () => {
  let folder = "";
  let plane: ControlPlane;
  let ground: Ground;
  const options = () => ({ keyFile: join(folder, "sealing.key"), createIfMissing: true });
  const old = () => openSealing({ ...options(), bindsRows: () => false });
  const bytes = (): string =>
    readdirSync(folder)
      .filter((name) => name.startsWith("control.sqlite"))
      .map((name) => readFileSync(join(folder, name), "latin1"))
      .join("");
  let ids = { site: 0, beat: 0, hook: 0 };

  /** As the version before leaves it: addresses in clear, secrets bound to a word. */
  beforeEach(async () => {
    folder = temporaryFolder();
    plane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "api" });
    const first = await openFollowedSealing(plane.meta, options());
    first.close();
    const raw = new Sqlite(join(folder, "control.sqlite"));
    raw.prepare("delete from meta where name = ?").run(ROW_FORM);
    raw.close();
    const made = await plane.accounts.createFirst({
      email: "ada@test-site.org",
      userName: "Ada",
      workspaceName: "Acme",
      plan: "business",
      projectName: "Production",
      nowMs: 1,
    });
    ground = { plane, ...made };
    const token = { sealed: old().seal(SEALED_FOR.heartbeat, "token"), hash: "hash" };
    const secretSealed = old().seal(SEALED_FOR.webhook, "whsec_x");
    const hook = { projectId: made.projectId, url: HOOK_IN_CLEAR, events: null, secretSealed, nowMs: 1 };
    ids = {
      site: (await plane.monitors.create(newMonitor(ground, { settings: { url: URL_IN_CLEAR } }), ADA)).id,
      beat: (await plane.monitors.create(newHeartbeat(ground, { heartbeatToken: token }), ADA)).id,
      hook: (await plane.webhooks.create(hook))?.id ?? 0,
    };
  });
  afterEach(async () => {
    await plane.close();
  });

  const stored = () => {
    const raw = new Sqlite(join(folder, "control.sqlite"));
    const site = raw.prepare("select settings, url_sealed from monitors where id = ?").get(ids.site) as Record<
      string,
      string
    >;
    const hook = raw
      .prepare("select url, url_sealed, secret_sealed from webhooks where id = ?")
      .get(ids.hook) as Record<string, string>;
    const beat = raw.prepare("select token_sealed from heartbeats where monitor_id = ?").get(ids.beat) as Record<
      string,
      string
    >;
    raw.close();
    return { site, hook, beat };
  };

  it("are sealed to their rows before a data folder's owner serves, and nothing is left in its files", async () => {
    expect(bytes()).toContain("m4rk-password");
    const followed = await openFollowedSealing(plane.meta, options());
    expect(followed.sealing.bindsRows).toBe(false);
    const said: unknown[] = [];
    await sealRowsNow(plane, followed, { info: (what) => said.push(what), warn: (what) => said.push(what) });
    const { sealing } = followed;
    expect(sealing.bindsRows).toBe(true);
    const { site, hook, beat } = stored();
    expect(JSON.parse(site.settings ?? "")).toMatchObject({ url: "https://***@www.test-site.org/a?***" });
    expect(sealing.open(SEALED_CELLS.target(ids.site), site.url_sealed ?? "")).toBe(URL_IN_CLEAR);
    expect(hook.url).toBe("https://hooks.test-site.org/***");
    expect(sealing.open(SEALED_CELLS.webhookUrl(ids.hook), hook.url_sealed ?? "")).toBe(HOOK_IN_CLEAR);
    expect(sealing.open(SEALED_CELLS.webhook(ids.hook), hook.secret_sealed ?? "")).toBe("whsec_x");
    expect(sealing.open(SEALED_CELLS.heartbeat(ids.beat), beat.token_sealed ?? "")).toBe("token");
    for (const text of [site.url_sealed, hook.url_sealed, hook.secret_sealed, beat.token_sealed])
      expect(text).toMatch(/^2\./);
    expect(bytes()).not.toContain("m4rk");
    expect(said).toEqual([{ rows: 4 }]);
    expect(await plane.meta.get(ROW_FORM)).toBe(ROWS_BOUND);
    // Once is enough.
    await sealRowsNow(plane, followed, { info: (what) => said.push(what), warn: (what) => said.push(what) });
    expect(said).toHaveLength(1);
    followed.close();
  });

  it("go on where a death left them", async () => {
    const followed = await openFollowedSealing(plane.meta, options());
    const dying = { ...plane, sealed: { ...plane.sealed, scrub: () => Promise.reject(new Error("killed")) } };
    await expect(sealRowsNow(dying, followed, SILENT)).rejects.toThrow("killed");
    expect(await plane.meta.get(ROW_FORM)).not.toBe(ROWS_BOUND);
    await sealRowsNow(plane, followed, SILENT);
    expect(await plane.meta.get(ROW_FORM)).toBe(ROWS_BOUND);
    followed.close();
  });

  it("wait beside a scheduler of the version before, which reads them as it did, and are sealed when it is gone", async () => {
    const followed = await openFollowedSealing(plane.meta, options(), 5);
    const { sealing } = followed;
    await plane.shards.beat("old", "old", REPORT);
    await plane.shards.beat("new", "new", { ...REPORT, readsBoundRows: true });
    const before = stored();
    const later = sealRowsLater(plane, sealing, SILENT, { lookMs: 5, settleMs: 50 });
    for (let look = 0; look < 20; look += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(stored()).toEqual(before);
    expect(sealing.bindsRows).toBe(false);
    // What is written meanwhile is what the version before writes.
    expect(sealing.seal(SEALED_CELLS.heartbeat(ids.beat), "x")).toMatch(/^1\./);
    await plane.shards.forget("old");
    while ((await plane.meta.get(ROW_FORM)) !== ROWS_BOUND) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(sealing.bindsRows).toBe(true);
    expect(stored().site.settings).not.toContain("m4rk");
    expect(stored().hook.url).not.toContain("m4rk");
    await later.close();
    followed.close();
  });

  it("that a process of the version before wrote over a sealed address are sealed again", async () => {
    const followed = await openFollowedSealing(plane.meta, options());
    await sealRowsNow(plane, followed, SILENT);
    const raw = new Sqlite(join(folder, "control.sqlite"));
    const moved = "https://bob:m4rk-later@www.test-site.org/";
    raw.prepare("update monitors set settings = ? where id = ?").run(JSON.stringify({ url: moved }), ids.site);
    raw.close();
    expect((await plane.sealed.reseal(followed.sealing)).resealed).toBe(1);
    const { site } = stored();
    expect(site.settings).toContain("https://***@www.test-site.org/");
    expect(followed.sealing.open(SEALED_CELLS.target(ids.site), site.url_sealed ?? "")).toBe(moved);
    followed.close();
  });
});
