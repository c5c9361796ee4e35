/** People, workspaces, projects and their use of the API (docs/api-contract.md#accounts). */
import { z } from "zod";
import { PLAN_NAMES, ROLES } from "../../model/plan.ts";
import { id, iso, total, utc, wholeOrNull } from "./words.ts";

const organizationId = z
  .int()
  .min(1)
  .meta({ examples: [3] });
const role = z.enum(ROLES).describe("The caller's role there");
const plan = z.enum(PLAN_NAMES);

export const whoami = z
  .strictObject({
    user: z.strictObject({ id: z.int().min(1), name: z.string().nullable(), email: z.string() }),
    key: z
      .strictObject({
        id: z.int().min(1),
        name: z.string(),
        kind: z.enum(["workspace", "account"]),
        organization_id: organizationId.nullable().describe("null for an account-wide key"),
        expires: utc.nullable(),
      })
      .nullable()
      .describe("null for a session of the page that a sign-in link began"),
    organizations: z.array(z.strictObject({ id: organizationId, name: z.string(), role, plan })),
    projects: z.array(z.strictObject({ id: id("prj_"), name: z.string(), organization_id: organizationId, role })),
    default_organization_id: organizationId,
    default_project_id: id("prj_").nullable().describe("Oldest active project of the default workspace"),
  })
  .meta({ id: "Whoami" });

const organizationFields = {
  id: organizationId,
  name: z.string(),
  role,
  plan,
  api_access: z.boolean(),
  project_count: total.describe("Active projects that the key reaches"),
  created_at: iso,
};
export const organization = z.strictObject(organizationFields).meta({ id: "Organization" });
const limit = wholeOrNull.describe("null is unlimited");
export const organizationDetails = z
  .strictObject({
    ...organizationFields,
    suspended: z.boolean(),
    server_count: total.describe("Monitors of both families in its active projects"),
    member_count: total,
    tunnel_slots: z.strictObject({ used: total, limit }),
    limits: z.strictObject({
      requests_per_minute: limit,
      requests_per_day: limit,
      requests_per_month: limit,
      on_demand_tests_per_month: limit,
      shortest_interval: z.int().describe("Seconds between checks"),
      shortest_period: z.int().describe("Seconds between the calls of a heartbeat"),
      region_targeting: z.boolean(),
    }),
  })
  .meta({ id: "OrganizationDetails" });
export const organizationList = z
  .strictObject({ organizations: z.array(organization), total })
  .meta({ id: "OrganizationList" });

export const project = z
  .strictObject({
    id: id("prj_"),
    name: z.string(),
    organization_id: organizationId,
    organization_name: z.string(),
    role,
    server_count: total.describe("Monitors of both families"),
    created_at: iso,
  })
  .meta({ id: "Project" });
export const projectList = z.strictObject({ projects: z.array(project), total }).meta({ id: "ProjectList" });

const usageWindow = z
  .strictObject({
    used: total,
    limit: wholeOrNull.describe("null is unlimited"),
    remaining: wholeOrNull.describe("Never negative; null is unlimited"),
    resets_at: iso,
  })
  .meta({ id: "UsageWindow" });

const busiest = z
  .array(
    z.strictObject({
      method: z.enum(["GET", "POST", "PUT", "DELETE"]),
      path: z
        .string()
        .describe("Pattern of the route")
        .meta({ examples: ["/servers/{id}"] }),
      requests: total,
      errors: total,
    }),
  )
  .describe("The last 30 days, busiest first");

export const usage = z
  .strictObject({
    organization_id: organizationId,
    plan,
    this_minute: usageWindow,
    today: usageWindow,
    this_month: usageWindow,
    on_demand_tests: usageWindow,
    daily: z
      .array(
        z.strictObject({
          date: z.iso.date().meta({ examples: ["2026-11-21"] }),
          requests: total,
          errors: total.describe("Answers of 400 and above"),
        }),
      )
      .describe("The last 30 UTC days, today included, oldest first"),
    endpoints: busiest,
  })
  .meta({ id: "Usage" });

const requestCounts = z.strictObject({ requests: total, errors: total });

export const keyUsage = z
  .strictObject({
    key_id: z.int(),
    today: requestCounts,
    last_7_days: requestCounts,
    last_30_days: requestCounts,
    endpoints: busiest,
  })
  .meta({ id: "KeyUsage" });
