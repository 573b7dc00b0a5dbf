import { and, eq } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import { inLanguage } from '../definition/language'
import type { Definition } from '../definition/schema'
import { ImpossibleState } from '../errors'

const CAPACITY = 200
const cache = new Map<string, Definition>()

/** The definition of the version a run is pinned to. Versions never change, so a process caches the last few. */
export async function pinnedDefinition(ctx: ServiceContext, workflowId: string, version: number): Promise<Definition> {
  const known = cachedDefinition(ctx, workflowId, version)
  if (known) return known
  const definition = await findDefinition(ctx, workflowId, version)
  if (definition) return definition
  throw new ImpossibleState('pinned-version', `the version ${keyOf(ctx, workflowId, version)} of an open run is gone`)
}

/** The same from this process's memory alone. */
export function cachedDefinition(ctx: ServiceContext, workflowId: string, version: number): Definition | undefined {
  return cache.get(keyOf(ctx, workflowId, version))
}

function keyOf({ tenantId }: ServiceContext, workflowId: string, version: number): string {
  return `${tenantId}/${workflowId}@${version}`
}

/** The definition of a version; null when there is no such version. */
export async function findDefinition(
  ctx: ServiceContext,
  workflowId: string,
  version: number,
): Promise<Definition | null> {
  const [row] = await ctx.db
    .select({ definition: workflowVersions.definition, language: workflowVersions.language })
    .from(workflowVersions)
    .where(
      and(
        eq(workflowVersions.tenantId, ctx.tenantId),
        eq(workflowVersions.workflowId, workflowId),
        eq(workflowVersions.version, version),
      ),
    )
  if (!row) return null
  const definition = inLanguage(row.definition, row.language)
  keepDefinition(ctx, workflowId, version, definition)
  return definition
}

export function keepDefinition(ctx: ServiceContext, workflowId: string, version: number, definition: Definition): void {
  const key = keyOf(ctx, workflowId, version)
  if (cache.size >= CAPACITY) cache.delete(cache.keys().next().value ?? key)
  cache.set(key, definition)
}
