import type { WalkRef } from './receipt'

/** The steps at work in this process, so that the end of a run can reach into them. */
const RUNNING = Symbol.for('millrace.running')
type Running = Map<string, Set<AbortController>>

function running(): Running {
  const holder = globalThis as typeof globalThis & { [RUNNING]?: Running }
  holder[RUNNING] ??= new Map()
  return holder[RUNNING]
}

/** A signal that fires when the run's work in this process is to stop. */
export function abortWhenStopped(ref: WalkRef): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const key = `${ref.tenantId}/${ref.runId}`
  const set = running().get(key) ?? new Set()
  set.add(controller)
  running().set(key, set)
  return {
    signal: controller.signal,
    release() {
      set.delete(controller)
      if (set.size === 0) running().delete(key)
    },
  }
}

/** Stops the work of a run in this process. @returns how many steps were at work */
export function stopWork(tenantId: string, runId: string, reason: Error): number {
  const set = running().get(`${tenantId}/${runId}`)
  for (const controller of set ?? []) controller.abort(reason)
  return set?.size ?? 0
}
