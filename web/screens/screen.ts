/** What every screen gets. */
export interface ScreenProps {
  /** Named parts of its address. */
  readonly params: Readonly<Record<string, string>>;
}
