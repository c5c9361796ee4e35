/** Russian. Loaded when it is chosen. */
import { setting } from "./ru/setting.ts";
import { watching } from "./ru/watching.ts";
import type { Words } from "./words.ts";

export const ru: Words = { ...watching, ...setting };
