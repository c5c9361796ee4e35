import { describe, expect, it } from "vitest";
import { isStream, type StreamedResponse } from "./http.ts";
import { CLOSED_SINK } from "./stream-sink.ts";
import { createStreams } from "./streams.ts";

const quiet: StreamedResponse = { status: 200, headers: [], open: () => () => {} };

describe("streams", () => {
  it("are as many as may be, and one more when one has ended", () => {
    const streams = createStreams(2);
    const first = streams.admit(quiet, "GET");
    expect(isStream(first)).toBe(true);
    expect(isStream(streams.admit(quiet, "GET"))).toBe(true);
    const third = streams.admit(quiet, "GET");
    expect(third).toMatchObject({ status: 503 });
    expect("body" in third ? JSON.parse(String(third.body)) : null).toEqual({
      error: true,
      code: 503,
      message: "Too many streams are open. Close one, or try again later.",
    });
    if (isStream(first)) first.open(CLOSED_SINK)();
    expect(isStream(streams.admit(quiet, "GET"))).toBe(true);
    expect(isStream(streams.admit(quiet, "GET"))).toBe(false);
  });

  it("are not counted where only the head is asked for", () => {
    const streams = createStreams(1);
    for (let count = 0; count < 3; count++) expect(isStream(streams.admit(quiet, "HEAD"))).toBe(true);
    expect(isStream(streams.admit(quiet, "GET"))).toBe(true);
  });
});
