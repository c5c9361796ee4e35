/** THE LIST: groups of `sonde admin`, in the order of the help. */
import type { ActGroup } from "./act.ts";
import { maintenance } from "./maintenance.ts";
import { webhook } from "./webhook.ts";
import { workspace } from "./workspace.ts";

export const groups: readonly ActGroup[] = [workspace, webhook, maintenance];
