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
