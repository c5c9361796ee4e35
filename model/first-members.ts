import { isFields } from "./plain-values.ts";

/**
 * Of an object no more than one member above the bound, which shows that there are too many: zod judges each member of a record before it counts
 * them, and a body has up to 16,384. (Of a list it counts first.) For z.preprocess(). Pure.
 */
export function firstMembers(most: number): (sent: unknown) => unknown {
  return (sent) => {
    if (!isFields(sent)) return sent;
    const members = Object.entries(sent);
    return members.length > most ? Object.fromEntries(members.slice(0, most + 1)) : sent;
  };
}
