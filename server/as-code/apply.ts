import { withDeadline } from '@/db/deadline'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError, Busy } from '../errors'
import { carryOut } from './carry-out'
import { parseDefinitions } from './parse'
import { presentChange } from './present'

/** Hundreds of definitions take longer than a transaction otherwise may. */
const APPLY_MS = 60_000
const ATTEMPTS = 5
/** So many times it gives way to those who save; after that they wait for it. */
const GIVES_WAY = 2

/** @throws AppError FORBIDDEN */
export function authorizeApply(ctx: ServiceContext): void {
  for (const noun of ['workflow', 'agent', 'tool'] as const) {
    authorize(ctx, `${noun}:write`)
    authorize(ctx, `${noun}:publish`)
  }
}

/**
 * Makes the workspace say what the definitions say: all of it, or nothing. Applying the same again does nothing. Objects
 * without a definition stay as they are, unless `prune` is set, which archives those that were applied once, and deletes
 * schedules and inbound webhooks.
 * @throws AppError INVALID_INPUT, VALIDATION_FAILED; DEFINITIONS_DRIFTED for what somebody else changed
 * since it was applied, unless `force` is set
 */
export async function applyDefinitions(ctx: ServiceContext, input: JsonObject) {
  authorizeApply(ctx)
  const { options, ...given } = parseDefinitions(input)
  return whileNobodySaves((holds) =>
    withTransaction(ctx, async (tx) => {
      const { tasks, drift, problems, warnings } = await carryOut(tx, given, options, holds)
      if (drift.length > 0) throw new AppError('DEFINITIONS_DRIFTED', { details: drift })
      if (problems.length > 0) {
        const message = 'Invalid input: the definitions have problems'
        throw new AppError('VALIDATION_FAILED', { message, details: problems })
      }
      const changed = tasks.filter(({ actions }) => actions.length > 0)
      return { changes: changed.map(presentChange), unchanged: tasks.length - changed.length, warnings }
    }),
  )
}

/**
 * Objects are looked at without locks, so somebody may save one before it is changed. Then all of it begins anew, and
 * where they keep saving, it locks everything first.
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
