/** Connections of the lab's gateway: chosen by the identity that a client asks for. */

export const PRE_SHARED_KEY = "a shared key of the lab";
export const LOGIN = { username: "alice@lab.test", password: "pass w0rd of alice" } as const;

/** A network behind the gateway, of which it has the first address. */
export const BRANCH = "10.251.7.0";

export interface ConnectionsOptions {
  /** For IKE, as swanctl writes them. */
  readonly proposals?: string;
  readonly espProposals?: string;
}

const CHILD = (espProposals: string, localTs = "0.0.0.0/0"): string =>
  `children { net {
      local_ts = ${localTs}
      esp_proposals = ${espProposals}
      rekey_time = 0
    } }`;

export function connections({
  proposals = "aes256gcm16-prfsha384-ecp256,aes256-sha256-modp2048,aes128-sha256-x25519",
  espProposals = "aes256gcm16,aes128gcm16,aes256-sha256",
}: ConnectionsOptions = {}): string {
  const net = CHILD(espProposals);
  const certificate = (name: string, id: string): string => `local { auth = pubkey
      certs = ${name}.crt
      id = ${id} }`;
  const eap = (method: string, client = "%any"): string => `remote { auth = ${method}
      id = ${client}
      eap_id = %any }`;
  const psk = (id: string, client = "%any"): string => `local { auth = psk
      id = ${id} }
    remote { auth = psk
      id = ${client} }`;
  const connection = (name: string, sides: string, child = net, more = "pools = lab"): string => `  ${name} {
    version = 2
    proposals = ${proposals}
    send_cert = ifasked
    ${more}
    ${sides}
    ${child}
  }`;
  return `connections {
${connection("a-login", `${certificate("gateway", "gw.test")}\n    ${eap("eap-mschapv2")}`)}
${connection("b-curve", `${certificate("curve", "curve.test")}\n    ${eap("eap-mschapv2")}`)}
${connection("c-md5", `${certificate("gateway", "md5.test")}\n    ${eap("eap-md5")}`)}
${connection("d-client", `${certificate("client", "client.test")}\n    ${eap("eap-mschapv2")}`)}
${connection("e-psk", psk("psk.test"))}
${connection("f-narrow", psk("narrow.test"), CHILD(espProposals, "10.250.0.1/32"))}
${connection("g-esp", psk("esp.test"), CHILD("aes192-sha256"))}
${connection("i-split", psk("split.test"), CHILD(espProposals, `${BRANCH}/24`))}
${connection("j-six", psk("six.test"), CHILD(espProposals, "::/0"), "pools = lab6")}
${connection("k-name", psk("name.test", "branch.test"))}
${connection("l-keyid", psk("keyid.test", "keyid:branch"))}
${connection("m-laptop", `${certificate("gateway", "laptop.test")}\n    ${eap("eap-mschapv2", "laptop@branch.test")}`)}
${connection("n-cert", `${certificate("gateway", "cert.test")}\n    remote { auth = pubkey }`)}
${connection("o-certid", `${certificate("gateway", "certid.test")}\n    remote { auth = pubkey\n      id = laptop@branch.test }`)}
${connection("p-mixed", `local { auth = psk\n      id = mixed.test }\n    remote { auth = pubkey }`)}
${connection("q-pss", `${certificate("gateway", "pss.test")}\n    remote { auth = ike:rsa/pss-sha256-sha384-sha512 }`)}
${connection("r-tls", `${certificate("gateway", "tls.test")}\n    ${eap("eap-tls")}`)}
${connection("s-tls-alone", `local { auth = eap-tls\n      certs = gateway.crt\n      id = tls-alone.test }\n    ${eap("eap-tls")}`)}
${connection("h-nopool", psk("nopool.test"), net, "")}
}
pools {
  lab { addrs = 10.69.0.0/24
    dns = 1.1.1.1 }
  lab6 { addrs = fd00:69::/120 }
}
secrets {
  ike-lab { secret = "${PRE_SHARED_KEY}" }
  eap-alice { id = ${LOGIN.username}
    secret = "${LOGIN.password}" }
  private-gateway { file = gateway.key }
  private-curve { file = curve.key }
  private-client { file = client.key }
}
`;
}
