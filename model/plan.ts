/** The plan table: every number that depends on a workspace's plan, in one place (contract "Limits", open-points 11). */

export const PLAN_NAMES = ["free", "starter", "pro", "business"] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export const ROLES = ["owner", "admin", "manager", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** null is unlimited. Field names are those of SONDE_PLANS (open-points 18.4). */
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
