import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { presentChange, presentContents } from './present'
import { rolledBack } from './rolled-back'

/**
 * What an apply of the same body would change, and why it would be rejected. It is an apply that is rolled back, so its
 * findings are exactly those of an apply.
 * @throws AppError INVALID_INPUT
 */
export async function diffDefinitions(ctx: ServiceContext, input: JsonObject) {
  authorize(ctx, 'definitions:check')
  const { tasks, drift, problems, warnings } = await rolledBack(ctx, input, async (_tx, outcome) => outcome)
  const changed = tasks.filter(({ actions }) => actions.length > 0)
  return {
    changes: changed.map((task) => ({ ...presentChange(task), ...presentContents(task) })),
    unchanged: tasks.length - changed.length,
    drift,
    problems,
    warnings,
  }
}
