import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { checkDefinition } from '../../workflows/check/definition'
import type { Problem } from '../../workflows/check/problem'
import { newDefinition } from '../../workflows/definition'
import { CreateWorkflow } from '../../workflows/schema'

/**
 * Every problem of a definition, saved or not: the errors that block saving, and the problems that publishing would
 * report.
 */
export async function checkDraft(ctx: ServiceContext, input: { definition: unknown }): Promise<Problem[]> {
  authorize(ctx, 'workflow:read')
  try {
    return await checkDefinition(ctx, newDefinition(parseInput(CreateWorkflow, input.definition)))
  } catch (err) {
    if (!(err instanceof AppError) || err.code !== 'INVALID_INPUT') throw err
    return err.details.map(({ path = '', message }) => {
      const [, index, field] = /^steps\[(\d+)\]\.?(.*)$/.exec(path) ?? []
      const stepId = index === undefined ? null : stepIdAt(input.definition, Number(index))
      return {
        severity: 'error',
        code: 'INVALID_INPUT',
        message: `${path} ${message}`.trim(),
        ...(stepId === null ? { field: path } : { stepId, field: field ?? '' }),
      }
    })
  }
}

function stepIdAt(definition: unknown, index: number): string | null {
  const steps: unknown = isJsonObject(definition) ? definition.steps : null
  const step: unknown = Array.isArray(steps) ? steps[index] : null
  return isJsonObject(step) && typeof step.id === 'string' ? step.id : null
}
