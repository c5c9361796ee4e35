import { expect, it } from "vitest";
import { OwnedShards } from "../shards/owned-shards.ts";
import { Follower, type FollowOptions } from "./follow.ts";

it("says when the control plane lacks changes that were taken in, and follows it from there", async () => {
  let generation = 5;
  let setBacks = 0;
  const asked: number[] = [];
  const changedSince = async (since: number) => {
    asked.push(since);
    return { generation, changed: [], removedIds: [] };
  };
  const follower = new Follower({
    controlPlane: { generation: async () => generation, monitors: { changedSince } },
    ownedShards: new OwnedShards(1),
    breathe: async () => undefined,
    onSetBack: () => {
      setBacks += 1;
    },
  } as unknown as FollowOptions);
  for (const next of [5, 3, 3, 4]) {
    generation = next;
    await follower.follow();
  }
  expect([asked, setBacks]).toEqual([[-1, 3], 1]);
});
