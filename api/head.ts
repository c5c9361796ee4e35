/**
 * The head of a request, read strictly (RFC 9112, RFC 9110): what two servers on the way could read in two ways is refused, because a request
 * may hide in the difference. Both servers before the API hand every header line to it.
 */
import { JSON_HEADERS, MAX_DISCARDED_BYTES } from "./http.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** Why a request is refused before anything looks at what it asks for. Its connection ends with that. */
export interface HeadRefusal {
  readonly status: 400 | 413 | 431 | 503;
  /** JSON. It repeats nothing of the request. */
  readonly body: string;
}

/** Names and values in turn, of every refusal. */
export const REFUSAL_HEADERS: readonly string[] = [...JSON_HEADERS, "Cache-Control", "no-store", ...SECURITY_HEADERS];

/** Lines of one head. */
export const MAX_HEADERS = 100;

export const BAD_REQUEST = refusalOf(400, "Malformed request head");
const TOO_LARGE = refusalOf(413, "The request body is too large");
const TOO_MANY = refusalOf(431, "Too many headers");
export const TOO_LONG = refusalOf(431, "The request head is too long");
export const TOO_MUCH_AT_ONCE = refusalOf(
  503,
  "Too many requests are being sent at once. Send it again in a few seconds.",
);
/** Digits of the greatest Content-Length that is read: no real body has a longer one. */
const CONTENT_LENGTH = /^[0-9]{1,12}$/;
/** RFC 9110 section 5.5: a control character in a value is not allowed but for a tab. Some servers end a line at one, others do not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** RFC 9110 section 5.6.2: what a method is made of. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const LOOPBACK_HOST = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;
/** What proxies add: RFC 7239, RFC 9110 section 7.6.3, and the names in use. */
const PROXY_HEADER = /^(forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|cf-connecting-ip|true-client-ip)$/;

/** One object for each request; header names come in any case. */
export class Head {
  apiKey = "";
  authorization = "";
  projectId = "";
  /** All lines of the header as one list, in their order (RFC 9110 section 5.3): the last entry is that of the nearest proxy. */
  forwardedFor = "";
  /** All lines of the header as one list. */
  ifNoneMatch = "";
  /** All lines of the header as one list. */
  acceptEncoding = "";
  /** All lines of the header as one list; null when there is none. */
  idempotencyKey: string | null = null;
  /** All lines of the header as one list, in the way of cookies (RFC 6265 section 5.4). */
  cookie = "";
  /** All lines of the header as one list, and so are the next two: two lines are none that a browser sends, and match nothing. */
  origin = "";
  secFetchSite = "";
  page = "";
  host = "";
  /** The latest line. */
  userAgent = "";
  /** All lines of the header as one list. */
  acceptLanguage = "";
  isChunked = false;
  /** Whether a proxy said that it stands between, or the caller means another host than this machine's loopback. */
  isProxied = false;
  #lines = 0;
  #hosts = 0;
  #keys = 0;
  #authorizations = 0;
  #projects = 0;
  #lengths = 0;
  #codings = 0;
  #length = 0;
  #refusal: HeadRefusal | null = null;

  /** @param name in lower case */
  add(name: string, value: string): void {
    this.#lines++;
    switch (name) {
      case "host":
        this.#hosts++;
        this.nameHost(value);
        break;
      case "x-api-key":
        this.#keys++;
        this.apiKey = value;
        break;
      case "authorization":
        this.#authorizations++;
        this.authorization = value;
        break;
      case "x-project-id":
        this.#projects++;
        this.projectId = value;
        break;
      case "x-forwarded-for":
        this.isProxied = true;
        this.forwardedFor = joined(this.forwardedFor, value);
        break;
      case "if-none-match":
        this.ifNoneMatch = joined(this.ifNoneMatch, value);
        break;
      case "idempotency-key":
        this.idempotencyKey = joined(this.idempotencyKey ?? "", value);
        break;
      case "accept-encoding":
        this.acceptEncoding = joined(this.acceptEncoding, value);
        break;
      case "content-length":
        this.#lengths++;
        if (!CONTENT_LENGTH.test(value)) this.#refusal = BAD_REQUEST;
        else this.#length = Number(value);
        break;
      case "transfer-encoding":
        this.#codings++;
        // RFC 9112 section 6.1: chunked is the only coding here; in another case or with a blank some see none.
        if (value.toLowerCase() !== "chunked") this.#refusal = BAD_REQUEST;
        this.isChunked = true;
        break;
      default:
        if (this.#addOfPage(name, value)) break;
        if (PROXY_HEADER.test(name)) this.isProxied = true;
        return;
    }
    if (CONTROL.test(value)) this.#refusal = BAD_REQUEST;
  }

  /** The host that is meant, with its port where one is named. */
  nameHost(host: string): void {
    this.host = host;
    if (!LOOPBACK_HOST.test(host)) this.isProxied = true;
  }

  /** What browsers send. */
  #addOfPage(name: string, value: string): boolean {
    switch (name) {
      case "cookie":
        this.cookie = this.cookie === "" ? value : `${this.cookie}; ${value}`;
        return true;
      case "origin":
        this.origin = joined(this.origin, value);
        return true;
      case "sec-fetch-site":
        this.secFetchSite = joined(this.secFetchSite, value);
        return true;
      case "x-sonde-page":
        this.page = joined(this.page, value);
        return true;
      case "user-agent":
        this.userAgent = value;
        return true;
      case "accept-language":
        this.acceptLanguage = joined(this.acceptLanguage, value);
        return true;
      default:
        return false;
    }
  }

  /** Whether bytes follow the head. */
  get hasBody(): boolean {
    return this.#lengths > 0 || this.#codings > 0;
  }

  /** Bytes that the head announces; 0 where it does not. */
  get length(): number {
    return this.#length;
  }

  /**
   * Null when the head can be read in one way only. To be asked once all lines were added.
   * @param method as in the request line, and so is the version, `1.1`
   */
  refusal(method: string, version = "1.1"): HeadRefusal | null {
    if (!TOKEN.test(method)) return BAD_REQUEST;
    if (this.#lines > MAX_HEADERS) return TOO_MANY;
    if (this.#refusal !== null) return this.#refusal;
    // RFC 9112 sections 6.1 and 6.3: one way of framing, named once. A second key is a second caller.
    if (this.#lengths + this.#codings > 1) return BAD_REQUEST;
    if (this.#keys > 1 || this.#authorizations > 1 || this.#projects > 1) return BAD_REQUEST;
    // RFC 9112 section 3.2: exactly one Host, which HTTP/1.0 may lack; it knows no codings (section 6.1).
    if (version === "1.0" ? this.#hosts > 1 || this.#codings > 0 : version !== "1.1" || this.#hosts !== 1)
      return BAD_REQUEST;
    return this.#length > MAX_DISCARDED_BYTES ? TOO_LARGE : null;
  }
}

/** RFC 9110 section 5.3. */
function joined(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}

/** @param rawHeaders names and values in turn, as node:http gives them */
export function headOf(rawHeaders: readonly string[]): Head {
  const head = new Head();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    head.add((rawHeaders[index] ?? "").toLowerCase(), rawHeaders[index + 1] ?? "");
  return head;
}

function refusalOf(status: HeadRefusal["status"], message: string): HeadRefusal {
  return { status, body: JSON.stringify({ error: true, code: status, message }) };
}
