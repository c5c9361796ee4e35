/** What a probe asks for where an expression of a user looks into what a server answered: done in a process of its own, which can be ended. */

/** At least one of them is there. */
export interface TextRules {
  /** RE2 syntax: somewhere in the text; null: none. */
  readonly regex: string | null;
  /** JSONata, of the text as JSON; null: none. */
  readonly query: string | null;
  /** What the query must give, as text; null: something that is not null, false or nothing. */
  readonly expected: string | null;
}

export type TextAnswer =
  | { readonly type: "passed" }
  /** The text is not as it is wanted. */
  | { readonly type: "failed"; readonly message: string }
  /** It was not judged. */
  | { readonly type: "refused"; readonly verdict: "unfit" | "misconfigured"; readonly message: string };

export interface TextJudge {
  /** Never rejects; settles within some seconds. @param workspace which takes turns with others */
  judge(rules: TextRules, text: string, workspace: number): Promise<TextAnswer>;
}
