import { expect, it } from "vitest";
import { faultOf } from "./field-fault.ts";

const NAMES = [
  ...["name", "url", "host", "port", "interval", "tags", "ends_at", "starts_at", "delay_s", "select", "home"],
  ...["escalation.0.after_s", "escalation.1.after_s", "spans.0.from", "groups.1.components.0.servers"],
];

it.each([
  ["Missing or invalid port: port must be a whole number from 1 to 65535.", "port"],
  ["Name is required", "name"],
  ["interval must be a whole number from 1 to 86400.", "interval"],
  ["settings.url must begin with https://.", "url"],
  ["host and port belong together.", "host"],
  ["www.port.org is not known.", null],
  ["schedule.ends_at must be after starts_at, at most a year.", "ends_at"],
  ["rules.3.delay_s: must be a whole number", "delay_s"],
  ["rules.0.match.select.tags must be a list.", "select"],
  ["rules.0.escalation.1.after_s: must be at least 60", "escalation.1.after_s"],
  ["quiet_hours.2.spans.0.from: must be HH:MM", "spans.0.from"],
  ["groups[1].components[0].servers.tags must be a list.", "groups.1.components.0.servers"],
  ["links.home must be an http or https address.", "home"],
  ["The service cannot be reached.", null],
])("finds the field of which %s speaks", (message, field) => {
  expect(faultOf(message, NAMES)).toEqual({ field, message, isClosedAddress: false });
});

it("lays an address that is refused to the field that has it, and says whether a setting opens it", () => {
  const closed = "10.0.0.1 cannot be monitored: 10.0.0.1 is a private address.";
  expect(faultOf(closed, NAMES)).toMatchObject({ field: "url", isClosedAddress: true });
  expect(faultOf(closed, ["name", "host", "port"])).toMatchObject({ field: "host", isClosedAddress: true });
  const webhook = "127.0.0.1 is refused: 127.0.0.1 is a loopback address.";
  expect(faultOf(webhook, ["url"])).toMatchObject({ field: "url", isClosedAddress: true });
  const reserved = "example.org is reserved for documentation and cannot be monitored.";
  expect(faultOf(reserved, NAMES)).toMatchObject({ field: "url", isClosedAddress: false });
});
