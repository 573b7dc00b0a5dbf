import { LONGEST_MS } from './duration'
import type { AgentTotals, Definition, RunLimits } from './schema'

/** The settings of a workflow that a definition may leave out. */
export const OPTIONAL_SETTINGS = ['onCancel', 'onFailure', 'businessKey', 'limits'] as const

type Optional = Pick<Definition, (typeof OPTIONAL_SETTINGS)[number]>

/** As callers send it. */
interface Sent {
  onCancel?: string | null | undefined
  onFailure?: string | null | undefined
  businessKey?: string | null | undefined
  limits?: SentLimits | null | undefined
}

interface SentLimits {
  timeoutMs?: number | undefined
  agents?: { tokens?: number | undefined; cost?: number | undefined } | null | undefined
}

/** The settings that are set. Code that copies a definition adds them, so that none is lost. */
export function optionalSettings({ onCancel, onFailure, businessKey, limits }: Sent): Optional {
  return {
    ...(onCancel ? { onCancel } : {}),
    ...(onFailure ? { onFailure } : {}),
    ...(businessKey ? { businessKey } : {}),
    ...setLimits(limits ?? {}),
  }
}

function setLimits({ timeoutMs, agents }: SentLimits): { limits?: RunLimits } {
  const { tokens, cost } = agents ?? {}
  const totals: AgentTotals = { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) }
  const limits: RunLimits = {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(Object.keys(totals).length === 0 ? {} : { agents: totals }),
  }
  return Object.keys(limits).length === 0 ? {} : { limits }
}

/** The shortest and the longest time limit of a run, in milliseconds: a second and ten years. */
export const TIME_LIMITS = { min: 1_000, max: LONGEST_MS } as const

/** Whether a run may have this time limit, in milliseconds. */
export function isTimeLimit(ms: unknown): ms is number {
  return Number.isInteger(ms) && Number(ms) >= TIME_LIMITS.min && Number(ms) <= TIME_LIMITS.max
}

/** The most that a limit of tokens and of US dollars may be. */
export const MOST_USED = { tokens: 1e12, cost: 1e6 } as const

/** Whether the agents of a run may use this many tokens together. */
export function isTokenLimit(tokens: unknown): tokens is number {
  return Number.isInteger(tokens) && Number(tokens) >= 1 && Number(tokens) <= MOST_USED.tokens
}

/** Whether they may cost this much, in US dollars. */
export function isCostLimit(cost: unknown): cost is number {
  return typeof cost === 'number' && cost > 0 && cost <= MOST_USED.cost
}
