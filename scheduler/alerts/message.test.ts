import { expect, it } from "vitest";
import type { BegunNotification, ToldMember } from "../../store/sql/alerts/port.ts";
import { messageOf } from "./message.ts";

const MEMBER: ToldMember = {
  ...{
    subject: "srv_3:certificate",
    event: "certificate",
    severity: "warning",
    firing: false,
    isTold: false,
    isNew: true,
    isUnwatched: false,
  },
  ...{ acknowledged: false, name: "Shop", monitorId: 3, incidentId: null, isTunnel: false, host: "shop", tags: [] },
  ...{ why: "The certificate ends in 6 days", stage: null, locations: [], sinceMs: 0, endedAtMs: null },
};
const BEGUN: BegunNotification = {
  ...{
    id: 1,
    projectId: 1,
    groupId: 1,
    groupKey: "sonde-1-a",
    messageKey: "sonde-1-b",
    isFold: false,
    reason: "notice",
  },
  ...{ cameAndWent: 0, template: null, channel: {} as BegunNotification["channel"], previous: null },
  left: null,
  ...{ members: [MEMBER], hostMonitors: null },
};
const CONTEXT = { base: "https://sonde.test-site.org", acknowledge: null, nowMs: 60_000 };

function messageAbout(member: Partial<ToldMember>, begun: Partial<BegunNotification> = {}) {
  return messageOf({ ...BEGUN, ...begun, members: [{ ...MEMBER, ...member }] }, CONTEXT, async () => {});
}

it("says of what is told once what it is, and never that it works again", async () => {
  expect(await messageAbout({})).toMatchObject({
    ...{ reason: "expiring", title: "Shop: the certificate ends in 6 days" },
    items: [{ name: "Shop", state: "certificate", why: "The certificate ends in 6 days" }],
  });
  const refused = {
    event: "channel",
    subject: "channel:2",
    name: "Phone",
    monitorId: null,
    why: "HTTP 404: no",
  } as const;
  expect(await messageAbout(refused)).toMatchObject({
    ...{ reason: "channel", title: "The channel Phone does not take messages: HTTP 404: no" },
    ...{ items: [{ name: "Phone", state: "failing" }], link: "https://sonde.test-site.org/#/alerts" },
  });
  const unread = {
    event: "sync",
    subject: "sub_4",
    name: "Main",
    monitorId: null,
    why: "TLS: no shared cipher",
  } as const;
  expect((await messageAbout(unread)).title).toBe("Main: TLS: no shared cipher");
});

it("counts a monitor that went down several times once, by what it is now", async () => {
  const times = [0, 1, 2].map((time) => ({
    ...MEMBER,
    ...{ subject: `inc_${time}`, incidentId: time, event: "down" as const, isTold: true, why: "timed out" },
    ...{ sinceMs: time * 10_000, endedAtMs: time * 10_000 + 5_000 },
  }));
  const about = (members: readonly ToldMember[], reason: BegunNotification["reason"]) =>
    messageOf({ ...BEGUN, reason, members }, CONTEXT, async () => {});
  const over = await about(times, "recovered");
  expect(over).toMatchObject({ title: "Shop works again after 25 s", items: [{ id: "inc_2" }], more: 0 });
  const again = times.map((one, index) => (index === 2 ? { ...one, firing: true, endedAtMs: null } : one));
  expect((await about(again, "reminder")).title).toBe("Shop is down still, for 40 s: timed out");
});

it("says of what is not watched any more just that, and of others of its group what is true", async () => {
  const gone = { ...MEMBER, event: "down" as const, isTold: true, isUnwatched: true, subject: "inc_1", incidentId: 1 };
  const about = (members: readonly ToldMember[]) =>
    messageOf({ ...BEGUN, reason: "recovered", members }, CONTEXT, async () => {});
  expect(await about([gone])).toMatchObject({
    ...{ reason: "recovered", severity: "info", title: "Shop is no longer monitored" },
    items: [{ state: "no longer monitored" }],
  });
  const other = { ...gone, subject: "inc_2", incidentId: 2, monitorId: 4 };
  expect((await about([gone, other])).title).toBe("2 monitors are no longer monitored");
  const works = { ...other, isUnwatched: false, name: "Mail", endedAtMs: 5_000 };
  expect(await about([gone, works])).toMatchObject({ severity: "ok", title: "Mail works again after 5 s" });
});

it("says which monitor it is where its name has nothing to read in it", async () => {
  const down = { event: "down", firing: true, name: "\u200b\u202e", why: "timed out" } as const;
  const { title, items } = await messageAbout(down, { reason: "opened" });
  expect(title).toBe("srv_3 is down: timed out");
  expect(items).toMatchObject([{ name: "srv_3", state: "down" }]);
});
