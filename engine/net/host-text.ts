import { withoutBrackets } from "../../model/url.ts";

/** Lowercase, without brackets: one text for one host. */
export function hostText(host: string): string {
  return withoutBrackets(host.toLowerCase());
}
