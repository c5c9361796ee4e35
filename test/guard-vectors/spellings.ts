/** One IPv4 address in every spelling that some resolver, library, browser or router takes for it. Pure. */

/** Digits that Unicode or IDNA maps to ASCII. */
const FULL_WIDTH = "０１２３４５６７８９";
const BOLD = [..."𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗"];
const CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨";
/** A public prefix of another's. */
const PREFIX = "2a0f:9101";

export interface Spelling {
  readonly how: string;
  readonly text: string;
  readonly family: 4 | 6;
}

export function spellingsOf(ip: string): readonly Spelling[] {
  return [
    ...inFour(ip).map(([how, text]): Spelling => ({ how, text, family: 4 })),
    ...inSix(ip).map(([how, text]): Spelling => ({ how, text, family: 6 })),
  ];
}

function inFour(ip: string): readonly (readonly [string, string])[] {
  const bytes = ip.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const mapped = (digits: readonly string[]) => ip.replace(/\d/g, (digit) => digits[Number(digit)] ?? digit);
  return [
    ["plain", ip],
    ["one number", String(whole)],
    ["one hexadecimal number", `0x${whole.toString(16)}`],
    ["one octal number", `0${whole.toString(8)}`],
    ["beyond 32 bits", String(whole + 2 ** 32)],
    ["octal parts", bytes.map((byte) => `0${byte.toString(8)}`).join(".")],
    ["long octal parts", bytes.map((byte) => byte.toString(8).padStart(8, "0")).join(".")],
    ["hexadecimal parts", bytes.map((byte) => `0X${byte.toString(16)}`).join(".")],
    ["mixed parts", `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`],
    ["two parts", `${a}.${(b * 256 + c) * 256 + d}`],
    ["three parts", `${a}.${b}.${c * 256 + d}`],
    ["a dot at its end", `${ip}.`],
    ["full-width digits", mapped([...FULL_WIDTH])],
    ["bold digits", mapped(BOLD)],
    ["circled digits", mapped([...CIRCLED])],
    ["ideographic dots", ip.replaceAll(".", "。")],
    ["half-width dots", ip.replaceAll(".", "｡")],
    ["percent-encoded", [...ip].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join("")],
    ["percent-encoded dots", ip.replaceAll(".", "%2e")],
    ["a soft hyphen inside", `${ip.slice(0, 1)}\u00ad${ip.slice(1)}`],
    ["a zero-width joiner inside", `${ip.slice(0, 1)}\u200d${ip.slice(1)}`],
  ];
}

function inSix(ip: string): readonly (readonly [string, string])[] {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split(".").map(Number);
  const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
  const turned = `${(0xffff - (a * 256 + b)).toString(16)}:${(0xffff - (c * 256 + d)).toString(16)}`;
  return [
    ["mapped", `::ffff:${ip}`],
    ["mapped, hexadecimal", `::FFFF:${high}:${low}`],
    ["mapped, in full", `0:0:0:0:0:ffff:${ip}`],
    ["compatible", `::${ip}`],
    ["translated", `::ffff:0:${ip}`],
    ["NAT64", `64:ff9b::${ip}`],
    ["NAT64, hexadecimal", `64:ff9b:0:0:0:0:${high}:${low}`],
    ["a local NAT64", `64:ff9b:1::${ip}`],
    ["6to4", `2002:${high}:${low}::1`],
    ["Teredo's client", `2001:0:2d5a:e01:0:0:${turned}`],
    ["Teredo's server", `2001:0:${high}:${low}::1`],
    ["ISATAP", `${PREFIX}::5efe:${ip}`],
    ["ISATAP, universal", `${PREFIX}::200:5efe:${ip}`],
  ];
}
