import { describe, expect, it } from "vitest";
import { NetworkFault } from "../../net/fault.ts";
import type { HttpAnswer, HttpRequest } from "./http.ts";
import { type LoginResult, type LoginSettings, logIn } from "./login.ts";
import { ASA, RECORDED } from "./recorded.suite.ts";

const SETTINGS: LoginSettings = {
  authority: "vpn.test",
  target: "/",
  username: "alice",
  password: "pass <w0rd> & of alice",
  group: null,
};

type Said = Partial<HttpAnswer>;
const html: Said = { body: "<!DOCTYPE html><html><body>It works</body></html>" };
const form = (body: string): Said => ({ body });
const success: Said = { body: RECORDED.success, headers: RECORDED.successHeaders };
const connected: Said = { headers: RECORDED.connected };
const moved = (location: string): Said => ({ status: 302, headers: [["location", location]] });

interface Told {
  readonly requests: readonly HttpRequest[];
  readonly end: LoginResult | NetworkFault;
}

/** A login with a server that says these one after the other. */
function told(answers: readonly Said[], settings: Partial<LoginSettings> = {}): Told {
  const talk = logIn({ ...SETTINGS, ...settings });
  const requests: HttpRequest[] = [];
  try {
    let step = talk.next();
    for (const answer of answers) {
      if (step.done) throw new Error("the login ended early");
      requests.push(step.value);
      step = talk.next({ status: 200, phrase: "", headers: [], body: "", isLast: false, ...answer });
    }
    if (!step.done) throw new Error(`the login goes on: ${step.value.body}`);
    return { requests, end: step.value };
  } catch (error) {
    if (!(error instanceof NetworkFault)) throw error;
    return { requests, end: error };
  }
}

function bodies({ requests }: Told): readonly string[] {
  return requests.map(({ body }) =>
    body.replace(/^.*<device-id>linux-64<\/device-id>/s, "").replace("</config-auth>", ""),
  );
}

