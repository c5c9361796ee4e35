/**
 * SHA-256 of the binaries of uWebSockets.js in the package that package.json names, for Linux and the Node versions that Sonde runs on; the
 * number at the end of a name is process.versions.modules. There are none for musl. docs/decisions/0001-http-server.md says what stands behind them
 * and how they are renewed.
 */
export const UWS_PINS: Readonly<Record<string, string>> = {
  "uws_linux_arm64_115.node": "034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a",
  "uws_linux_arm_115.node": "4966e43e7620aba56bccfa54f784fd8a9e3816a19e561d211dc40ae9e9097e35",
  "uws_linux_x64_115.node": "f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665",
  "uws_linux_arm64_120.node": "87a48dc0366ae7011874d8c4cfb57c7c94dd5776d09c2f971b3d40d211fdd6d1",
  "uws_linux_arm_120.node": "0627a7758c323a52e4176112fae1036c4f1c5d973b68ccadd90ad7d59099399d",
  "uws_linux_x64_120.node": "d5ad6e0ea9738821e8d38af271a02bb6ce7665f4149c935f59464d2365186563",
  "uws_linux_arm64_127.node": "a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13",
  "uws_linux_x64_127.node": "78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8",
  "uws_linux_arm64_137.node": "b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4",
  "uws_linux_x64_137.node": "3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449",
  "uws_linux_arm64_141.node": "1317f2e69ea1924ee8dd94ed02a3e6beb08e55d8b06f18caeda3d67a02857aee",
  "uws_linux_x64_141.node": "d22bae7642b872152cd0eeb682c6c2ffd186e91af8cf18cdf98be984a6549d49",
};
