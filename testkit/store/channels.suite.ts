/** Channels: names, bounds, what is secret of them, and how their attempts stand. */
import { describe, expect, it } from "vitest";
import type { ChannelRecord, NewChannel } from "../../store/sql/alerts/channels-port.ts";
import { SEALED_COLUMNS } from "../../store/sql/sealed/columns.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

export function channelTests(currentGround: () => Ground): void {
  const add = (over: Partial<NewChannel> = {}, most = 100) => {
    const { plane, projectId } = currentGround();
    const input: NewChannel = {
      ...{ projectId, kind: "ntfy", name: "Phone", settings: { topic: "sonde" }, active: true, nowMs: NOW_MS },
      ...{ secretNames: ["token"], sealed: (id: number) => `sealed ${id}` },
      ...over,
    };
    return plane.channels.create(input, most);
  };
  const made = async (over: Partial<NewChannel> = {}): Promise<ChannelRecord> => {
    const channel = await add(over);
    if (channel === undefined || typeof channel === "string") throw new Error(`no channel was made: ${channel}`);
    return channel;
  };

  describe("channels", () => {
    it("are found in their project only; what is secret leaves only for a sender", async () => {
      const { plane, projectId } = currentGround();
      const channel = await made({ name: "Phone \u0000" });
      expect(channel).toMatchObject({ projectId, kind: "ntfy", name: "Phone \ufffd", settings: { topic: "sonde" } });
      expect(channel).toMatchObject({ secretNames: ["token"], active: true, failingSinceMs: null, refusals: 0 });
      expect("sealed" in channel).toBe(false);
      expect(await plane.channels.find(projectId, channel.id)).toEqual(channel);
      expect(await plane.channels.find(projectId + 1, channel.id)).toBeUndefined();
      const plain = await made({ name: "plain", secretNames: [], sealed: null });
      expect(await plane.channels.list(projectId)).toEqual([channel, plain]);
      const openable = await plane.channels.openable([plain.id, channel.id, 999]);
      expect(openable).toEqual([
        { ...channel, sealed: `sealed ${channel.id}` },
        { ...plain, sealed: null },
      ]);
      expect(await plane.channels.openable([])).toEqual([]);
    });

    it("have names that differ within a project, and a bound", async () => {
      const { projectId } = currentGround();
      await made();
      expect(await add()).toBe("taken");
      expect(await add({ name: "other" }, 1)).toBe("full");
      expect(await add({ projectId: projectId + 100 })).toBeUndefined();
    });

    it("change in what is named; what a change throws undoes it", async () => {
      const { plane, projectId } = currentGround();
      const channel = await made();
      await made({ name: "other" });
      await plane.channels.judged(channel.id, { delivered: false, error: "no", permanent: true }, NOW_MS + 1);
      const change = (name: string) => plane.channels.update(projectId, channel.id, NOW_MS + 5, () => ({ name }));
      expect(await change("other")).toBe("taken");
      expect(await change("Phone")).toMatchObject({ name: "Phone", refusals: 1, updatedAtMs: NOW_MS + 5 });
      const sealed = await plane.channels.update(projectId, channel.id, NOW_MS + 6, (before) => {
        expect(before.sealed).toBe(`sealed ${channel.id}`);
        return { settings: { topic: "b" }, secretNames: [], sealed: null, active: false };
      });
      expect(sealed).toMatchObject({ name: "Phone", settings: { topic: "b" }, secretNames: [], active: false });
      // Other settings have not been refused yet.
      expect(sealed).toMatchObject({ refusals: 0, failingSinceMs: null, lastError: null });
      expect((await plane.channels.openable([channel.id]))[0]?.sealed).toBeNull();
      const refuse = plane.channels.update(projectId, channel.id, NOW_MS + 7, () => {
        throw new RangeError("no");
      });
      await expect(refuse).rejects.toThrow("no");
      expect(await plane.channels.update(projectId + 1, channel.id, NOW_MS, () => ({}))).toBeUndefined();
    });

    it("are failing from the second refusal for good in a row until one is delivered", async () => {
      const { plane, projectId } = currentGround();
      const { id } = await made();
      const refused = { delivered: false, error: "chat not found", permanent: true } as const;
      const busy = { delivered: false, error: "HTTP 500", permanent: false } as const;
      const { channels } = plane;
      expect(await channels.judged(id, refused, NOW_MS + 1)).toEqual({ isFailing: false, hasTurned: false });
      expect(await channels.judged(id, busy, NOW_MS + 2)).toEqual({ isFailing: false, hasTurned: false });
      expect(await channels.judged(id, refused, NOW_MS + 3)).toEqual({ isFailing: true, hasTurned: true });
      expect(await channels.judged(id, refused, NOW_MS + 4)).toEqual({ isFailing: true, hasTurned: false });
      const failing = await channels.find(projectId, id);
      expect(failing).toMatchObject({ failingSinceMs: NOW_MS + 1, lastError: "chat not found", lastSuccessAtMs: null });
      expect(await channels.judged(id, { delivered: true }, NOW_MS + 5)).toEqual({ isFailing: false, hasTurned: true });
      const well = await channels.find(projectId, id);
      expect(well).toMatchObject({ failingSinceMs: null, lastError: null, lastSuccessAtMs: NOW_MS + 5, refusals: 0 });
      expect(await channels.judged(id + 99, refused, NOW_MS)).toBeUndefined();
    });

    it("go when they are removed, and their secrets are in the list of what a rotation seals anew", async () => {
      const { plane, projectId } = currentGround();
      const { id } = await made();
      expect(await plane.channels.remove(projectId + 1, id)).toBe(false);
      expect(await plane.channels.remove(projectId, id)).toBe(true);
      expect(await plane.channels.remove(projectId, id)).toBe(false);
      expect(SEALED_COLUMNS.some(({ table, column }) => table === "channels" && column === "sealed")).toBe(true);
    });
  });
}
