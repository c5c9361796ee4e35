/** Certificates of a lab's own authority, made with openssl. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Authority {
  readonly pem: string;
  /** Writes `<name>.crt` and `<name>.key` into the folder. @param altNames such as `DNS:gw.test,IP:10.0.0.1` */
  issue(
    name: string,
    altNames: string,
    options?: {
      readonly purpose?: string;
      readonly rsaBits?: number;
      readonly isPss?: boolean;
      readonly days?: number;
    },
  ): void;
}

export function createAuthority(folder: string, name: string): Authority {
  const file = (text: string): string => join(folder, text);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  openssl(
    "req",
    "-x509",
    ...curve,
    "-nodes",
    "-keyout",
    file(`${name}.key`),
    "-out",
    file(`${name}.crt`),
    "-days",
    "30",
    "-subj",
    `/CN=${name}`,
  );
  return {
    pem: readFileSync(file(`${name}.crt`), "utf8"),
    issue(leaf, altNames, { purpose = "serverAuth", rsaBits, isPss = false, days = 30 } = {}) {
      const rsa = ["-newkey", isPss ? "rsa-pss" : "rsa", "-pkeyopt", `rsa_keygen_bits:${rsaBits}`];
      const key = rsaBits === undefined ? curve : rsa;
      openssl(
        "req",
        ...key,
        "-nodes",
        "-keyout",
        file(`${leaf}.key`),
        "-out",
        file(`${leaf}.csr`),
        "-subj",
        `/CN=${leaf}`,
      );
      writeFileSync(
        file(`${leaf}.ext`),
        `basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=${purpose}\nsubjectAltName=${altNames}\n`,
      );
      const by = ["-CA", file(`${name}.crt`), "-CAkey", file(`${name}.key`), "-CAcreateserial"];
      openssl(
        "x509",
        "-req",
        "-in",
        file(`${leaf}.csr`),
        ...by,
        "-days",
        String(days),
        "-out",
        file(`${leaf}.crt`),
        "-extfile",
        file(`${leaf}.ext`),
      );
    },
  };
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
