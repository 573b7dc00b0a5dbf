import { createHash } from 'node:crypto'
import type { ServiceContext } from '../../context'
import type { JsonObject } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { AppError, StepFailure } from '../../errors'
import type { Entry, Position } from '../../interpreter/flow/index'
import { idempotencyKeyOf } from '../../run-store/names'
import type { AnyStep } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'
import type { LoadedTool } from '../../tools/loaded'
import { onlyComputes } from '../../tools/run'
import type { Came, Computing } from './source'
import { Undetermined } from './unknown'

/** Of one script, with its wait for a worker. */
const MAX_MS = 5_000

/** Tools that a definition uses in versions that are not saved, by `toolKey`. */
export type UnsavedTools = ReadonlyMap<string, LoadedTool>

/**
 * Computes steps of walks that only compute, each call once. They reach nothing outside.
 * @param scripts the tools that only compute, as `scriptToolsIn` finds them
 */
export function computingIn(
  ctx: ServiceContext,
  caller: AbortSignal,
  scripts: ReadonlySet<string>,
  unsaved?: UnsavedTools,
): Computing {
  const known = new Map<string, Promise<Came>>()
  const isScript = (toolId: string, version: string | number) => scripts.has(toolKey(toolId, version))
  return {
    may: (type, config) => type.mode === 'effect' && type.computes?.(config as StepConfig, isScript) === true,
    run: (entry, config, mostMs) => {
      const text = JSON.stringify([entry.type.type, config, entry.state.data])
      const key = createHash('sha256').update(text).digest('base64')
      const found =
        known.get(key) ??
        computed(ctx, caller, entry, { config, tool: unsavedToolOf(entry.type, config, unsaved) }, mostMs)
      known.set(key, found)
      // Another run may have more time for it.
      if (mostMs < MAX_MS) found.catch(() => known.delete(key))
      return found
    },
  }
}

async function computed(
  ctx: ServiceContext,
  caller: AbortSignal,
  { state, type, at }: Entry<Position>,
  { config, tool: known }: { config: StepConfig; tool: LoadedTool | undefined },
  mostMs: number,
): Promise<Came> {
  const undetermined = new Undetermined({ place: { branch: state.ref.branch, ...at }, why: 'script' })
  if (type.mode !== 'effect' || mostMs <= 0) throw undetermined
  const signal = AbortSignal.any([caller, AbortSignal.timeout(Math.ceil(Math.min(mostMs, MAX_MS)))])
  const idempotencyKey = idempotencyKeyOf(state.ref, at)
  try {
    const done = await type.run({ config, ctx, data: state.data, signal, idempotencyKey, inline: true, known })
    if ('part' in done) throw undetermined
    return { output: done.output, ...(done.delta ? { delta: done.delta } : {}) }
  } catch (err) {
    caller.throwIfAborted()
    if (err instanceof StepFailure && !signal.aborted) return { failed: { code: err.code, message: err.message } }
    // Such as a script that takes too long, or for which no worker was free.
    throw undetermined
  }
}

/** The script tools of a definition that reach nothing outside. */
export async function scriptToolsIn(
  ctx: ServiceContext,
  { steps }: Definition,
  unsaved?: UnsavedTools,
): Promise<ReadonlySet<string>> {
  const found = new Map<string, boolean>()
  for (const { id, version = 'latest' } of steps.flatMap((step) => usesOf(findStepType(step.type), step))) {
    const key = toolKey(id, version)
    if (!found.has(key)) found.set(key, await isScriptTool(ctx, id, version, unsaved?.get(key)))
  }
  return new Set([...found].flatMap(([key, computes]) => (computes ? [key] : [])))
}

function usesOf(type: AnyStep | undefined, step: JsonObject) {
  const config = type?.mode === 'effect' && type.computes && type.uses ? type.config.safeParse(step) : null
  return config?.success ? (type?.uses?.(config.data) ?? []).filter(({ kind }) => kind === 'tool') : []
}

function unsavedToolOf(type: AnyStep, config: StepConfig, unsaved: UnsavedTools | undefined): LoadedTool | undefined {
  if (type.mode !== 'effect' || !unsaved) return undefined
  const [use] = type.uses?.(config) ?? []
  return use?.kind === 'tool' ? unsaved.get(toolKey(use.id, use.version ?? 'latest')) : undefined
}

async function isScriptTool(
  ctx: ServiceContext,
  id: string,
  version: string | number,
  unsaved: LoadedTool | undefined,
): Promise<boolean> {
  try {
    const tool = unsaved ?? (await loadTool(ctx, id, version))
    return tool.kind === 'script' && onlyComputes(tool)
  } catch (err) {
    if (err instanceof AppError && err.status === 404) return false
    throw err
  }
}

export const toolKey = (toolId: string, version: string | number) => `${toolId}@${version}`
