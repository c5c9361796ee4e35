/** Addresses of websites as people write them: refused here when no check could ever dial them. Pure. */
import { withoutBrackets } from "../../../model/url.ts";
import { literalOf } from "../../net/literal.ts";
import { toAsciiName } from "../dns/name.ts";
import { parseWebUrl } from "./hop.ts";

/**
 * The URL standard is kinder than people are: it reads `http:///path` as a request to the host `path`, and takes port 0 and hosts such as
 * `a!b`, which no name server is asked for. A redirect is still followed by the standard's rules (hop.ts).
 * @returns a clause for people that never holds the text, which may have a password; undefined when it can be dialled
 */
export function webUrlFault(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\//i.test(trimmed)) return "url must begin with http:// or https://";
  if (/^https?:\/\/(?:[/\\?#]|$)/i.test(trimmed)) return "url has no host";
  const url = parseWebUrl(trimmed);
  if (url === undefined) return "url cannot be read as an address";
  if (url.port === "0") return "the port of url must be from 1 to 65535";
  const host = withoutBrackets(url.hostname);
  const canBeDialled = literalOf(host) !== undefined || toAsciiName(host) !== undefined;
  return canBeDialled ? undefined : "the host of url is neither a name nor an address";
}
