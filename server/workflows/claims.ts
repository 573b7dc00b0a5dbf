import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import type { Sliced } from '../definition/sliced'
import { inSlices } from '../give-way'
import { type Claim, claiming } from './check/fits'
import { flowing } from './check/flow'
import { knownOutputs, pinnedOutputs } from './check/known-outputs'

const CAPACITY = 200
/** Of published versions, which never change: many runs may be repeated on one. */
const known = new Map<string, readonly Claim[]>()

/**
 * What a version claims where one of its steps begins: see `check/fits.ts`.
 * @param version `settled` if it never changes again, and runs follow all of it
 * @param definition in the form that runs read
 */
export async function claimsOf(
  ctx: ServiceContext,
  version: { workflowId: string; version: number; settled: boolean },
  definition: Definition,
  stepId: string,
): Promise<readonly Claim[]> {
  const key = JSON.stringify([ctx.tenantId, version.workflowId, version.version, stepId])
  const found = version.settled ? known.get(key) : undefined
  if (found) return found
  const outputs = pinnedOutputs(await knownOutputs(ctx, definition))
  const claims = await inSlices(ctx.tenantId, claimed())
  if (!version.settled) return claims
  const [oldest] = known.keys()
  if (known.size >= CAPACITY && oldest !== undefined) known.delete(oldest)
  known.set(key, claims)
  return claims

  function* claimed(): Sliced<Claim[]> {
    return yield* claiming(definition, yield* flowing(definition, outputs), stepId)
  }
}
