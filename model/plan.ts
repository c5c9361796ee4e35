/** The plan table: every number that depends on a workspace's plan, in one place (docs/api-contract.md#plans). */
import { isFields } from "./plain-values.ts";

export const PLAN_NAMES = ["free", "starter", "pro", "business"] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const ROLES = ["owner", "admin", "manager", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** null is unlimited. Field names are those of SONDE_PLANS (docs/api-contract.md#plans). */
export interface Plan {
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly requestsPerMonth: number | null;
  readonly onDemandTestsPerMonth: number | null;
  readonly shortestIntervalS: number;
  readonly shortestPeriodS: number;
  readonly tunnelSlots: number | null;
  readonly regionTargeting: boolean;
  readonly apiAccess: boolean;
}

export type PlanTable = Readonly<Record<PlanName, Plan>>;

export const PLANS: PlanTable = {
  free: {
    requestsPerMinute: 0,
    requestsPerDay: 0,
    requestsPerMonth: 0,
    onDemandTestsPerMonth: 5,
    shortestIntervalS: 300,
    shortestPeriodS: 300,
    tunnelSlots: 3,
    regionTargeting: false,
    apiAccess: false,
  },
  starter: {
    requestsPerMinute: 30,
    requestsPerDay: 5_000,
    requestsPerMonth: 50_000,
    onDemandTestsPerMonth: 50,
    shortestIntervalS: 180,
    shortestPeriodS: 180,
    tunnelSlots: 15,
    regionTargeting: false,
    apiAccess: true,
  },
  pro: {
    requestsPerMinute: 60,
    requestsPerDay: 25_000,
    requestsPerMonth: 250_000,
    onDemandTestsPerMonth: 500,
    shortestIntervalS: 60,
    shortestPeriodS: 60,
    tunnelSlots: 50,
    regionTargeting: true,
    apiAccess: true,
  },
  business: {
    requestsPerMinute: 120,
    requestsPerDay: 100_000,
    requestsPerMonth: 1_000_000,
    onDemandTestsPerMonth: null,
    shortestIntervalS: 30,
    shortestPeriodS: 60,
    tunnelSlots: null,
    regionTargeting: true,
    apiAccess: true,
  },
};

/** Of a plan whose limits are off: what is counted is unlimited, and the rest is as the contract has it. */
const NO_LIMITS = {
  requestsPerMinute: null,
  requestsPerDay: null,
  requestsPerMonth: null,
  onDemandTestsPerMonth: null,
  shortestIntervalS: 1,
  shortestPeriodS: 60,
  tunnelSlots: null,
} as const satisfies Partial<Plan>;

/** Whether the plans' limits hold: a service of one owner has no use for them, one that is offered to others has. */
export const LIMITS = ["off", "contract"] as const;
export type Limits = (typeof LIMITS)[number];

/** The plan table before an operator's own numbers. */
export function standardPlans(limits: Limits): PlanTable {
  if (limits === "contract") return PLANS;
  return {
    free: { ...PLANS.free, ...NO_LIMITS },
    starter: { ...PLANS.starter, ...NO_LIMITS },
    pro: { ...PLANS.pro, ...NO_LIMITS },
    business: { ...PLANS.business, ...NO_LIMITS },
  };
}

/** What each number may be, beyond its type: bounds are those of the contract's own fields. */
interface NumberRule {
  readonly from: number;
  readonly to: number;
  /** null, unlimited, is allowed. */
  readonly nullable: boolean;
}

const AMOUNT: NumberRule = { from: 0, to: Number.MAX_SAFE_INTEGER, nullable: true };

const PLAN_FIELDS: Readonly<Record<keyof Plan, NumberRule | "boolean">> = {
  requestsPerMinute: AMOUNT,
  requestsPerDay: AMOUNT,
  requestsPerMonth: AMOUNT,
  onDemandTestsPerMonth: AMOUNT,
  shortestIntervalS: { from: 1, to: 86_400, nullable: false },
  shortestPeriodS: { from: 1, to: 604_800, nullable: false },
  tunnelSlots: AMOUNT,
  regionTargeting: "boolean",
  apiAccess: "boolean",
};

/**
 * The plan table with an operator's numbers over the standard ones (docs/api-contract.md#plans).
 * @param overrides the parsed JSON of the file that SONDE_PLANS names
 * @throws Error whose message names the unknown plan or key, or the value that cannot be used
 */
export function overridePlans(overrides: unknown, defaults: PlanTable = PLANS): PlanTable {
  if (!isFields(overrides)) throw new Error("SONDE_PLANS: must be one JSON object by plan name");
  for (const name of Object.keys(overrides)) {
    if (!(PLAN_NAMES as readonly string[]).includes(name)) {
      throw new Error(`SONDE_PLANS: unknown plan "${name}", known are ${PLAN_NAMES.join(", ")}`);
    }
  }
  return {
    free: overridePlan("free", overrides, defaults),
    starter: overridePlan("starter", overrides, defaults),
    pro: overridePlan("pro", overrides, defaults),
    business: overridePlan("business", overrides, defaults),
  };
}

function overridePlan(name: PlanName, overrides: Readonly<Record<string, unknown>>, defaults: PlanTable): Plan {
  if (!Object.hasOwn(overrides, name)) return defaults[name];
  const override = overrides[name];
  if (!isFields(override)) throw new Error(`SONDE_PLANS: ${name} must be an object`);
  for (const [key, value] of Object.entries(override)) {
    if (!Object.hasOwn(PLAN_FIELDS, key)) {
      throw new Error(`SONDE_PLANS: unknown key "${key}" in ${name}, known are ${Object.keys(PLAN_FIELDS).join(", ")}`);
    }
    const wanted = violation(PLAN_FIELDS[key as keyof Plan], value);
    if (wanted !== undefined) throw new Error(`SONDE_PLANS: ${name}.${key} must be ${wanted}`);
  }
  return { ...defaults[name], ...override };
}

/** @returns what the value should have been; undefined when it is that */
function violation(rule: NumberRule | "boolean", value: unknown): string | undefined {
  if (rule === "boolean") return typeof value === "boolean" ? undefined : "true or false";
  if (value === null && rule.nullable) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= rule.from && value <= rule.to) {
    return undefined;
  }
  const range = rule.to === Number.MAX_SAFE_INTEGER ? `${rule.from} or more` : `from ${rule.from} to ${rule.to}`;
  return `a whole number, ${range}${rule.nullable ? ", or null for unlimited" : ""}`;
}
