/** Where a test or check runs: what the body asks for, what the plan allows, what is there (docs/api-contract.md#regions). */
import { z } from "zod";
import { ANY_LOCATION } from "../../model/monitor.ts";
import type { Plan } from "../../model/plan.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { refusal } from "../errors.ts";

export interface WantedRegion {
  readonly region: string;
  /** Refused rather than run from the general pool when the region has no checker. */
  readonly mustBeThere: boolean;
}

/** For the document. */
export const regionFields = {
  region: z
    .string()
    .regex(/^(any|[a-z]{2})$/)
    .optional()
    .describe("`any` or a lowercase two-letter country code; a country needs Pro or above")
    .meta({ examples: ["de"] }),
  region_fallback: z
    .string()
    .optional()
    .describe(
      "`any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any`",
    ),
};

/** @throws 400 `Invalid region` */
export function readRegion(body: JsonObject): WantedRegion {
  const region = fieldOf(body, "region") ?? ANY_LOCATION;
  if (typeof region !== "string" || !/^(any|[a-z]{2})$/.test(region)) throw refusal("regionInvalid");
  return { region, mustBeThere: fieldOf(body, "region_fallback") === "fail" };
}

/** For callers without a plan: nothing but `any`, whatever else was sent. @throws 402 */
export function requireAnyRegion(body: JsonObject): void {
  if ((fieldOf(body, "region") ?? ANY_LOCATION) !== ANY_LOCATION) throw refusal("regionOnPlan");
}

/** @throws 402 */
export function requireRegionOnPlan({ region }: WantedRegion, { regionTargeting }: Plan): void {
  if (region !== ANY_LOCATION && !regionTargeting) throw refusal("regionOnPlan");
}

/** @returns the location that runs it. @throws 503 when the region has no checker and no other may run it */
export async function locate(api: Api, { region, mustBeThere }: WantedRegion): Promise<string> {
  if (region === ANY_LOCATION || (await hasChecker(api, region))) return region;
  if (mustBeThere) throw refusal("noCheckerInRegion");
  return ANY_LOCATION;
}

export async function hasChecker(api: Api, location: string): Promise<boolean> {
  return (await api.regions()).some(({ code, healthyCheckers }) => code === location && healthyCheckers > 0);
}
