/** Every text of the page. A `{name}` stands for a value; `n` chooses between `one` and `other`. */
import { setting } from "./en/setting.ts";
import { watching } from "./en/watching.ts";

export const en = { ...watching, ...setting } as const;
