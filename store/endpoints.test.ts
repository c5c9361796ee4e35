import { describe, expect, it } from "vitest";
import { storeEndpoints } from "./endpoints.ts";

describe("where stores listen", () => {
  it.each([
    ["postgres://u:p@db.lan/x", ["db.lan:5432"]],
    ["postgresql://u:p@db.lan:6000/x", ["db.lan:6000"]],
    ["postgres://u:p@[fd00::1]:6000/x", ["fd00::1:6000"]],
    ["postgres:///x", ["localhost:5432"]],
    ["postgres://u@a.lan,b.lan/x", ["a.lan:5432", "b.lan:5432"]],
    ["postgres://u@a.lan/x?host=c.lan", ["c.lan:5432"]],
    ["postgres://u@a.lan/x?host=c.lan&port=7000", ["c.lan:7000"]],
    ["postgres:///x?host=a.lan,b.lan,[::1]&port=1,2", ["a.lan:1", "b.lan:2", "::1:2"]],
    ["postgres:///x?host=/var/run/postgresql", []],
    ["postgres://%2Fvar%2Frun/x", []],
    ["redis://h.lan", ["h.lan:6379"]],
    ["rediss://u:p@h.lan:6380/1", ["h.lan:6380"]],
    ["http://h.lan/db", ["h.lan:80"]],
    ["https://h.lan", ["h.lan:443"]],
    ["http://127.0.0.1:8123/db", ["127.0.0.1:8123"]],
  ])("%s", (url, places) => {
    expect(storeEndpoints(url).map(({ host, port }) => `${host}:${port}`)).toEqual(places);
  });
});
