/** Chinese, simplified. Loaded when it is chosen. */

import type { Words } from "./words.ts";
import { setting } from "./zh/setting.ts";
import { watching } from "./zh/watching.ts";

export const zh: Words = { ...watching, ...setting };
