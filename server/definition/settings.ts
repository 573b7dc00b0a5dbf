import { LONGEST_MS } from './duration'
import type { Definition } from './schema'

/** The settings of a workflow that a definition may leave out. */
export const OPTIONAL_SETTINGS = ['onCancel', 'businessKey', 'limits'] as const

type Optional = Pick<Definition, (typeof OPTIONAL_SETTINGS)[number]>

/** As callers send it. */
interface Sent {
  onCancel?: string | null | undefined
  businessKey?: string | null | undefined
  limits?: { timeoutMs?: number | undefined } | null | undefined
}

/** Those that are set. Whoever copies a definition adds them, so that none is lost. */
export function optionalSettings({ onCancel, businessKey, limits }: Sent): Optional {
  return {
    ...(onCancel ? { onCancel } : {}),
    ...(businessKey ? { businessKey } : {}),
    ...(limits?.timeoutMs === undefined ? {} : { limits: { timeoutMs: limits.timeoutMs } }),
  }
}

/** Whether a run may have this time limit, in milliseconds: a second to ten years. */
export function isTimeLimit(ms: unknown): ms is number {
  return Number.isInteger(ms) && Number(ms) >= 1_000 && Number(ms) <= LONGEST_MS
}
