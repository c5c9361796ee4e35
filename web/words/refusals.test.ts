import { expect, it } from "vitest";
import { routes } from "../../api/endpoints/index.ts";
import { ERROR_NAMES, wordsOf } from "../../api/errors.ts";
import { BY_MESSAGE, refusalKey } from "./refusals.ts";

it("knows messages that the API has, as it words them", () => {
  const said = new Set<string>(ERROR_NAMES.map((name) => wordsOf(name)[1]));
  for (const { editorsOnly } of routes) if (editorsOnly !== undefined) said.add(editorsOnly);
  for (const message of Object.keys(BY_MESSAGE)) expect([...said], message).toContain(message);
});

it("says of whatever is gone that it is, and keeps the API's words of what it does not know", () => {
  for (const name of ERROR_NAMES) {
    const [status, message] = wordsOf(name);
    if (status === 404 && message.endsWith(" not found")) expect(refusalKey(message), message).toBe("refused.gone");
  }
  expect(refusalKey("Invalid incident ID")).toBe("refused.gone");
  expect(refusalKey("port must be a whole number from 1 to 65535.")).toBe(null);
  expect(refusalKey("constructor")).toBe(null);
});
