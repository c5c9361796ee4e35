/** What ocserv 1.1.6 said to this client, and what is said by servers that it stands for. */
import { form, OCSERV, top } from "../../../demo/tunnels/ocserv-words.ts";
import { encodeFrame, FRAME } from "./cstp.ts";

export const RECORDED = {
  ...OCSERV,
  groups: form(
    "Please enter your username.",
    `<input type="text" name="username" label="Username:" />
<select name="group_list" label="Group:">
<option value="guests">Guests</option>
<option value="staff">Staff & friends</option>
</select>`,
  ),
  failed: form(
    "Login failed.\nPlease enter your password.",
    '<input type="password" name="password" label="Password:" />',
  ),
  code: form("Please enter your OTP password.", '<input type="password" name="password" label="Password:" />'),
  /** An answer to an echo, in its frame. */
  echo: Buffer.from(
    "5354460100540000450000544c630000400121cf010101010a4400320000fd5fb62eb44fbd75351a79280b48616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161",
    "hex",
  ),
} as const;

/** Of a Cisco ASA: everything in one form, groups with the wanted one chosen, the session in the answer. */
export const ASA = {
  form: top(
    "auth-request",
    `<opaque is-for="sg"><tunnel-group>users</tunnel-group><config-hash>15 &amp; 3</config-hash></opaque>
<auth id="main"><title>Login</title><message>Please enter your username and password.</message><banner></banner>
<form><input type="text" name="username" label="Username:"></input><input type="password" name="password" label="Password:"></input>
<select name="group_list" label="GROUP:"><option selected="true">users</option><option>admins</option></select></form></auth>`,
  ),
  secondPassword: top(
    "auth-request",
    '<auth id="main"><form><input type="text" name="username"/><input type="password" name="password"/><input type="password" name="secondary_password" label="Second Password:"/></form></auth>',
  ),
  refused: top(
    "auth-request",
    '<auth id="main"><message id="0" param1="" param2=""></message><error id="88" param1="Login" param2="">%s denied, unauthorized connection mechanism, contact your administrator.</error><form><input type="text" name="username"/><input type="password" name="password"/></form></auth>',
  ),
  success: top(
    "complete",
    '<session-id>32</session-id><session-token>28D1@9600@3F0E@AA55</session-token><auth id="success"><message id="0"></message></auth>',
  ),
  hostScan: top(
    "auth-request",
    "<host-scan><host-scan-ticket>T</host-scan-ticket><host-scan-wait-uri>/+CSCOE+/sdesktop/wait.html</host-scan-wait-uri></host-scan>",
  ),
  web: top(
    "auth-request",
    '<auth id="main"><sso-v2-login>https://idp.test/login</sso-v2-login><form><input type="sso" name="sso-token"/></form></auth>',
  ),
  certificate: top("auth-request", "<client-cert-request/>"),
} as const;

/** Seeds of hostile input. */
export const SEEDS: readonly Buffer[] = [
  ...Object.values(RECORDED).flatMap((each) => (typeof each === "string" ? [Buffer.from(each)] : [])),
  ...Object.values(ASA).map((text) => Buffer.from(text)),
  RECORDED.echo,
  encodeFrame(FRAME.dpdRequest, Buffer.from("are you there")),
  Buffer.from(
    `HTTP/1.1 200 CONNECTED\r\n${RECORDED.connected.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  ),
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Length: ${RECORDED.username.length}\r\nSet-Cookie: webvpncontext=a; Secure\r\n\r\n${RECORDED.username}`,
  ),
  Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<auth\r\n3\r\n/> \r\n0\r\n\r\n`),
];
