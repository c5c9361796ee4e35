/** Chinese, simplified. Loaded when it is chosen. */

import type { Words } from "./text.ts";
import { keeping } from "./zh/keeping.ts";
import { moving } from "./zh/moving.ts";
import { refusing } from "./zh/refusing.ts";
import { schema } from "./zh/schema.ts";
import { setting } from "./zh/setting.ts";
import { taking } from "./zh/taking.ts";
import { telling } from "./zh/telling.ts";
import { using } from "./zh/using.ts";
import { watching } from "./zh/watching.ts";

export const zh: Words = {
  ...watching,
  ...setting,
  ...telling,
  ...keeping,
  ...moving,
  ...refusing,
  ...schema,
  ...taking,
  ...using,
};
