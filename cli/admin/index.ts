/** THE LIST: groups of `sonde admin`, in the order of the help. */
import type { ActGroup } from "./act.ts";
import { workspace } from "./workspace.ts";

export const groups: readonly ActGroup[] = [workspace];
