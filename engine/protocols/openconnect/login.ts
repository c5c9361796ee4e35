/**
 * A login, as requests to send and answers to be given: forms are filled in until there is a session, or it is clear why there will be none.
 * Bounded in steps; a password is given once, because every wrong one brings this address closer to a ban (ocserv, "max-ban-score"). Pure.
 */
import { parseUrl } from "../../../model/url.ts";
import { CookieJar, isCookieValue } from "./cookies.ts";
import { type FormField, type FormOption, type LoginAnswer, type LoginForm, parseLoginAnswer } from "./form.ts";
import { type HttpAnswer, type HttpRequest, headerOf } from "./http.ts";
import { parseOffer, type TunnelOffer } from "./offer.ts";
import * as refusals from "./refusals.ts";
import { connectRequest, formRequest, initRequest, pageRequest, replyRequest } from "./request.ts";
import { XmlError } from "./xml.ts";

export interface LoginSettings {
  /** `host` or `host:port`, as in a URL. */
  readonly authority: string;
  /** Path and query. */
  readonly target: string;
  readonly username: string;
  readonly password: string;
  readonly group: string | null;
}

export type LoginResult =
  | { readonly kind: "up"; readonly offer: TunnelOffer }
  /** Another server is to be asked; this one has received nothing about the user. */
  | { readonly kind: "elsewhere"; readonly url: URL };

export type LoginTalk = Generator<HttpRequest, LoginResult, HttpAnswer>;

/** A server asks for name and password in at most two forms; the rest is for groups, redirects and a certificate that is not there. */
const STEP_LIMIT = 12;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** RFC 3986 without a fragment: what may stand in a request line. */
const TARGET = /^[/?][\x21\x22\x24-\x7e]*$/;
const TARGET_LIMIT = 2_048;

/** Names of inputs, in lower case. */
const USER = /^(?:user|login|uname|email|name)/;
const FIRST_PASSWORD = /^(?:password|passwd|pass|pwd)$/;
const REFUSING = /fail|denied|incorrect|invalid|wrong|not valid|unsuccessful|try again|mismatch|locked|expired/i;
const FACTOR = /\botp\b|one[- ]?time|token|passcode|\bcode\b|challenge|factor|verif|sms|authenticator|duo/i;

/** Whether it can stand in a request line. */
export function isTarget(text: string): boolean {
  return text.length <= TARGET_LIMIT && TARGET.test(text);
}

/** From the first request to CONNECT's answer. @throws NetworkFault */
export function logIn(settings: LoginSettings): LoginTalk {
  return new Login(settings).run();
}

class Login {
  readonly #settings: LoginSettings;
  readonly #jar = new CookieJar();
  #target: string;
  /** What the first request of a login names: nothing until the list is seen, because ocserv hides its list from those who name one. */
  #group: string | null = null;
  #hasNoCertificate = false;
  #hasSpoken = false;
  /** It does not understand requests in XML: servers of before AnyConnect 3 have forms for browsers only. */
  #isPlain = false;
  #isNamed = false;
  #hasGivenPassword = false;

  constructor(settings: LoginSettings) {
    this.#settings = settings;
    this.#target = settings.target;
  }

