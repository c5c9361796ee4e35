import { describe, expect, it } from "vitest";
import { newLiveState } from "../../model/live.ts";
import { readLiveMessage } from "../../model/live-message.ts";
import type { LiveState } from "../../model/status.ts";
import type { JudgedOutcome } from "./judged-outcome.ts";
import { LivePublisher } from "./live-publisher.ts";

function rig(heard: readonly number[], projects: Readonly<Record<number, number>>) {
  const sent: [number, ReturnType<typeof readLiveMessage>][] = [];
  const broadcasts = {
    isHeard: (projectId: number) => heard.includes(projectId),
    publish: (projectId: number, text: string) => void sent.push([projectId, readLiveMessage(text)]),
  };
  return { sent, publisher: new LivePublisher(broadcasts, (monitorId) => projects[monitorId]) };
}

const live = (monitorId: number, over: Partial<LiveState>): LiveState => ({ ...newLiveState(monitorId), ...over });

function item(state: LiveState, incidents: JudgedOutcome["incidents"] = []): JudgedOutcome {
  return {
    lease: { shard: 0, epoch: 1 },
    line: "",
    live: state,
    incidents,
    alerts: [],
    inboxId: null,
    endedTest: undefined,
    configResults: undefined,
    nextWithinMs: 1,
  };
}

describe("LivePublisher", () => {
  it("says of each project that is heard the latest of its monitors, what changed and what incidents did", () => {
    const { sent, publisher } = rig([7, 9], { 1: 7, 2: 8, 3: 7, 4: 9 });
    const why = { message: "x", category: null, locations: ["any"] };
    publisher.written(
      [
        item(live(1, { status: "down", statusSinceMs: 10, lastCheckedAtMs: 10 }), [
          { type: "open", monitorId: 1, atMs: 10, startedAtMs: 9, level: "down", ...why },
          { type: "message", monitorId: 1, atMs: 10, ...why },
        ]),
        item(live(2, { status: "healthy", statusSinceMs: 10, lastCheckedAtMs: 10 })),
        item(live(1, { status: "down", statusSinceMs: 10, lastCheckedAtMs: 20, latencyMs: 1.6 })),
        item(live(5, { status: "down" })),
        item(live(3, { status: "healthy", statusSinceMs: 1, lastCheckedAtMs: 15 }), [
          { type: "close", monitorId: 3, atMs: 15 },
        ]),
      ],
      [live(4, { status: "degraded", statusSinceMs: 30, lastCheckedAtMs: 2 })],
    );
    expect(sent).toEqual([
      [
        7,
        {
          checks: [
            { monitorId: 1, letter: "d", latencyMs: 2, checkedAtMs: 20, isChanged: true },
            { monitorId: 3, letter: "h", latencyMs: null, checkedAtMs: 15, isChanged: false },
          ],
          turns: [
            { monitorId: 1, incidentId: null, what: "opened" },
            { monitorId: 3, incidentId: null, what: "recovered" },
          ],
        },
      ],
      [9, { checks: [{ monitorId: 4, letter: "g", latencyMs: null, checkedAtMs: 2, isChanged: true }], turns: [] }],
    ]);
  });

  it("says nothing where no page looks", () => {
    const { sent, publisher } = rig([], { 1: 7 });
    publisher.written([item(live(1, { status: "down", statusSinceMs: 10, lastCheckedAtMs: 10 }))], []);
    expect(sent).toEqual([]);
  });
});
