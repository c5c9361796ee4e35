/** `tls-cipher` and `tls-ciphersuites`: by IANA's names, which OpenSSL does not know, or by OpenSSL's (openvpn(8); ssl_openssl.c). Pure. */

/** @returns for OpenSSL; null: not given */
export function cipherListOf(text: string | undefined): string | null {
  return text === undefined ? null : text.split(":").map(opensslName).join(":");
}

/** TLS 1.3's are called alike by both but for their hyphens. */
export function suiteListOf(text: string | undefined): string | null {
  return text === undefined ? null : text.toUpperCase().replaceAll("-", "_");
}

const WITH = "-WITH-";

/** `TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384` is ECDHE-RSA-AES256-GCM-SHA384; words of OpenSSL's own stay as they are. */
function opensslName(word: string): string {
  const [, sign = "", rest = ""] = /^([!+-]?)TLS-([A-Z0-9-]+)$/.exec(word.toUpperCase()) ?? [];
  // Before it stands one character at least.
  const mark = rest.indexOf(WITH, 1);
  if (mark < 0 || mark + WITH.length === rest.length) return word;
  const exchange = rest.slice(0, mark);
  const name = rest
    .slice(mark + WITH.length)
    .replace(/^(AES|CAMELLIA|ARIA)-(128|256)/, "$1$2")
    // It is not said of CBC, and 3DES has a name of its own.
    .replace(/^((?:AES|CAMELLIA)\d+)-CBC/, "$1")
    .replace(/^3DES-EDE-CBC/, "DES-CBC3")
    .replace(/^CHACHA20-POLY1305-SHA256$/, "CHACHA20-POLY1305");
  return `${sign}${exchange === "RSA" ? "" : `${exchange}-`}${name}`;
}