describe("a login", () => {
  it("at ocserv gives name and password in a form each, then asks for the tunnel with the session's cookie", () => {
    const all = told([form(RECORDED.username), form(RECORDED.password), success, connected]);
    expect(bodies(all)).toEqual([
      "<group-access>https://vpn.test/</group-access>",
      "<auth><username>alice</username></auth>",
      "<auth><password>pass &#60;w0rd&#62; &#38; of alice</password></auth>",
      "",
    ]);
    expect(all.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /",
      "POST /auth",
      "POST /auth",
      "CONNECT /CSCOSSLC/tunnel",
    ]);
    expect(all.requests.at(-1)?.headers).toContainEqual([
      "Cookie",
      "webvpn=AD8Zzq2Ud8FlVMYuIIeIVFuKvVb4QPIxgM09h9Ise0I=",
    ]);
    expect(all.end).toMatchObject({
      kind: "up",
      offer: { addresses: ["10.68.0.50", "fd00:68::9a7c:c09f:b76e:58ef"], dns: ["1.1.1.1"], mtuBytes: 1_472 },
    });
  });

  it("at a Cisco ASA fills in one form, gives back what is opaque, and takes the session from the answer", () => {
    const all = told([form(ASA.form), form(ASA.success), connected]);
    expect(bodies(all)[1]).toBe(
      '<opaque is-for="sg"><tunnel-group>users</tunnel-group><config-hash>15 &#38; 3</config-hash></opaque>' +
        "<auth><username>alice</username><password>pass &#60;w0rd&#62; &#38; of alice</password></auth><group-select>users</group-select>",
    );
    expect(all.requests.at(-1)?.headers).toContainEqual(["Cookie", "webvpn=28D1@9600@3F0E@AA55"]);
    expect(all.end).toMatchObject({ kind: "up" });
  });

  it("for another group than the form's begins again with it, by name or label", () => {
    for (const group of ["staff", "Staff & friends", "STAFF"]) {
      const all = told([form(RECORDED.groups), form(RECORDED.username), form(RECORDED.password), success, connected], {
        group,
      });
      expect(bodies(all)[1]).toContain("<group-select>staff</group-select>");
      expect(bodies(all)[2]).toBe("<auth><username>alice</username></auth><group-select>staff</group-select>");
      expect(all.end).toMatchObject({ kind: "up" });
    }
  });

  it("keeps the camouflage's secret in the first request, and out of every message", () => {
    const all = told([form(RECORDED.username), { status: 401, phrase: "No secret123 here" }], {
      target: "/?secret123",
    });
    expect(all.requests.map(({ target }) => target)).toEqual(["/?secret123", "/auth"]);
    expect(all.end).toMatchObject({ verdict: "auth-failed", peer: "No … here" });
  });

  it("follows redirects at the same server, and says where else to ask", () => {
    const all = told([moved("/staff"), form(RECORDED.username), form(RECORDED.password), success, connected]);
    expect(all.requests[1]).toMatchObject({ method: "POST", target: "/staff" });
    expect(all.end).toMatchObject({ kind: "up" });
    const { end } = told([moved("https://other.test:8443/")]);
    expect(end).toEqual({ kind: "elsewhere", url: new URL("https://other.test:8443/") });
  });

  const OLD =
    '<?xml version="1.0"?><auth id="main"><message>Please log in</message><form method="post" action="/+webvpn+/index.html">' +
    '<input type="text" name="username" label="USERNAME:"/><input type="password" name="password" label="PASSWORD:"/>' +
    '<select name="group_list"><option value="guests">Guests</option><option value="staff">Staff</option></select>' +
    '<input type="hidden" name="tgroup" value="a b"/><input type="submit" name="Login" value="Login"/></form></auth>';
  it.each<[string, Said]>([
    ["refuses the first request", { status: 404 }],
    ["answers it with a page", html],
    ["answers it with half an XML", form("<config-auth")],
  ])("asks a server that %s as one of before XML: a page, and its form as a browser fills it in", (_, first) => {
    const cookie: Said = { headers: [["set-cookie", "tg=0; path=/"]] };
    const all = told([{ ...first, ...cookie }, form(OLD), success, connected], { target: "/vpn", group: "Staff" });
    expect(all.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /vpn",
      "GET /vpn",
      "POST /+webvpn+/index.html",
      "CONNECT /CSCOSSLC/tunnel",
    ]);
    expect(all.requests[1]).toMatchObject({ body: "", headers: expect.arrayContaining([["Cookie", "tg=0"]]) });
    expect(all.requests[2]?.headers).toContainEqual(["Content-Type", "application/x-www-form-urlencoded"]);
    expect(Object.fromEntries(new URLSearchParams(all.requests[2]?.body))).toEqual({
      username: SETTINGS.username,
      password: SETTINGS.password,
      group_list: "staff",
      tgroup: "a b",
    });
    expect(all.end).toMatchObject({ kind: "up" });
    const refused = OLD.replace("Please log in", "Login failed.");
    expect(told([first, form(OLD), form(refused)]).end).toMatchObject({
      verdict: "auth-failed",
      peer: "Login failed.",
    });
  });

  it("tries without a client certificate when the server asks for one", () => {
    const all = told([form(ASA.certificate), form(ASA.form), form(ASA.success), connected]);
    expect(bodies(all)[1]).toContain("<client-cert-fail/>");
    expect(all.end).toMatchObject({ kind: "up" });
  });

  const named = [form(RECORDED.username), form(RECORDED.password)];
  const FAULTS: readonly (readonly [string, readonly Said[], NetworkFault["verdict"], RegExp])[] = [
    ["a website", [html, html], "misconfigured", /not an OpenConnect server's login \(HTTP 200\)/],
    ["a camouflage without its secret", [{ status: 401 }], "misconfigured", /not an OpenConnect/],
    ["a page that is not there", [{ status: 404 }, { status: 404 }], "misconfigured", /not an OpenConnect/],
    ["XML of something else", [form("<html/>"), form("<html/>")], "misconfigured", /not an OpenConnect/],
    ["trouble", [{ status: 503, headers: [["x-reason", "down"]] }], "rejected", /HTTP 503/],
    ["too many requests", [{ status: 429 }], "rejected", /HTTP 429/],
    ["a wrong password", [...named, form(RECORDED.failed)], "auth-failed", /refused the username or password/],
    ["a wrong password at an ASA", [form(ASA.form), form(ASA.refused)], "auth-failed", /refused the username or/],
    [
      "a refusal without a form",
      [...named, { status: 401, phrase: "Authentication failed" }],
      "auth-failed",
      /refused/,
    ],
    ["a one-time code", [...named, form(RECORDED.code)], "auth-failed", /needs a person/],
    ["a second password", [form(ASA.secondPassword)], "auth-failed", /another answer, "Second Password"/],
    ["a login in a browser", [form(ASA.web)], "auth-failed", /a login in a browser/],
    ["a posture check", [form(ASA.hostScan)], "misconfigured", /a program of its own to be run/],
    ["a certificate, and nothing else", [form(ASA.certificate), form(ASA.certificate)], "misconfigured", /client cert/],
    ["plain HTTP", [moved("http://vpn.test/")], "protocol-error", /away from HTTPS/],
    ["no place", [moved("")], "protocol-error", /to nowhere/],
    ["another server, once it knows the name", [named[0] ?? {}, moved("https://b.test/")], "protocol-error", /middle/],
    ["itself for ever", Array.from({ length: 13 }, () => moved("/a")), "protocol-error", /again and again/],
    [
      "a form for another server",
      [form(RECORDED.username.replace("/auth", "https://b.test/x"))],
      "protocol-error",
      /another/,
    ],
    ["success without a session", [...named, form(RECORDED.success)], "protocol-error", /no session/],
    ["a session that it does not take", [...named, success, { status: 401 }], "auth-failed", /refuses the session/],
    ["no tunnel", [...named, success, { status: 503, headers: [["x-reason", "no IP"]] }], "rejected", /no tunnel/],
    ["a tunnel without an address", [...named, success, {}], "rejected", /no address/],
  ];
  it.each(FAULTS)("that meets %s ends in words", (_, answers, verdict, words) => {
    const { end } = told(answers);
    expect(end).toMatchObject({ verdict, message: expect.stringMatching(words), peerAnswered: true });
    expect(JSON.stringify(end)).not.toContain(SETTINGS.password);
  });

  it("names the groups that there are when the wanted one is not", () => {
    const { end } = told([form(RECORDED.groups)], { group: "admins" });
    expect(end).toMatchObject({ verdict: "misconfigured", hint: "Its groups: Guests, Staff & friends" });
  });

  it("never repeats its password in what a server says", () => {
    const echo = RECORDED.failed.replace("Login failed.", `Login failed: ${SETTINGS.password}.`);
    const { end } = told([...named, form(echo)]);
    expect(end).toMatchObject({ verdict: "auth-failed" });
    expect(end instanceof NetworkFault && end.peer).toMatch(/^Login failed/);
    expect(end instanceof NetworkFault && end.peer).not.toContain("alice");
  });
});
