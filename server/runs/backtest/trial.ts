import { record } from '../../audit/record'
import { authorize, seesHidden } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { expand, writtenIds } from '../../definition/expand'
import type { JsonObject } from '../../definition/json'
import { withPins } from '../../definition/pins'
import type { Definition } from '../../definition/schema'
import { sensitiveFields } from '../../definition/sensitive'
import { AppError } from '../../errors'
import { pinnedDefinition } from '../../run-store/definition'
import { tenantMasker } from '../../vault/masker'
import { findRowAt } from '../../versioned/row-at'
import { requireRunnable } from '../../workflows/check/definition'
import { findPins } from '../../workflows/find-pins'
import { WORKFLOW } from '../../workflows/noun'
import { BothVersions } from '../../workflows/replay/as-recorded'
import { computingIn, scriptToolsIn, type UnsavedTools } from '../../workflows/replay/compute'
import type { OwnVersion, Trial } from '../../workflows/replay/judge'

/** A saved version as runs would have it if it were published now. */
export interface Target {
  id: string
  name: string
  version: number
  definition: Definition
  /** The id of a step as it is written. */
  idOf: (stepId: string) => string
  /** Tools that it uses and that are not saved. */
  tools?: UnsavedTools
}

/** @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED if it could not run */
export async function findTarget(ctx: ServiceContext, id: string, wanted: string | number): Promise<Target> {
  const { row, version } = await findRowAt(ctx, WORKFLOW, id, wanted)
  const content = WORKFLOW.contentOf(version)
  await requireRunnable(ctx, content)
  const written = withPins(content, version.publishedAt === null ? await findPins(ctx, content) : version.pins)
  return {
    ...{ id: row.id, name: row.name, version: version.version },
    ...asRunsRead(written),
  }
}

/** A definition with its pins, in the form that runs read. */
export function asRunsRead(written: Definition): Pick<Target, 'definition' | 'idOf'> {
  return { definition: expand(written), idOf: writtenIds(written) }
}

/** A caller's settings. */
export interface Options {
  of: 'ended' | 'failed'
  assume: JsonObject
  scripts: boolean
  reveal: boolean
  /** The only run that is tried. */
  runId?: string
}

/** A trial that is prepared. */
export interface Trying {
  target: Target
  trial: Trial
  /** The version of a run, compared with the target. */
  ownVersion(version: number): Promise<OwnVersion>
}

/**
 * Prepares to try runs on a version. With `reveal`, that is in the audit log before the caller learns anything.
 * @throws AppError FORBIDDEN, INVALID_INPUT
 */
export async function prepareTrial(
  ctx: ServiceContext,
  target: Target,
  { of, assume, scripts, reveal, runId }: Options,
  signal: AbortSignal,
): Promise<Trying> {
  const { definition, tools: unsaved } = target
  const steps = new Set(definition.steps.map(({ id }) => id))
  const details = Object.keys(assume)
    .filter((id) => !steps.has(id))
    .map((id) => ({ path: `assume.${id}`, message: 'is not the id of a step' }))
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  if (reveal) await recordReveal(ctx, target, runId)
  const tools = scripts ? await scriptToolsIn(ctx, definition, unsaved) : new Set<string>()
  const computing = computingIn(ctx, signal, tools, unsaved)
  const trial = {
    ...{ definition, assume, vault: await tenantMasker(ctx), healing: of === 'failed' },
    computing: scripts ? computing : { ...computing, may: () => false },
  }
  const hides = seesHidden(ctx) && !reveal
  const known = new Map<number, Promise<OwnVersion>>()
  const read = async (version: number): Promise<OwnVersion> => {
    const own = await pinnedDefinition(ctx, target.id, version)
    const hidden = hides ? [...sensitiveFields(own), ...sensitiveFields(definition)] : []
    return { definition: own, both: new BothVersions(own, definition), hides: new Set(hidden) }
  }
  return {
    ...{ target, trial },
    ownVersion(version) {
      const found = known.get(version) ?? read(version)
      known.set(version, found)
      return found
    },
  }
}

async function recordReveal(ctx: ServiceContext, { id, name, version }: Target, runId?: string): Promise<void> {
  authorize(ctx, 'run:reveal')
  const details = { version, hidden: true }
  await withTransaction(ctx, (tx) =>
    runId === undefined
      ? record(tx, 'workflow.backtested', { id, name }, details)
      : record(tx, 'run.triedOut', { id: runId, name }, details),
  )
}
