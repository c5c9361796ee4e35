/** A rotation of the sealing key, over everything that is sealed, beside a service that goes on. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { configCell, SEALED_CELLS } from "../../store/sealed-cells.ts";
import { keyIdOf, type Sealing } from "../../store/sealed-text.ts";
import { readKeyRing } from "../../store/sealing/keys.ts";
import { rotateSealing } from "../../store/sealing/rotation.ts";
import { openCheckedSealing, openSealing } from "../../store/sealing/sealing.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { ADA, type Ground, importServers, listedServer, newHeartbeat, newMonitor } from "./ground.suite.ts";

const PLACE = SEALED_CELLS.heartbeat;

export function sealedTests(currentGround: () => Ground): void {
  describe("sealed columns", () => {
    let folder = "";
    let keyFile = "";
    let running: Sealing;
    beforeEach(async () => {
      folder = temporaryFolder();
      keyFile = join(folder, "sealing.key");
      running = await openCheckedSealing(currentGround().plane.meta, { keyFile, createIfMissing: true });
    });

    const addHeartbeat = async (name: string, sealing = running): Promise<number> => {
      const sealed = (id: number): string => sealing.seal(PLACE(id), `token of ${name}`);
      const heartbeatToken = { sealed, hash: `hash of ${name}` };
      return (await currentGround().plane.monitors.create(newHeartbeat(currentGround(), { name, heartbeatToken }), ADA))
        .id;
    };
    const sealedOf = async (id: number): Promise<string> =>
      (await currentGround().plane.heartbeats.sealedToken(id)) ?? "";
    const rotate = (makeKey = true) =>
      rotateSealing(currentGround().plane, { keyFile, createIfMissing: false }, makeKey);

    it("are sealed anew over many pages; what runs goes on with the new key", async () => {
      const { plane } = currentGround();
      const names = Array.from({ length: 450 }, (_, index) => `h${index}`);
      const ids: number[] = [];
      for (const name of names) ids.push(await addHeartbeat(name));
      const before = running.keyId;
      const rotation = await rotate();
      expect(rotation).toEqual({ keyId: rotation.keyId, keyIdBefore: before, resealed: 450, unreadable: [] });
      expect(rotation.keyId).not.toBe(before);
      expect([...(await plane.sealed.keyIds())]).toEqual([rotation.keyId]);
      for (const [index, id] of ids.entries()) {
        expect(running.open(PLACE(id), await sealedOf(id))).toBe(`token of h${index}`);
      }
      expect(keyIdOf(await sealedOf(await addHeartbeat("later")))).toBe(rotation.keyId);
      expect(running.keyId).toBe(rotation.keyId);
      await openCheckedSealing(plane.meta, { keyFile, createIfMissing: false });
      expect(readKeyRing(keyFile).map(({ id }) => id)).toEqual([rotation.keyId, before]);

      const second = await rotate();
      expect(second).toMatchObject({ keyIdBefore: rotation.keyId, resealed: 451 });
      expect(readKeyRing(keyFile).map(({ id }) => id)).toEqual([second.keyId, rotation.keyId]);
    });

    it("that were just being sealed with the key before still open, and the next rotation finds them", async () => {
      const { plane } = currentGround();
      const next = (await addHeartbeat("one")) + 1;
      const slow = running.seal(PLACE(next), "token of slow");
      const first = await rotate();
      const heartbeatToken = { sealed: slow, hash: "hash of slow" };
      const { id } = await plane.monitors.create(newHeartbeat(currentGround(), { heartbeatToken }), ADA);
      expect(id).toBe(next);
      const fresh = openSealing({ keyFile, createIfMissing: false });
      expect(fresh.open(PLACE(id), await sealedOf(id))).toBe("token of slow");
      const second = await rotate();
      expect(second.resealed).toBe(2);
      expect(keyIdOf(await sealedOf(id))).toBe(second.keyId);
      expect(readKeyRing(keyFile).map((key) => key.id)).toEqual([second.keyId, first.keyId]);
    });

    it("that cannot be opened stay, are named, and hold their key in the file", async () => {
      const { plane } = currentGround();
      const good = await addHeartbeat("good");
      const before = running.keyId;
      const heartbeatToken = { sealed: running.seal("another purpose", "x"), hash: "h" };
      const { id: bad } = await plane.monitors.create(newHeartbeat(currentGround(), { heartbeatToken }), ADA);
      const first = await rotate();
      expect(first.resealed).toBe(1);
      expect(first.unreadable).toHaveLength(1);
      expect(first.unreadable[0]).toMatch(new RegExp(`^heartbeats ${bad}: a sealed secret was changed`));
      const second = await rotate();
      expect(readKeyRing(keyFile).map(({ id }) => id)).toEqual([second.keyId, first.keyId, before]);
      expect(running.open(PLACE(good), await sealedOf(good))).toBe("token of good");
    });

    it("of the first form are bound to their rows by a rotation", async () => {
      const old = openSealing({ keyFile, createIfMissing: false, bindsRows: () => false });
      const id = await addHeartbeat("one", old);
      expect(await sealedOf(id)).toMatch(/^1\./);
      expect(running.open(PLACE(id), await sealedOf(id))).toBe("token of one");
      expect((await rotate()).resealed).toBe(1);
      expect(await sealedOf(id)).toMatch(/^2\./);
      expect(running.open(PLACE(id), await sealedOf(id))).toBe("token of one");
    });

    it("that were moved to another row or column stay closed, and are named", async () => {
      const { plane, projectId } = currentGround();
      const stolen = await sealedOf(await addHeartbeat("mine"));
      const heartbeatToken = { sealed: stolen, hash: "h" };
      const { id: beat } = await plane.monitors.create(newHeartbeat(currentGround(), { heartbeatToken }), ADA);
      const url = "https://***@www.test-site.org/";
      const site = newMonitor(currentGround(), { settings: { url }, urlSealed: stolen });
      const { id: website } = await plane.monitors.create(site, ADA);
      const hook = { projectId, url: "https://hooks.test-site.org/***", events: null, nowMs: 1 };
      const webhook = (await plane.webhooks.create({ ...hook, urlSealed: stolen, secretSealed: stolen }))?.id;
      const { unreadable } = await rotate();
      expect(unreadable).toEqual([
        expect.stringMatching(`heartbeats ${beat}: .*another place than heartbeats.token_sealed of row ${beat}`),
        expect.stringMatching(`monitors ${website}: .*another place than monitors.url_sealed of row ${website}`),
        expect.stringMatching(`webhooks ${webhook}: .*another place than webhooks.secret_sealed of row ${webhook}`),
        expect.stringMatching(`webhooks ${webhook}: .*another place than webhooks.url_sealed of row ${webhook}`),
      ]);
      expect(() => running.open(PLACE(beat), stolen)).toThrow(/belongs to another place/);
    });

    it("of configs are bound to their project and what they say, and of subscriptions to their ids", async () => {
      const { plane, projectId } = currentGround();
      const urlSealed = (id: number): string => running.seal(SEALED_CELLS.subscription(id), "https://p/x");
      const { id } = await plane.subscriptions.create({
        projectId,
        organizationId: currentGround().organizationId,
        name: null,
        urlSealed,
        urlHash: "hash",
        syncIntervalS: 300,
        timeoutS: 20,
        maxWorkers: 50,
        configAlertPercent: 50,
        enabled: true,
        nowMs: 1,
      });
      const [config] = listedServer("a.test-site.org", null, ["a"]).configs;
      const sealed = running.seal(configCell(projectId, "a"), "config a");
      if (config === undefined) throw new Error("no config");
      const server = { address: "a.test-site.org", name: null, configs: [{ ...config, sealed }] };
      await importServers(plane, { id, projectId }, [server]);
      const rotation = await rotate();
      expect([rotation.resealed, rotation.unreadable]).toEqual([2, []]);
      const [row] = (await plane.monitors.changedSince(-1)).changed;
      const [kept] = row?.monitor.configs ?? [];
      expect(running.open(configCell(projectId, kept?.identity ?? ""), kept?.sealed ?? "")).toBe("config a");
      const url = (await plane.subscriptions.recall(id))?.urlSealed ?? "";
      expect(running.open(SEALED_CELLS.subscription(id), url)).toBe("https://p/x");
      expect(() => running.open(SEALED_CELLS.subscription(id + 1), url)).toThrow(/another place/);
    });

    it("are sealed with a key that was put first by hand", async () => {
      const id = await addHeartbeat("one");
      const old = readFileSync(keyFile).toString("base64");
      const hand = Buffer.alloc(32, 7).toString("hex");
      writeFileSync(keyFile, `# new\n${hand}\n# old\n${old}\n`);
      const rotation = await rotate(false);
      expect(rotation.resealed).toBe(1);
      expect(keyIdOf(await sealedOf(id))).toBe(readKeyRing(keyFile)[0].id);
      expect(readFileSync(keyFile, "utf8")).toContain("# new");
      writeFileSync(keyFile, hand);
      const alone = await openCheckedSealing(currentGround().plane.meta, { keyFile, createIfMissing: false });
      expect(alone.open(PLACE(id), await sealedOf(id))).toBe("token of one");
    });

    it("are not touched with a wrong key", async () => {
      const id = await addHeartbeat("one");
      const sealed = await sealedOf(id);
      const right = readFileSync(keyFile);
      writeFileSync(keyFile, Buffer.alloc(32, 9));
      await expect(rotate()).rejects.toThrow(/is not the one this database's secrets were sealed with/);
      expect(readFileSync(keyFile).equals(Buffer.alloc(32, 9))).toBe(true);
      expect(await sealedOf(id)).toBe(sealed);
      writeFileSync(keyFile, right);
    });
  });
}
