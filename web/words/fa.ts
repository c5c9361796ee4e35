/** Persian. Loaded when it is chosen. */
import { setting } from "./fa/setting.ts";
import { watching } from "./fa/watching.ts";
import type { Words } from "./words.ts";

export const fa: Words = { ...watching, ...setting };
