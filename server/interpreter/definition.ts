import type { ServiceContext } from '../context'
import { ImpossibleState } from '../errors'
import { findDefinition } from '../workflows/find'
import type { Definition } from '../workflows/schema'

const CAPACITY = 200
const cache = new Map<string, Definition>()

/** The definition a run is pinned to. Versions never change, so a process keeps the last few it used. */
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
