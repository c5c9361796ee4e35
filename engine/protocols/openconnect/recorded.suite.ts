/** What ocserv 1.1.6 said to this client, and what is said by servers that it stands for. */
import { encodeFrame, FRAME } from "./cstp.ts";

const top = (type: string, inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<config-auth client="vpn" type="${type}">\n<version who="sg">0.1(1)</version>\n${inner}</config-auth>`;
const form = (message: string, fields: string): string =>
  top(
    "auth-request",
    `<auth id="main">\n<message>${message}</message>\n<form method="post" action="/auth">\n${fields}\n</form></auth>\n`,
  );

export const RECORDED = {
  username: form("Please enter your username.", '<input type="text" name="username" label="Username:" />'),
  groups: form(
    "Please enter your username.",
    `<input type="text" name="username" label="Username:" />
<select name="group_list" label="Group:">
<option value="guests">Guests</option>
<option value="staff">Staff & friends</option>
</select>`,
  ),
  password: form("Please enter your password.", '<input type="password" name="password" label="Password:" />'),
  failed: form(
    "Login failed.\nPlease enter your password.",
    '<input type="password" name="password" label="Password:" />',
  ),
  code: form("Please enter your OTP password.", '<input type="password" name="password" label="Password:" />'),
  success: top("complete", '<auth id="success">\n<title>SSL VPN Service</title></auth>'),
  successHeaders: [
    ["set-cookie", "webvpncontext=AD8Zzq2Ud8FlVMYuIIeIVFuKvVb4QPIxgM09h9Ise0I=; Secure; HttpOnly"],
    ["set-cookie", "webvpn=AD8Zzq2Ud8FlVMYuIIeIVFuKvVb4QPIxgM09h9Ise0I=; Secure; HttpOnly"],
    ["set-cookie", "webvpnc=; expires=Thu, 01 Jan 1970 22:00:00 GMT; path=/; Secure; HttpOnly"],
  ],
  connected: [
    ["x-cstp-version", "1"],
    ["x-cstp-server-name", "ocserv 1.1.6"],
    ["x-cstp-dpd", "90"],
    ["x-cstp-address", "10.68.0.50"],
    ["x-cstp-netmask", "255.255.255.0"],
    ["x-cstp-address-ip6", "fd00:68::9a7c:c09f:b76e:58ef/128"],
    ["x-cstp-dns", "1.1.1.1"],
    ["x-cstp-split-include", "1.1.1.0/255.255.255.0"],
    ["x-cstp-base-mtu", "1500"],
    ["x-cstp-mtu", "1472"],
  ],
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
