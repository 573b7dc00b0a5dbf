import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { authorizeApply, whileNobodySaves } from './apply'
import { carryOut, type Outcome } from './carry-out'
import { parseDefinitions } from './parse'
import { presentChange, presentContents } from './present'

/** Leaves the transaction and so rolls it back. */
class Undone extends Error {
  override name = 'Undone'
  constructor(readonly outcome: Outcome) {
    super('only a look')
  }
}

/**
 * What an apply of the same body would change, and why it would be rejected. It is an apply that is rolled back, so its
 * findings are exactly those of an apply.
 * @throws AppError INVALID_INPUT
 */
export async function diffDefinitions(ctx: ServiceContext, input: JsonObject) {
  authorizeApply(ctx)
  const { options, ...given } = parseDefinitions(input)
  const { tasks, drift, problems, warnings } = await whileNobodySaves((holds) =>
    withTransaction(ctx, async (tx): Promise<Outcome> => {
      throw new Undone(await carryOut(tx, given, options, holds))
    }),
  ).catch((err: unknown) => {
    if (err instanceof Undone) return err.outcome
    throw err
  })
  const changed = tasks.filter(({ actions }) => actions.length > 0)
  return {
    changes: changed.map((task) => ({ ...presentChange(task), ...presentContents(task) })),
    unchanged: tasks.length - changed.length,
    drift,
    problems,
    warnings,
  }
}
