import { z } from "zod";
import { defineProbe } from "../probe.ts";
import { planOf } from "../web/plan.ts";
import { checkExpiryFields, webFields } from "../web/settings.ts";
import { checkWebsite } from "../web/website.ts";

/** Code points (docs/api-contract.md#lengths). */
const KEYWORD_LENGTH = 255;

/** A website that must hold, or must not hold, a text in the first MiB of its body; case-sensitive. */
export const keyword = defineProbe({
  summary: "Keyword: requests a URL and looks for a text in the answer",
  settings: z
    .object({
      ...webFields,
      keyword: z
        .string({ error: "Missing or invalid keyword" })
        .min(1, "Missing or invalid keyword")
        .refine((text) => [...text].length <= KEYWORD_LENGTH, `keyword must be at most ${KEYWORD_LENGTH} characters.`)
        .describe("Text to look for, case-sensitive"),
      invert_keyword: z
        .boolean({ error: "invert_keyword must be true or false." })
        .default(false)
        .describe("True to alert when the text is found"),
    })
    .superRefine(checkExpiryFields),
  run: (settings, context) => checkWebsite(planOf(settings), context),
});
