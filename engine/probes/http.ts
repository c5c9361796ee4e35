import { z } from "zod";
import { defineProbe } from "../probe.ts";
import { planOf } from "../web/plan.ts";
import { checkExpiryFields, webFields } from "../web/settings.ts";
import { checkWebsite } from "../web/website.ts";

/** A website: one GET on a fresh connection, ok when the status code is an accepted one. */
export const http = defineProbe({
  summary: "Website: requests a URL and judges the status code",
  settings: z.object(webFields).superRefine(checkExpiryFields),
  run: (settings, context) => checkWebsite(planOf(settings), context),
});
