/** Links as providers write them: the shares of protocols and carriers of a large public list, names with flags and days that are left. */
import { createHash } from "node:crypto";

/** The same links each time. */
export function providerLinks(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const write = WRITERS[index % WRITERS.length];
    if (write === undefined) throw new Error("no writers");
    return write(index, `s${index >> 2}.nodes.provider-${index % 7}.org`);
  });
}

type Writer = (index: number, host: string) => string;

const name = (index: number): string => encodeURIComponent(`🇩🇪 Frankfurt ${index} | 12.5GB left`);
const vmess: Writer = (index, host) => {
  const own = { v: "2", ps: `🇯🇵 Tokyo ${index}`, add: host, port: String(port(index)), id: uuid(index), aid: "0" };
  const rest = {
    scy: "auto",
    net: "ws",
    type: "none",
    host: `cdn.${host}`,
    path: "/ray?ed=2048",
    tls: "tls",
    sni: host,
  };
  return `vmess://${Buffer.from(JSON.stringify({ ...own, ...rest })).toString("base64")}`;
};

const WRITERS: readonly Writer[] = [
  (index, host) =>
    `vless://${uuid(index)}@${host}:${port(index)}?encryption=none&flow=xtls-rprx-vision&security=reality&sni=www.site-${index % 9}.org&fp=chrome&pbk=${key(index).toString("base64url")}&sid=6ba85179e30d4fc2&spx=%2F&type=tcp&headerType=none#${name(index)}`,
  (index, host) =>
    `vless://${uuid(index)}@${host}:${port(index)}?encryption=none&security=tls&sni=${host}&alpn=h2%2Chttp%2F1.1&fp=chrome&type=ws&host=cdn.${host}&path=%2Fws%3Fed%3D2560#${name(index)}`,
  vmess,
  (index, host) =>
    `trojan://${key(index).toString("hex")}@${host}:${port(index)}?security=tls&sni=${host}&allowInsecure=1&type=tcp&headerType=none#${name(index)}`,
  (index, host) =>
    `ss://${Buffer.from(`chacha20-ietf-poly1305:${key(index).toString("hex")}`).toString("base64url")}@${host}:${port(index)}#${name(index)}`,
  (index, host) =>
    `vless://${uuid(index)}@10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}:${port(index)}?encryption=none&security=none&type=tcp&headerType=none&host=${host}#${name(index)}`,
  vmess,
  (index, host) =>
    `vless://${uuid(index)}@${host}:${port(index)}?mode=gun&security=tls&encryption=none&authority=&type=grpc&serviceName=svc&sni=${host}#${name(index)}`,
  (index, host) =>
    `ss://2022-blake3-aes-128-gcm:${encodeURIComponent(key(index).subarray(0, 16).toString("base64"))}@${host}:${port(index)}#${name(index)}`,
  (index, host) =>
    `hysteria2://${key(index).toString("hex")}@${host}:${port(index)}?sni=${host}&insecure=1&obfs=salamander&obfs-password=salt&mport=20000-30000#${name(index)}`,
];

function uuid(index: number): string {
  const hex = createHash("sha256").update(String(index)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

function key(index: number): Buffer {
  return createHash("sha256").update(`key ${index}`).digest();
}

function port(index: number): number {
  return 2_000 + (index % 50_000);
}
