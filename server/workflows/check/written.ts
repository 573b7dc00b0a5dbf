import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import { AppError, type ErrorDetail } from '../../errors'
import { parseInput } from '../../parse'
import { newDefinition } from '../definition'
import { CreateWorkflow } from '../schema'
import { checkDefinition } from './definition'
import type { Problem } from './problem'

export interface Written {
  /** Null if it could not even be saved. */
  definition: Definition | null
  problems: Problem[]
}

/**
 * Every problem of a definition that nobody has saved: the errors that block saving, or else the problems that
 * publishing would report.
 * @param body the body of a create, or of another call if `read` parses that
 */
export async function checkWritten(
  ctx: ServiceContext,
  body: unknown,
  read: (body: unknown) => Definition = (whole) => newDefinition(parseInput(CreateWorkflow, whole)),
): Promise<Written> {
  try {
    const definition = read(body)
    return { definition, problems: await checkDefinition(ctx, definition) }
  } catch (err) {
    if (!(err instanceof AppError) || err.code !== 'INVALID_INPUT') throw err
    return { definition: null, problems: err.details.map((detail) => blocking(body, detail)) }
  }
}

function blocking(body: unknown, { path = '', message }: ErrorDetail): Problem {
  const [, index, field] = /^steps\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const stepId = index === undefined ? null : stepIdAt(body, Number(index))
  return {
    severity: 'error',
    code: 'INVALID_INPUT',
    message: `${path} ${message}`.trim(),
    ...(stepId === null ? { field: path } : { stepId, field: field ?? '' }),
  }
}

function stepIdAt(definition: unknown, index: number): string | null {
  const steps: unknown = isJsonObject(definition) ? definition.steps : null
  const step: unknown = Array.isArray(steps) ? steps[index] : null
  return isJsonObject(step) && typeof step.id === 'string' ? step.id : null
}
