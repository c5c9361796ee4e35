/** TLS of a login server, for tests: Node's own, without a socket. */
import { Duplex } from "node:stream";
import { createSecureContext, type SecureVersion, TLSSocket } from "node:tls";
import type { MadeCertificate } from "../../demo/certificates.ts";
import type { LoginServer, ServerFlight } from "../../demo/tunnels/ikev2-gateway.ts";

export interface LoginServerOptions {
  readonly certificate: MadeCertificate;
  /** Behind its own. */
  readonly chain?: readonly MadeCertificate[];
  /** PEM of who signs clients. */
  readonly clientCa: string;
  readonly version?: SecureVersion;
  readonly ciphers?: string;
}

/** More than TLS needs to say what it has to say. */
const ROUNDS = 12;

export function openLoginServer(options: LoginServerOptions): LoginServer {
  const { certificate, chain = [], clientCa, version = "TLSv1.3", ciphers } = options;
  let said: Buffer[] = [];
  let key: Buffer | null = null;
  let isRefused = false;
  const carrier = new Duplex({
    read() {},
    write(records: Buffer, _encoding, done) {
      said.push(records);
      done();
    },
  });
  const secure = new TLSSocket(carrier as never, {
    isServer: true,
    requestCert: true,
    rejectUnauthorized: false,
    secureContext: createSecureContext({
      cert: [certificate, ...chain].map(({ certPem }) => certPem).join(""),
      key: certificate.keyPem,
      ca: clientCa,
      minVersion: "TLSv1.2",
      maxVersion: version,
      dhparam: "auto",
      ...(ciphers !== undefined && { ciphers }),
    }),
  });
  secure.on("error", () => {
    isRefused = true;
  });
  secure.on("secure", () => {
    const { ssl } = secure as unknown as { readonly ssl: { verifyError(): Error | null } };
    if (ssl.verifyError() !== null) isRefused = true;
    else if (secure.getProtocol() === "TLSv1.3") {
      key = secure.exportKeyingMaterial(128, "EXPORTER_EAP_TLS_Key_Material", Buffer.from([13])).subarray(0, 64);
      secure.write(Buffer.alloc(1));
    } else {
      const exporter: { exportKeyingMaterial(length: number, label: string): Buffer } = secure as never;
      key = exporter.exportKeyingMaterial(128, "client EAP encryption").subarray(0, 64);
    }
  });
  return {
    turn(records, done: (answer: ServerFlight | null) => void) {
      carrier.push(records);
      let rounds = 0;
      const look = (): void => {
        if (++rounds < ROUNDS) {
          setImmediate(look);
          return;
        }
        const answer = { records: Buffer.concat(said), masterSessionKey: key };
        said = [];
        done(isRefused ? null : answer);
      };
      setImmediate(look);
    },
  };
}
