/** A file of wg-quick for documents; no server has these keys. Each key is 32 bytes in base64. */
export const EXAMPLE_FILE = `[Interface]
PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=
Address = 10.9.0.2/32

[Peer]
PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
Endpoint = vpn.test-site.org:51820
AllowedIPs = 0.0.0.0/0
`;
