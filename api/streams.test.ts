import { describe, expect, it } from "vitest";
import { isStream, type StreamedResponse } from "./http.ts";
import { CLOSED_SINK } from "./stream-sink.ts";
import { createStreams, type StreamReader } from "./streams.ts";

const quiet: StreamedResponse = { status: 200, headers: [], open: () => () => {} };

const reader = (over: Partial<StreamReader> = {}): StreamReader => ({
  method: "GET",
  workspaceId: 1,
  sessionId: null,
  mayStill: async () => true,
  ...over,
});

describe("streams", () => {
  it("are as many as may be, and one more when one has ended", () => {
    const streams = createStreams(2);
    const first = streams.admit(quiet, reader());
    expect(isStream(first)).toBe(true);
    expect(isStream(streams.admit(quiet, reader()))).toBe(true);
    const third = streams.admit(quiet, reader());
    expect(third).toMatchObject({ status: 503 });
    expect("body" in third ? JSON.parse(String(third.body)) : null).toEqual({
      error: true,
      code: 503,
      message: "Too many streams are open. Close one, or try again later.",
    });
    if (isStream(first)) first.open(CLOSED_SINK)();
    expect(isStream(streams.admit(quiet, reader()))).toBe(true);
    expect(isStream(streams.admit(quiet, reader()))).toBe(false);
  });

  it("are not counted where only the head is asked for", () => {
    const streams = createStreams(1);
    for (let count = 0; count < 3; count++)
      expect(isStream(streams.admit(quiet, reader({ method: "HEAD" })))).toBe(true);
    expect(isStream(streams.admit(quiet, reader()))).toBe(true);
  });

  it("are six of a session, and those of keys count in the total only", () => {
    const streams = createStreams(20);
    const six = Array.from({ length: 6 }, () => streams.admit(quiet, reader({ sessionId: 7 })));
    expect(six.every(isStream)).toBe(true);
    expect(isStream(streams.admit(quiet, reader({ sessionId: 7 })))).toBe(false);
    expect(isStream(streams.admit(quiet, reader({ sessionId: 8 })))).toBe(true);
    for (let count = 0; count < 7; count++) expect(isStream(streams.admit(quiet, reader()))).toBe(true);
    const [first] = six;
    if (first !== undefined && isStream(first)) first.open(CLOSED_SINK)();
    expect(isStream(streams.admit(quiet, reader({ sessionId: 7 })))).toBe(true);
  });

  it("are shared by workspaces where one has taken all places: its latest ends", () => {
    const streams = createStreams(4);
    const ended: number[] = [];
    const begin = (workspaceId: number, name: number): boolean => {
      const stream = streams.admit(quiet, reader({ workspaceId }));
      if (!isStream(stream)) return false;
      const stop = stream.open({
        ...CLOSED_SINK,
        end() {
          ended.push(name);
          // The second takes nothing of what it was sent, so it stays for a while.
          if (name !== 2) stop();
        },
      });
      return true;
    };
    for (const name of [1, 2, 3, 4]) expect(begin(1, name)).toBe(true);
    expect(begin(1, 5)).toBe(false);
    expect(begin(2, 6)).toBe(true);
    expect(begin(2, 7)).toBe(true);
    expect(ended).toEqual([4, 3]);
    // Each has two now.
    expect(begin(2, 8)).toBe(false);
    expect(begin(3, 9)).toBe(true);
    expect(ended).toEqual([4, 3, 2]);
    expect(begin(3, 10)).toBe(false);
  });

  it("end with the rights of their readers, and not while those cannot be told", async () => {
    const streams = createStreams(20);
    const ended: string[] = [];
    const rights = new Map<string, () => Promise<boolean>>([
      ["revoked", async () => false],
      ["good", async () => true],
      ["unknown", () => Promise.reject(new Error("the database is away"))],
    ]);
    for (const [name, mayStill] of rights) {
      const stream = streams.admit(quiet, reader({ mayStill }));
      if (isStream(stream)) stream.open({ ...CLOSED_SINK, end: () => void ended.push(name) });
    }
    await streams.look();
    expect(ended).toEqual(["revoked"]);
  });
});
