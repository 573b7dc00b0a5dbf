import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { agents } from '@/db/schema/agents'
import { workflows } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'
import { components } from '../../definition/component'
import { AppError, type ErrorDetail } from '../../errors'
import type { Role } from '../../roles'

const Ids = z
  .array(z.string())
  .max(200, 'may list 200 at most')
  .transform((ids) => [...new Set(ids)])
  .nullable()

const limits = {
  workflowIds: Ids.describe(
    'The workflows that its tokens may touch; null for all. Only for viewer and operator, as all limits.',
  ),
  agentIds: Ids.describe('The agents that its tokens may touch; null for all.'),
  ownRuns: z.boolean().describe('Whether a token touches only runs that its own subject started.'),
}

/** The limits of a secret's tokens. A null list allows everything; an empty one nothing. */
export const SecretLimits = z.object({
  workflowIds: limits.workflowIds.default(null),
  agentIds: limits.agentIds.default(null),
  ownRuns: limits.ownRuns.default(false),
})
/** New limits must include all three, since a missing one would be lifted. */
export const NewLimits = z.strictObject(limits).register(components, { id: 'LimitSigningSecret' })
export type SecretLimits = z.output<typeof SecretLimits>

/** Limits cover running and reading. Higher roles do more than that, so they cannot be limited. */
const LIMITED: readonly Role[] = ['viewer', 'operator']

/** @throws AppError INVALID_INPUT for an unknown workflow or agent, or a role that cannot be limited */
export async function requireLimits(ctx: ServiceContext, limits: SecretLimits, role: Role): Promise<void> {
  const { workflowIds, agentIds, ownRuns } = limits
  const details = [
    ...(await missing(ctx, 'workflow', workflowIds ?? [])),
    ...(await missing(ctx, 'agent', agentIds ?? [])),
  ]
  if ((workflowIds || agentIds || ownRuns) && !LIMITED.includes(role))
    details.push({ path: 'role', message: 'A limited secret has the role viewer or operator.' })
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}

async function missing(ctx: ServiceContext, word: 'workflow' | 'agent', ids: string[]): Promise<ErrorDetail[]> {
  const table = word === 'workflow' ? workflows : agents
  const found =
    ids.length === 0
      ? []
      : await ctx.db
          .select({ id: table.id })
          .from(table)
          .where(and(eq(table.tenantId, ctx.tenantId), inArray(table.id, ids)))
  const known = new Set(found.map(({ id }) => id))
  return ids.flatMap((id, at) =>
    known.has(id) ? [] : [{ path: `${word}Ids[${at}]`, message: `The workspace has no such ${word}.` }],
  )
}
