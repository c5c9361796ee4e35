/**
 * A text as a URL (WHATWG); undefined when it is none. Instead of URL.canParse, which is wrong on Node 20 once it is compiled (seen with
 * 20.20): after some thousand calls it refuses every text that has a letter beyond ASCII, such as http://münchen.example/.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** A host as sockets and resolvers take it: URLs and `host:port` texts put an IPv6 address in brackets (RFC 3986 section 3.2.2). */
export function withoutBrackets(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** The host of a URL that leads to a listener on that address: one on every address is reached by loopback. */
export function hostInUrl(listened: string): string {
  if (isEveryAddress(listened)) return listened === "0.0.0.0" ? "127.0.0.1" : "[::1]";
  return listened.includes(":") && !listened.startsWith("[") ? `[${listened}]` : listened;
}

/** A listener there is reached by every address of the machine. */
export function isEveryAddress(listened: string): boolean {
  return listened === "0.0.0.0" || listened === "::";
}

/** Whether only this machine has what it leads to (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3). */
export function isLoopbackUrl(url: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(parseUrl(url)?.hostname ?? "");
}

/** The code stands after `#`, which browsers send to no server: no log of a proxy has it. @param baseUrl without a trailing slash */
export function signInLink(baseUrl: string, code: string): string {
  return `${baseUrl}/#/sign-in?code=${code}`;
}
