/**
 * Options of a profile that this checker does as they say, or that change nothing about whether the tunnel comes up and carries packets
 * (openvpn(8) of 2.7). Any other may make the tunnel differ from the checker's, so the result names it. Pure.
 */

/** Read by settings.ts, config.ts, verify.ts and tls-settings.ts. */
const DONE =
  "client tls-client pull remote port rport proto remote-random remote-random-hostname proto-force dev dev-type auth-user-pass auth auth-nocache cipher data-ciphers ncp-ciphers data-ciphers-fallback " +
  "tls-auth tls-crypt tls-crypt-v2 key-direction ca cert key extra-certs pkcs12 crl-verify peer-fingerprint verify-hash verify-x509-name tls-remote remote-cert-tls remote-cert-eku " +
  "remote-cert-ku ns-cert-type tls-version-min tls-version-max tls-cipher tls-ciphersuites tls-groups tls-cert-profile comp-lzo compress fragment ifconfig ifconfig-ipv6 pull-filter";
/** Of the machine that a client runs on, of sessions longer than a check, or of servers. */
const OF_NO_MATTER =
  "nobind bind bind-dev local lport float persist-key persist-tun persist-local-ip persist-remote-ip resolv-retry connect-retry connect-retry-max connect-timeout server-poll-timeout " +
  "hand-window tls-timeout tran-window reneg-sec reneg-bytes reneg-pkts keepalive ping ping-restart ping-exit ping-timer-rem inactive session-timeout explicit-exit-notify remap-usr1 " +
  "tun-mtu tun-mtu-extra tun-mtu-max link-mtu udp-mtu tls-mtu mssfix mtu-disc mtu-test max-packet-size sndbuf rcvbuf socket-flags txqueuelen shaper mark multihome fast-io mlock nice " +
  "verb mute mute-replay-warnings machine-readable-output suppress-timestamps errors-to-stderr echo syslog disable-occ occ-disable opt-verify user group setcon " +
  "route route-ipv6 route-gateway route-ipv6-gateway route-metric route-delay route-method route-nopull route-noexec route-table redirect-gateway redirect-private client-nat block-ipv6 block-outside-dns " +
  "register-dns dhcp-option dhcp-release dhcp-renew dhcp-pre-release dns ip-win32 tap-sleep win-sys windows-driver pause-exit show-net-up service allow-nonadmin topology ifconfig-nowarn ifconfig-noexec " +
  "lladdr max-routes allow-pull-fqdn allow-recursive-routing allow-compression disable-dco setenv setenv-safe push-peer-info auth-retry auth-token static-challenge single-session tls-exit ecdh-curve dh " +
  "replay-window no-replay no-iv keysize use-prediction-resistance prng engine providers ncp-disable compat-mode ignore-unknown-option allow-deprecated-insecure-static-crypto enable-prng-reseed key-method x509-track x509-username-field " +
  "verify-client-cert preresolve rmtun mktun tun-ipv6 comp-noadapt bcast-buffers down-pre up-delay up-restart passtos tcp-nodelay tcp-queue-limit memstats status-version " +
  "tmp-dir no-name-remapping mode keying-material-exporter http-proxy-option socks-proxy-retry hash-size";

const KNOWN: ReadonlySet<string> = new Set([...DONE.split(" "), ...OF_NO_MATTER.split(" ")]);

export function isKnownOption(name: string): boolean {
  return KNOWN.has(name);
}
