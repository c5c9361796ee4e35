declare module "*.css";
declare module "*.svg?no-inline" {
  /** Its address in the built page. */
  const address: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports an address so
  export default address;
}