  *run(): LoginTalk {
    let answer = yield this.#init();
    for (let step = 0; step < STEP_LIMIT; step++) {
      this.#jar.take(answer);
      if (REDIRECTS.has(answer.status)) {
        const url = this.#redirected(answer);
        if (url !== null) return { kind: "elsewhere", url };
        answer = yield this.#init();
        continue;
      }
      if (this.#isNotUnderstood(answer)) {
        this.#isPlain = true;
        answer = yield this.#init();
        continue;
      }
      const login = this.#read(answer);
      if (login.isLoggedIn) return { kind: "up", offer: this.#offerOf(yield this.#connect(login)) };
      answer = yield this.#next(login);
    }
    throw refusals.unexpected("The server asks again and again");
  }

  #init(): HttpRequest {
    const { authority } = this.#settings;
    if (this.#isPlain) return pageRequest(authority, this.#target, this.#jar.text());
    const init = { authority, target: this.#target, group: this.#group, hasNoCertificate: this.#hasNoCertificate };
    return initRequest(init, this.#jar.text());
  }

  /** @returns where else; null: here, at another path */
  #redirected(answer: HttpAnswer): URL | null {
    const here = `https://${this.#settings.authority}`;
    const location = headerOf(answer, "location") ?? "";
    const url = location === "" ? undefined : parseUrl(location, `${here}${this.#target}`);
    if (url === undefined) throw refusals.unexpected("The server redirects to nowhere");
    if (url.protocol !== "https:") {
      throw refusals.unexpected("The server redirects the login away from HTTPS");
    }
    if (url.origin !== new URL(here).origin) {
      if (this.#isNamed) throw refusals.unexpected("The server redirects to another one in the middle of the login");
      return url;
    }
    this.#target = `${url.pathname}${url.search}`;
    return null;
  }

  /** A server that asks for a password in HTTP's own way hides its login, and bans who knocks too often. */
  #isNotUnderstood({ status, body }: HttpAnswer): boolean {
    if (this.#isPlain || this.#hasSpoken || status === 401 || isTrouble(status)) return false;
    return status !== 200 || readForm(body) === undefined;
  }

  /** @throws NetworkFault for whatever is no step of a login */
  #read(answer: HttpAnswer): LoginAnswer {
    const { status } = answer;
    const said = this.#clean(headerOf(answer, "x-reason") ?? answer.phrase);
    if (this.#isNamed && (status === 401 || status === 403)) throw this.#refused(said);
    if (isTrouble(status)) throw refusals.serverTrouble(`The server has trouble of its own (HTTP ${status})`, said);
    const login = status === 200 ? readForm(answer.body) : undefined;
    if (login === undefined) {
      if (!this.#hasSpoken) throw refusals.notOpenconnect(answer);
      throw refusals.unexpected(`The server does not go on with the login (HTTP ${status})`, said);
    }
    this.#hasSpoken = true;
    return login;
  }

  #next(login: LoginAnswer): HttpRequest {
    const { wants, form } = login;
    const said = this.#clean(login.error ?? login.message);
    if (wants.hostScan) throw refusals.needsHostScan();
    if (wants.webLogin) throw refusals.needsPerson("a login in a browser", said);
    if (form === null || form.fields.length === 0) {
      if (wants.clientCertificate && !this.#hasNoCertificate) {
        this.#hasNoCertificate = true;
        return this.#init();
      }
      if (wants.clientCertificate) throw refusals.needsCertificate();
      if (this.#isNamed) throw this.#refused(said);
      if (login.error !== null) throw refusals.serverTrouble("The server ends the login", said);
      throw refusals.unexpected("The server sends neither a form nor a session");
    }
    if (!this.#isNamed && login.error !== null) {
      throw refusals.serverTrouble("The server answers the login with an error", said);
    }
    return this.#fillIn(login, form);
  }

  #fillIn(login: LoginAnswer, form: LoginForm): HttpRequest {
    const groups = form.fields.find((field) => field.kind === "select" && /group/i.test(field.name));
    const group = groups === undefined ? null : this.#chosenGroup(groups);
    if (group !== null && this.#needsNewStart(groups, group)) {
      this.#group = group.value;
      return this.#init();
    }
    const { authority } = this.#settings;
    const target = this.#targetOf(form.action);
    const values = form.fields
      .filter((field) => field !== groups)
      .map((field): readonly [string, string] => [field.name, this.#valueOf(field, login)]);
    if (this.#isPlain) {
      const chosen = groups === undefined || group === null ? [] : [[groups.name, group.value] as const];
      return formRequest({ authority, target, values: [...values, ...chosen] }, this.#jar.text());
    }
    const wanted = group?.value ?? this.#group ?? this.#settings.group;
    return replyRequest({ authority, target, opaque: login.opaque, values, group: wanted }, this.#jar.text());
  }

  #valueOf(field: FormField, login: LoginAnswer): string {
    const { kind, value, options } = field;
    if (kind === "hidden") return value;
    if (kind === "select") return selectedOf(options)?.value ?? "";
    const name = field.name.toLowerCase();
    if (kind === "text" && USER.test(name) && !this.#isNamed) {
      this.#isNamed = true;
      return this.#settings.username;
    }
    if (kind === "password" && FIRST_PASSWORD.test(name) && !this.#hasGivenPassword) {
      // A code in the field of the password: what we would send there is no code.
      if (this.#isNamed || !FACTOR.test(field.label)) {
        this.#hasGivenPassword = true;
        return this.#settings.password;
      }
    }
    throw this.#cannotAnswer(field, login);
  }

  /** The form asks for something that we do not have, or have given before. */
  #cannotAnswer(field: FormField, login: LoginAnswer): Error {
    const said = this.#clean(login.error ?? login.message);
    const isRefusal = login.error !== null || REFUSING.test(login.message ?? "");
    const isKnown = USER.test(field.name.toLowerCase()) || FIRST_PASSWORD.test(field.name.toLowerCase());
    const isFactor = !isKnown || FACTOR.test(`${field.label} ${login.message ?? ""}`);
    if (this.#isNamed && (isRefusal || !isFactor)) return this.#refused(said);
    return refusals.needsPerson(`another answer, "${this.#clean(field.label || field.name)}"`, said);
  }

  #chosenGroup({ options }: FormField): FormOption | null {
    const wanted = this.#settings.group;
    if (wanted === null) return selectedOf(options);
    const lower = wanted.toLowerCase();
    const found =
      options.find(({ value }) => value === wanted) ??
      options.find(({ label }) => label === wanted) ??
      options.find(({ value, label }) => value.toLowerCase() === lower || label.toLowerCase() === lower);
    if (found === undefined) throw refusals.noSuchGroup(options.map(({ label, value }) => this.#clean(label || value)));
    return found;
  }

  /** The form belongs to another group, and no name that the server offers has selected ours yet. */
  #needsNewStart(groups: FormField | undefined, group: FormOption): boolean {
    if (this.#isPlain || this.#settings.group === null || this.#isNamed || this.#group === group.value) return false;
    return selectedOf(groups?.options ?? []) !== group;
  }

  /** Of a form: at this server and nowhere else. */
  #targetOf(action: string): string {
    const here = `https://${this.#settings.authority}`;
    const url = parseUrl(action, `${here}/`);
    if (url === undefined || url.origin !== new URL(here).origin) {
      throw refusals.unexpected("The form leads to another server");
    }
    return `${url.pathname}${url.search}`;
  }

  #connect({ sessionToken }: LoginAnswer): HttpRequest {
    const token = sessionToken ?? this.#jar.get("webvpn");
    if (token === null || !isCookieValue(token)) throw refusals.unexpected("The server gives no session");
    return connectRequest(this.#settings.authority, `webvpn=${token}`);
  }

  #offerOf(answer: HttpAnswer): TunnelOffer {
    const said = this.#clean(headerOf(answer, "x-reason") ?? answer.phrase);
    if (answer.status === 401) throw refusals.refusedSession(said);
    if (answer.status !== 200) {
      throw refusals.serverTrouble(`The server accepts the login and gives no tunnel (HTTP ${answer.status})`, said);
    }
    const offer = parseOffer(answer);
    if (offer === undefined) throw refusals.serverTrouble("The server gives no address for the tunnel", said);
    return offer;
  }

  #refused(said: string | null): Error {
    return refusals.refusedLogin(this.#settings.group !== null, said);
  }

  /** The server's text without the credentials that it received. */
  #clean(text: string): string;
  #clean(text: string | null): string | null;
  #clean(text: string | null): string | null {
    if (text === null) return null;
    const query = this.#settings.target.split("?")[1] ?? "";
    return [this.#settings.password, query]
      .filter((secret) => secret !== "")
      .reduce((clean, secret) => clean.replaceAll(secret, "…"), text);
  }
}

/** Of the server or what stands before it, as with too many requests; it may be over at the next check. */
function isTrouble(status: number): boolean {
  return status >= 500 || status === 429;
}

/** A list without one begins with its standard one. */
function selectedOf(options: readonly FormOption[]): FormOption | null {
  return options.find(({ isSelected }) => isSelected) ?? options[0] ?? null;
}

function readForm(body: string): LoginAnswer | undefined {
  try {
    return parseLoginAnswer(body);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}
