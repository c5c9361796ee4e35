import { z } from "zod";
import { defineUptime } from "../contract/kind.ts";
import { servePage, website } from "../web/describe-website.ts";
import { webFields, webSettings } from "../web/settings.ts";

/** Code points (docs/api-contract.md#lengths). */
const KEYWORD_LENGTH = 255;

/** A website that must hold, or must not hold, a text in the first MiB of its body; case-sensitive. */
export const keyword = defineUptime(
  {
    kind: "keyword",
    summary: "Keyword: requests a URL and looks for a text in the answer",
    settings: webSettings({
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
    }),
    example: { url: "https://www.test-site.org/kettles", keyword: "In stock" },
    ...website,
    address: null,
    demo: {
      name: "Shop",
      serve: servePage("<p>Twelve kettles: In stock</p>"),
      settings: ({ host, port }) => ({
        url: `http://${host}:${port}/kettles`,
        keyword: "In stock",
        body_regex: "(?i)kettles: +in stock",
      }),
    },
  },
  { load: () => import("../web/run-website.ts") },
);
