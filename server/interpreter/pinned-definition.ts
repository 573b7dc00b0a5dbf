import { and, eq } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { ImpossibleState } from '../errors'

const CAPACITY = 200
const cache = new Map<string, Definition>()

/** The definition of the version a run is pinned to. Versions never change, so a process caches the last few. */
export async function pinnedDefinition(ctx: ServiceContext, workflowId: string, version: number): Promise<Definition> {
  const key = `${ctx.tenantId}/${workflowId}@${version}`
  const known = cache.get(key)
  if (known) return known
  const definition = await findDefinition(ctx, workflowId, version)
  if (!definition) throw new ImpossibleState('pinned-version', `the version ${key} of an open run is gone`)
  if (cache.size >= CAPACITY) cache.delete(cache.keys().next().value ?? key)
  cache.set(key, definition)
  return definition
}

/** The definition of a version; null when there is no such version. */
export async function findDefinition(
  ctx: ServiceContext,
  workflowId: string,
  version: number,
): Promise<Definition | null> {
  const [row] = await ctx.db
    .select({ definition: workflowVersions.definition })
    .from(workflowVersions)
    .where(
      and(
        eq(workflowVersions.tenantId, ctx.tenantId),
        eq(workflowVersions.workflowId, workflowId),
        eq(workflowVersions.version, version),
      ),
    )
  return row ? row.definition : null
}
