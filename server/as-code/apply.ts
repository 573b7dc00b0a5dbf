import { withDeadline } from '@/db/deadline'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError, Busy, type ErrorDetail } from '../errors'
import { carryOut } from './carry-out'
import { parseDefinitions } from './parse'
import { presentChange } from './present'

/** Hundreds of definitions take longer than an ordinary transaction may. */
const APPLY_MS = 60_000
const ATTEMPTS = 5
/** How many attempts run without locks; later ones lock everything first. */
const GIVES_WAY = 2

/** @throws AppError FORBIDDEN */
function authorizeApply(ctx: ServiceContext): void {
  for (const noun of ['workflow', 'agent', 'tool'] as const) {
    authorize(ctx, `${noun}:write`)
    authorize(ctx, `${noun}:publish`)
  }
}

/**
 * Makes the workspace match the definitions: all of them, or none. Applying the same again does nothing. Objects
 * without a definition stay, unless `prune` is set: it archives those that were applied before, and deletes schedules
 * and inbound webhooks.
 * @throws AppError INVALID_INPUT, VALIDATION_FAILED; DEFINITIONS_DRIFTED for objects that someone else changed since
 * they were applied, unless `force` is set
 */
export async function applyDefinitions(ctx: ServiceContext, input: JsonObject) {
  authorizeApply(ctx)
  const { options, ...given } = parseDefinitions(input)
  return whileNobodySaves((holds) =>
    withTransaction(ctx, async (tx) => {
      const { tasks, drift, problems, warnings } = await carryOut(tx, given, options, holds)
      if (drift.length > 0) throw new AppError('DEFINITIONS_DRIFTED', { details: drift })
      refuseProblems(problems)
      const changed = tasks.filter(({ actions }) => actions.length > 0)
      return { changes: changed.map(presentChange), unchanged: tasks.length - changed.length, warnings }
    }),
  )
}

/** @throws AppError VALIDATION_FAILED */
export function refuseProblems(details: ErrorDetail[]): void {
  if (details.length === 0) return
  throw new AppError('VALIDATION_FAILED', { message: 'Invalid input: the definitions have problems', details })
}

/**
 * Reads objects without locks, so someone may save one before it is changed. Then everything restarts, and after
 * repeated conflicts it locks everything first.
 */
export async function whileNobodySaves<T>(transaction: (holds: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await withDeadline(APPLY_MS, () => transaction(attempt > GIVES_WAY))
    } catch (err) {
      if (!(err instanceof AppError && err.code === 'VERSION_CONFLICT')) throw err
    }
  }
  throw new Busy('The definitions are being changed at the same time. Try again.', 1_000)
}
