/** What lists of share links need beside their checks: what may be asked and downloaded through a proxy, and sing-box's own words for a config. */
export { singbox, singboxOutbound } from "../cores/singbox.ts";
export { DOWNLOAD_LIMIT } from "../verify/download.ts";
export { parseVerifyUrl } from "../verify/endpoint.ts";
