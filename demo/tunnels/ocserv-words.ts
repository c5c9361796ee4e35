/** What ocserv 1.1.6 says at a login, and when a tunnel is up. */

export const top = (type: string, inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<config-auth client="vpn" type="${type}">\n<version who="sg">0.1(1)</version>\n${inner}</config-auth>`;
export const form = (message: string, fields: string): string =>
  top(
    "auth-request",
    `<auth id="main">\n<message>${message}</message>\n<form method="post" action="/auth">\n${fields}\n</form></auth>\n`,
  );

export const OCSERV = {
  username: form("Please enter your username.", '<input type="text" name="username" label="Username:" />'),
  password: form("Please enter your password.", '<input type="password" name="password" label="Password:" />'),
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
} as const;
