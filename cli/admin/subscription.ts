/** `sonde admin subscription`: the engines that its configs are tried with (contract: dashboard only). */
import { ENGINES } from "../../model/subscription.ts";
import { type Act, type ActGroup, idOf, known, oneOf } from "./act.ts";

const engine: Act = {
  usage: "engine <subscription> <engine>",
  summary: `try each config with ${ENGINES.join(", ")}`,
  example: "subscription engine 5 xray",
  async run({ controlPlane, nowMs }, _words, [text, word]) {
    const id = idOf("subscription", text, "the subscription");
    const chosen = oneOf(ENGINES, word, "the engine");
    const found = known(await controlPlane.subscriptions.recall(id), `subscription ${id}`);
    known(
      await controlPlane.subscriptions.update(found.projectId, id, { engine: chosen }, nowMs),
      `subscription ${id}`,
    );
    return { facts: { id, engine: chosen }, text: `subscription ${id} is tried with ${chosen}` };
  },
};

export const subscription: ActGroup = {
  name: "subscription",
  summary: "the engines that a subscription's configs are tried with",
  acts: [engine],
};
