import { expect, it } from "vitest";
import { GROUP } from "./algorithms.ts";
import { faultOfNotify } from "./faults.ts";
import { NOTIFY } from "./notify.ts";

const refused = { protocol: 0, type: NOTIFY.noProposalChosen, data: Buffer.alloc(0) };

it("says of a gateway that takes none of our algorithms which it would have to allow, every group of ours among them", () => {
  const words = faultOfNotify(refused, "init").hint ?? "";
  const groups = words.split("with group ")[1]?.match(/\d+/g)?.map(Number) ?? [];
  expect(groups.toSorted((one, other) => one - other)).toEqual(
    Object.values(GROUP).toSorted((one, other) => one - other),
  );
  expect(faultOfNotify(refused, "child").hint).toContain("without extended sequence numbers");
});
