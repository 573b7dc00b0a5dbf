import type { ServiceContext } from '../../context'
import type { RunData } from '../../definition/run'
import { inSlices } from '../../give-way'
import { type OpenRun, readOpenRun } from '../../interpreter/index'
import { definitionOf } from '../../run-store/definition'
import type { getRunRow } from '../../run-store/find-run'
import { type Destination, fitsParent, fittingChildren } from './destination'
import { judging, type Verdict } from './verdict'

type StoredRun = Awaited<ReturnType<typeof getRunRow>> & { smallData: RunData }

/** Reads where an open run is, and judges whether it can continue on the version. */
export async function judge(
  ctx: ServiceContext,
  run: StoredRun,
  to: Destination,
  { dropVotes = false } = {},
): Promise<{ open: OpenRun; verdict: Verdict }> {
  const from = await definitionOf(ctx, run)
  const open = await readOpenRun(ctx, run, {
    definition: to.definition,
    reads: async (stepId) => new Set((await to.claimsAt(ctx, stepId)).map(({ name }) => name)),
  })
  const fitsChild = await fittingChildren(ctx, open, to)
  const parent = await fitsParent(ctx, run, to)
  const stands = open.walks.flatMap((walk) => (walk.is === 'busy' ? [] : walk.stepId))
  const claims = new Map(
    await Promise.all([...new Set(stands)].map(async (at) => [at, await to.claimsAt(ctx, at)] as const)),
  )
  const versions = {
    from,
    to: to.definition,
    claimsAt: (at: string) => claims.get(at) ?? [],
    fitsChild,
    fitsParent: parent,
  }
  const verdict = await inSlices(ctx.tenantId, judging(open, versions, { dropVotes, now: ctx.now() }))
  return { open, verdict }
}
