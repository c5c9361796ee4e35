/** Russian. Loaded when it is chosen. */
import { keeping } from "./ru/keeping.ts";
import { moving } from "./ru/moving.ts";
import { refusing } from "./ru/refusing.ts";
import { schema } from "./ru/schema.ts";
import { setting } from "./ru/setting.ts";
import { taking } from "./ru/taking.ts";
import { telling } from "./ru/telling.ts";
import { using } from "./ru/using.ts";
import { watching } from "./ru/watching.ts";
import type { Words } from "./text.ts";

export const ru: Words = {
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
