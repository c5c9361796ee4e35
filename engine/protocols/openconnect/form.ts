/** What an AnyConnect server answers to a step of the login: a form, a session, or a no. Reads XML, decides nothing. Pure. */
import { findElement, findElements, parseXml, type XmlElement } from "./xml.ts";

export interface FormField {
  readonly kind: "text" | "password" | "hidden" | "select";
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly value: string;
  /** Of a select. */
  readonly options: readonly FormOption[];
}

export interface FormOption {
  readonly value: string;
  readonly label: string;
  readonly isSelected: boolean;
}

export interface LoginForm {
  /** Where the server wants it; as it is written there. */
  readonly action: string;
  readonly fields: readonly FormField[];
}

export interface LoginAnswer {
  /** What the session's cookie is, where the server says it here; null elsewhere. */
  readonly sessionToken: string | null;
  readonly isLoggedIn: boolean;
  /** To be sent back as it is; null: nothing. */
  readonly opaque: XmlElement | null;
  readonly form: LoginForm | null;
  readonly message: string | null;
  readonly error: string | null;
  /** Things that this client does not do, if the server wants them. */
  readonly wants: { readonly clientCertificate: boolean; readonly hostScan: boolean; readonly webLogin: boolean };
}

/** The names of a form's inputs that a login has at most. */
const FIELD_LIMIT = 64;

/** @returns undefined for XML that is none of this protocol. @throws XmlError */
export function parseLoginAnswer(source: string): LoginAnswer | undefined {
  const top = parseXml(source);
  if (top.name !== "config-auth" && top.name !== "auth") return undefined;
  const whole: XmlElement = { name: "", attributes: new Map(), children: [top], text: "" };
  const auth = findElement(whole, "auth");
  const has = (name: string): boolean => findElement(whole, name) !== undefined;
  const form = findElement(whole, "form");
  return {
    sessionToken: textOf(findElement(whole, "session-token")),
    isLoggedIn: auth?.attributes.get("id") === "success" || top.attributes.get("type") === "complete",
    opaque: findElement(whole, "opaque") ?? null,
    form: form === undefined ? null : formOf(form),
    message: wordsOf(auth, "message"),
    error: wordsOf(top, "error"),
    wants: {
      clientCertificate: has("client-cert-request"),
      hostScan: has("host-scan") || has("csdlinux") || has("csd"),
      webLogin: has("sso-v2-login") || has("sso-v2-login-final"),
    },
  };
}

function formOf(form: XmlElement): LoginForm {
  const inputs = ["input", "select"].flatMap((name) => findElements(form, name)).slice(0, FIELD_LIMIT);
  return { action: form.attributes.get("action") ?? "/", fields: inputs.flatMap((input) => fieldOf(input) ?? []) };
}

function fieldOf(input: XmlElement): FormField | undefined {
  const { attributes } = input;
  const name = attributes.get("name") ?? "";
  const label = (attributes.get("label") ?? "").replace(/:\s*$/, "");
  const value = attributes.get("value") ?? "";
  if (!/^[\w.-]{1,128}$/.test(name)) return undefined;
  if (input.name === "select") {
    const options = findElements(input, "option").map((option) => ({
      value: option.attributes.get("value") ?? option.text,
      label: option.text,
      isSelected: ["true", "selected"].includes((option.attributes.get("selected") ?? "").toLowerCase()),
    }));
    return { kind: "select", name, label, value, options };
  }
  const type = (attributes.get("type") ?? "text").toLowerCase();
  const kind = type === "password" || type === "hidden" ? type : isTyped(type) ? "text" : undefined;
  return kind === undefined ? undefined : { kind, name, label, value, options: [] };
}

/** Buttons and boxes need no answer. */
function isTyped(type: string): boolean {
  return !["submit", "reset", "button", "checkbox", "radio", "image", "file"].includes(type);
}

function textOf(element: XmlElement | undefined): string | null {
  return element === undefined || element.text === "" ? null : element.text;
}

/** The words of it, with what it puts into them (`<message id="…" param1="…">…%s`). */
function wordsOf(parent: XmlElement | undefined, name: string): string | null {
  const element = parent === undefined ? undefined : findElement(parent, name);
  const text = textOf(element);
  if (element === undefined || text === null) return null;
  let nth = 0;
  return text.replace(/%s/g, () => element.attributes.get(`param${++nth}`) ?? "");
}
