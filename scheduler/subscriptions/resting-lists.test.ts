import { describe, expect, it } from "vitest";
import { RestingLists } from "./resting-lists.ts";

const HOUR_MS = 3_600_000;
const list = (subscriptionId: number, workspaceId = 1, addressHash = "a") => ({
  workspaceId,
  subscriptionId,
  addressHash,
});

describe("lists that took too much", () => {
  it("rest for an hour, and another address of the same subscription does not", () => {
    const resting = new RestingLists();
    resting.add(list(1), "2 s of computing", 0);
    expect(resting.refusal(list(1), HOUR_MS - 1)).toBe(
      "The list took more than 2 s of computing to read and is not read again before 1970-01-01T01:00:00.000Z.",
    );
    expect(resting.refusal(list(1, 1, "b"), 1)).toBeUndefined();
    expect(resting.refusal(list(2), 1)).toBeUndefined();
    expect(resting.refusal(list(1), HOUR_MS)).toBeUndefined();
    expect(resting.all(HOUR_MS)).toEqual([]);
  });

  it("make their workspace rest when they are three within an hour, and no other workspace", () => {
    const resting = new RestingLists();
    for (const id of [1, 2, 3]) resting.add(list(id), "2 s of computing", id * 60_000);
    expect(resting.refusal(list(9), 200_000)).toBe(
      "Lists of this workspace took too long to read several times: none is read before 1970-01-01T01:01:00.000Z.",
    );
    expect(resting.refusal(list(9, 2), 200_000)).toBeUndefined();
    expect(resting.refusal(list(9), HOUR_MS + 60_000)).toBeUndefined();
  });

  it("are handed on to the next thread", () => {
    const before = new RestingLists();
    before.add(list(1), "60 s", 0);
    const after = new RestingLists(before.all(1));
    expect(after.refusal(list(1), 1)).toBe(before.refusal(list(1), 1));
  });

  it("are forgotten from the oldest on when they are too many", () => {
    const resting = new RestingLists();
    for (let id = 0; id <= 10_000; id++) resting.add(list(id, id), "60 s", 0);
    expect(resting.all(1)).toHaveLength(10_000);
    expect(resting.refusal(list(0, 0), 1)).toBeUndefined();
  });
});
