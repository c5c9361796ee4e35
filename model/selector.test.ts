import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { MOST_SELECTED, readSelector, type Selected, selectableKinds, writeSelector } from "./selector.ts";

const words = { kinds: selectableKinds(["http", "ping"]) };
const read = (value: unknown) => readSelector(value, words);

describe("readSelector", () => {
  it("reads every member as monitors have it", () => {
    const value = {
      all: true,
      ids: ["srv_1", "2", 2],
      tags: [" Prod ", "prod"],
      any_tag: ["A", "b"],
      kinds: ["vless", "http"],
      family: "tunnel",
      subscription_ids: [5, "sub_6"],
      name: " Berlin ",
      status: ["down", "paused"],
      not: { ids: ["srv_7"] },
    };
    expect(read(value)).toEqual({
      selector: {
        all: true,
        ids: [1, 2],
        tags: ["prod"],
        anyTag: ["a", "b"],
        kinds: ["vless", "http"],
        family: "tunnel",
        subscriptionIds: [5, 6],
        name: "Berlin",
        status: ["down", "paused"],
        not: { ids: [7] },
      },
    });
  });

  it.each([
    [null, "select must be an object."],
    [[], "select must be an object."],
    ["srv_1", "select must be an object."],
    [{}, 'select must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
    [{ tagz: ["a"] }, 'select has no member "tagz".'],
    [{ __proto__: null, constructor: 1 }, 'select has no member "constructor".'],
    [{ ["x".repeat(500)]: 1 }, `select has no member ${JSON.stringify(`${"x".repeat(40)}…`)}.`],
    [{ all: false }, "select.all must be true."],
    [{ ids: [] }, `select.ids must be a list of 1 to ${MOST_SELECTED} entries.`],
    [{ ids: Array(MOST_SELECTED + 1).fill(1) }, `select.ids must be a list of 1 to ${MOST_SELECTED} entries.`],
    [{ ids: ["inc_1"] }, "select.ids must be a list of ids."],
    [{ ids: [1.5] }, "select.ids must be a list of ids."],
    [{ tags: [""] }, "select.tags must be a list of texts of 1 to 50 characters."],
    [{ any_tag: ["x".repeat(51)] }, "select.any_tag must be a list of texts of 1 to 50 characters."],
    [{ kinds: ["pigeon"] }, `select.kinds must be of ${words.kinds.join(", ")}.`],
    [{ family: "all" }, "select.family must be tunnel or uptime."],
    [{ subscription_ids: ["srv_1"] }, "select.subscription_ids must be a list of ids."],
    [{ name: " " }, "select.name must be a text of 1 to 255 characters."],
    [{ status: ["up"] }, "select.status must be of healthy, down, partial, degraded, paused, unknown."],
    [{ all: true, not: { all: true, not: { ids: [1] } } }, 'select.not has no member "not".'],
    [{ all: true, not: {} }, 'select.not must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
  ])("refuses %j", (value, fault) => {
    expect(read(value)).toEqual({ fault });
  });

  const text = (most: number) =>
    fc.string({ minLength: 1, maxLength: most }).filter((one) => one.trim() === one && one.trim() !== "");
  const list = <T>(of: fc.Arbitrary<T>) => fc.uniqueArray(of, { minLength: 1, maxLength: 5 });
  const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const tag = text(50).filter((one) => one === one.toLowerCase());
  const selected: fc.Arbitrary<Selected> = fc
    .record(
      {
        all: fc.constant(true as const),
        ids: list(id),
        tags: list(tag),
        anyTag: list(tag),
        kinds: list(fc.constantFrom("vless" as const, "http" as const)),
        family: fc.constantFrom("tunnel" as const, "uptime" as const),
        subscriptionIds: list(id),
        name: text(255),
        status: list(fc.constantFrom("down" as const, "paused" as const)),
      },
      { requiredKeys: [] },
    )
    .filter((one) => Object.keys(one).length > 0);

  property([selected, fc.option(selected, { nil: undefined })])("reads what writeSelector wrote", (one, not) => {
    const selector = not === undefined ? one : { ...one, not };
    expect(read(JSON.parse(JSON.stringify(writeSelector(selector))))).toEqual({ selector });
  });

  property([fc.jsonValue()])("answers any JSON with a selector or a fault", (value) => {
    const answer = read(value);
    expect("selector" in answer || answer.fault.length < 300).toBe(true);
  });
});
