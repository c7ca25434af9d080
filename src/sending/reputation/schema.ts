import * as v from 'valibot';
import { nameSchemas } from '../../core/lib/named-schemas.ts';

const Rates = v.object({
  total: v.number(),
  bounces: v.number(),
  complaints: v.number(),
  bounceRate: v.number(),
  complaintRate: v.number(),
});
const Level = v.picklist(['healthy', 'warning', 'critical']);

/** How a project's mail is received; rates are percentages (contract page 3, 2.4). */
export const Security = v.object({
  status: v.object({
    projectId: v.string(),
    isHealthy: v.boolean(),
    shouldDisable: v.boolean(),
    twentyFourHour: Rates,
    sevenDay: Rates,
    allTime: Rates,
    isNewProject: v.boolean(),
    violations: v.array(v.string()),
    warnings: v.array(v.string()),
  }),
  levels: v.object({ bounce7Day: Level, bounceAllTime: Level, complaint7Day: Level, complaintAllTime: Level }),
  isDisabled: v.boolean(),
});
export type Security = v.InferOutput<typeof Security>;

nameSchemas({ ProjectReputation: Security });
