import { load } from "js-yaml";
import { expect, it } from "vitest";
import { routes } from "../endpoints/index.ts";
import { documentText } from "../openapi.ts";
import { filled, PLACES } from "./published.ts";

const OPTIONS = {
  baseUrl: "https://[2001:db8::1]:8443/a'b",
  docsUrl: 'https://docs.test-site.org/#"x": y',
  version: "1.2",
};

it("A document that was built for any service is, with a service's own addresses, what would be made for it", () => {
  const built = documentText(routes, () => PLACES);
  const made = documentText(routes, () => OPTIONS);
  expect(filled(built.json(), "json", OPTIONS)).toBe(made.json());
  expect(load(filled(built.yaml(), "yaml", OPTIONS))).toEqual(load(made.yaml()));
  expect(filled(built.yaml(), "yaml", OPTIONS)).not.toContain("place:");
});
