import { sql } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { One } from '../versioned/noun'
import { findWhole } from '../versioned/rows'
import { WORKFLOW } from './noun'

/** The version that a start runs, as far as the row says: the published one, or the draft if there is none. */
export const STARTED_VERSION = sql`coalesce(${workflows.publishedVersion}, ${workflows.version})`

/**
 * The START fields of the version a start would run: the published one, or the draft if there is none.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getInputSchema(ctx: ServiceContext, { id }: One) {
  authorize(ctx, 'workflow:read')
  const { content } = await findWhole(ctx, WORKFLOW, id, STARTED_VERSION)
  const described = Object.entries(content.payload).map(
    ([name, field]) => [name, { ...field, description: field.description ?? '' }] as const,
  )
  return { success: true, data: { workflowId: id, payload: Object.fromEntries(described) } }
}
