/** THE LIST: groups of `sonde admin`, in the order of the help. */
import type { ActGroup } from "./act.ts";
import { channel } from "./channel.ts";
import { key } from "./key.ts";
import { location } from "./location.ts";
import { maintenance } from "./maintenance.ts";
import { member } from "./member.ts";
import { monitor } from "./monitor.ts";
import { page } from "./page.ts";
import { plan } from "./plan.ts";
import { project } from "./project.ts";
import { quarantine } from "./quarantine.ts";
import { rule } from "./rule.ts";
import { seal } from "./seal.ts";
import { subscription } from "./subscription.ts";
import { user } from "./user.ts";
import { webhook } from "./webhook.ts";
import { workspace } from "./workspace.ts";

export const groups: readonly ActGroup[] = [
  workspace,
  project,
  plan,
  member,
  user,
  key,
  monitor,
  location,
  subscription,
  webhook,
  channel,
  rule,
  page,
  maintenance,
  quarantine,
  seal,
];
