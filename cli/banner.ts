import { isEveryAddress, signInLink } from "../model/url.ts";

/** It is plain HTTP, and heartbeat addresses would lead to this machine itself. */
const OPEN =
  "It listens on every address of this machine: set SONDE_BASE_URL to the address that others use, and put a TLS proxy before it";

/** What a process that serves the API says when it is up. */
export function bannerOf(
  service: {
    url: string;
    firstKey: string | null;
    projectId: number | null;
    keyFile: string | null;
    /** Of a link that signs the owner in once; null when there is none. */
    signInCode: string | null;
  },
  { host, baseUrl }: { readonly host: string; readonly baseUrl: string | null },
  isTerminal: boolean,
  isDemo = false,
): string {
  const lines = [`Sonde listens on ${service.url}/api/v1`, `In a browser: ${service.url}/`];
  if (isEveryAddress(host) && baseUrl === null) lines.push(OPEN);
  lines.push(`Project: prj_${service.projectId}`);
  // What is not a terminal is kept somewhere: a journal, a container's log. Others read there.
  if (service.firstKey !== null && isTerminal) {
    lines.push(`Key (shown once, kept in ${service.keyFile}): ${service.firstKey}`);
  } else if (service.firstKey !== null) lines.push(`Key: kept in ${service.keyFile}`);
  // The demo's data are no secret, and its output is read by the user who started it.
  if (service.signInCode !== null && (isTerminal || isDemo)) lines.push(signInLine(service.url, service.signInCode));
  return `${lines.join("\n")}\n`;
}

export function signInLine(url: string, code: string): string {
  return `To sign in to the page, once and within ten minutes: ${signInLink(url, code)}`;
}
