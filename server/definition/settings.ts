import { LONGEST_MS } from './duration'
import type { Definition } from './schema'

/** The settings of a workflow that a definition may leave out. */
export const OPTIONAL_SETTINGS = ['onCancel', 'onFailure', 'businessKey', 'limits'] as const

type Optional = Pick<Definition, (typeof OPTIONAL_SETTINGS)[number]>

/** As callers send it. */
interface Sent {
  onCancel?: string | null | undefined
  onFailure?: string | null | undefined
  businessKey?: string | null | undefined
  limits?: { timeoutMs?: number | undefined } | null | undefined
}

/** The settings that are set. Code that copies a definition adds them, so that none is lost. */
export function optionalSettings({ onCancel, onFailure, businessKey, limits }: Sent): Optional {
  return {
    ...(onCancel ? { onCancel } : {}),
    ...(onFailure ? { onFailure } : {}),
    ...(businessKey ? { businessKey } : {}),
    ...(limits?.timeoutMs === undefined ? {} : { limits: { timeoutMs: limits.timeoutMs } }),
  }
}

/** The shortest and the longest time limit of a run, in milliseconds: a second and ten years. */
export const TIME_LIMITS = { min: 1_000, max: LONGEST_MS } as const

/** Whether a run may have this time limit, in milliseconds. */
export function isTimeLimit(ms: unknown): ms is number {
  return Number.isInteger(ms) && Number(ms) >= TIME_LIMITS.min && Number(ms) <= TIME_LIMITS.max
}
