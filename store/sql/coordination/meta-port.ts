/** Small named values: the sealing's check value, the marker of a first start, versions that were applied. */
export interface Meta {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}
