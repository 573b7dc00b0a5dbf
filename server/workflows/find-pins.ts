import { loadAgent } from '../agents/find'
import type { ServiceContext } from '../context'
import type { Pin, Pins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import type { Use } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import { findBuiltinTool } from '../tools/builtin'
import { loadTool } from '../tools/find'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from './noun'

/**
 * The versions that the steps of a definition use implicitly: the latest of a tool or an agent, the published one of a
 * workflow. A template's target is known only during a run, and a workflow that was never published has no version to
 * pin.
 */
export async function findPins(ctx: ServiceContext, definition: Definition): Promise<Pins> {
  const versions = new Map<string, number | null>()
  const pins: Pins = {}
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    const [use] = config?.success ? (type?.uses?.(config.data) ?? []) : []
    if (!use || use.version !== undefined || use.id.includes('${')) continue
    const key = `${use.kind}:${use.id}`
    if (!versions.has(key)) versions.set(key, await presentVersion(ctx, use))
    const version = versions.get(key) ?? null
    if (version !== null) pins[step.id] = { kind: use.kind, id: use.id, version } satisfies Pin
  }
  return pins
}

async function presentVersion(ctx: ServiceContext, { kind, id }: Use): Promise<number | null> {
  try {
    if (kind === 'workflow') return (await findRow(ctx, WORKFLOW, id)).publishedVersion
    if (kind === 'agent') return (await loadAgent(ctx, id, 'latest')).version
    // A built-in tool has only one version.
    return findBuiltinTool(id) ? null : (await loadTool(ctx, id, 'latest')).version
  } catch (err) {
    if (err instanceof AppError && err.status === 404) return null
    throw err
  }
}
