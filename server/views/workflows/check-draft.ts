import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Problem } from '../../workflows/check/problem'
import { checkWritten } from '../../workflows/check/written'

/**
 * Every problem of a definition, saved or not: the errors that block saving, and the problems that publishing would
 * report.
 */
export async function checkDraft(ctx: ServiceContext, input: { definition: unknown }): Promise<Problem[]> {
  authorize(ctx, 'workflow:read')
  return (await checkWritten(ctx, input.definition)).problems
}
