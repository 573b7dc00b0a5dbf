import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { whileNobodySaves } from './apply'
import { carryOut, type Outcome } from './carry-out'
import { parseDefinitions } from './parse'
import type { ApplyOptions } from './schema'

/** Leaves the transaction and so rolls it back. */
class Undone<T> extends Error {
  override name = 'Undone'
  constructor(readonly found: T) {
    super('only a look')
  }
}

/**
 * Carries out an apply of a body in a transaction that is rolled back.
 * @param look reads in the transaction what the apply has made
 * @throws AppError INVALID_INPUT
 */
export async function rolledBack<T>(
  ctx: ServiceContext,
  input: JsonObject,
  look: (tx: TransactionContext, outcome: Outcome, options: ApplyOptions) => Promise<T>,
): Promise<T> {
  const { options, ...given } = parseDefinitions(input)
  return whileNobodySaves((holds) =>
    withTransaction(ctx, async (tx): Promise<T> => {
      throw new Undone(await look(tx, await carryOut(tx, given, options, holds), options))
    }),
  ).catch((err: unknown) => {
    if (err instanceof Undone) return err.found as T
    throw err
  })
}
