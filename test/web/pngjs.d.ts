/** What the comparison of pictures uses of pngjs, which has no types of its own. */
declare module "pngjs" {
  interface Picture {
    readonly width: number;
    readonly height: number;
    readonly data: Buffer;
  }
  const PNG: {
    new (size: { readonly width: number; readonly height: number }): Picture;
    readonly sync: { read(bytes: Buffer): Picture; write(picture: Picture): Buffer };
  };

  export { PNG };
}
