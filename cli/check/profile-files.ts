/**
 * The files that an OpenVPN profile names beside it, put into its text (openvpn(8), INLINE FILE SUPPORT): the engine and the service take a
 * profile as one text and follow no path. Pure.
 */

/** What may be inline; `auth-user-pass` is not read: a profile from elsewhere could send any file as a password. */
const FILES = [
  "ca",
  "cert",
  "key",
  "tls-auth",
  "tls-crypt",
  "tls-crypt-v2",
  "extra-certs",
  "crl-verify",
  "pkcs12",
] as const;

interface Named {
  readonly option: (typeof FILES)[number];
  readonly file: string;
  /** Further parameters. */
  readonly rest: string;
}

/** @param read the bytes of a file by the name that the profile has */
export function withFiles(profile: string, read: (file: string) => Buffer): string {
  const lines = profile.split(/\r\n|\n|\r/);
  let isInline = false;
  const whole = lines.map((line) => {
    const tag = line.trim();
    if (tag.startsWith("<") && tag !== "<connection>" && tag !== "</connection>") isInline = !tag.startsWith("</");
    const named = isInline ? undefined : fileOf(line);
    return named === undefined ? line : inlined(named, read(named.file));
  });
  return whole.join("\n");
}

function fileOf(line: string): Named | undefined {
  const [name = "", ...others] = line.trim().split(/[ \t]/);
  const option = FILES.find((each) => each === name);
  const parameters = others.join(" ").trim();
  if (option === undefined || parameters === "" || parameters.startsWith("[")) return undefined;
  const quote = parameters.startsWith('"') ? '"' : parameters.startsWith("'") ? "'" : " ";
  const from = quote === " " ? 0 : 1;
  const end = parameters.indexOf(quote, from);
  const file = end < 0 ? parameters.slice(from) : parameters.slice(from, end);
  const rest = end < 0 ? "" : parameters.slice(end + 1).trim();
  // A folder of revocation lists.
  return option === "crl-verify" && rest.startsWith("dir") ? undefined : { option, file, rest };
}

function inlined({ option, file: _, rest }: Named, bytes: Buffer): string {
  const text = option === "pkcs12" ? bytes.toString("base64") : bytes.toString("utf8").trimEnd();
  // The direction stands in a line of its own beside an inline key.
  const direction = option === "tls-auth" && /^[01]/.test(rest) ? `\nkey-direction ${rest.slice(0, 1)}` : "";
  return `<${option}>\n${text}\n</${option}>${direction}`;
}
