import { readAnswer } from '../../agents/read-answer'
import type { ServiceContext } from '../../context'
import type { JsonObject } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { ErrorDetail } from '../../errors'
import { parseInput } from '../../parse'
import { checkDefinition } from '../check/definition'
import type { Problem } from '../check/problem'
import { checkWritten } from '../check/written'
import { mergeDefinition, newDefinition } from '../definition'
import { CreateWorkflow, UpdateWorkflow } from '../schema'
import { flawsOf } from '../simulate'

/** The longest answer in characters. No larger graph could be read by the people who asked for it. */
export const MAX_ANSWER = 200_000
/** Finds the definition in an answer. The definition's own schemas check it. */
const SHAPE: JsonObject = { type: 'object', properties: { steps: { type: 'array' } }, required: ['steps'] }
const UNNAMED = 'New workflow'

/** An answer that can be offered has a definition and no errors. */
export interface Judged {
  definition: Definition | null
  /** Problems that publishing would refuse, or that a simulation shows. */
  errors: Problem[]
  warnings: Problem[]
  /** Warnings that the draft did not have before. */
  doubts: Problem[]
}

/** Judges the answers to one description. */
export type Judge = (text: string) => Promise<Judged>

/**
 * Passes an answer only if it has the form of a definition, if publishing would find no error in it, and if it works in
 * a simulation.
 * @param draft the definition to change; null for a new one
 */
export async function judgeOf(ctx: ServiceContext, draft: Definition | null): Promise<Judge> {
  const before = new Set((draft ? await checkDefinition(ctx, draft) : []).map(keyOf))
  const read = draft
    ? (body: unknown) => changed(draft, body as JsonObject)
    : (body: unknown) => made(body as JsonObject)
  return async (text) => {
    const found =
      text.length > MAX_ANSWER
        ? unread([{ message: `is longer than ${MAX_ANSWER.toLocaleString('en')} characters` }])
        : readAnswer(text, SHAPE)
    if (!found.data) return refused(found.details.map(ofAnswer))
    const { definition, problems } = await checkWritten(ctx, found.data, read)
    const errors = problems.filter(({ severity }) => severity === 'error')
    if (!definition || errors.length > 0) return refused(errors)
    const warnings = problems.filter(({ severity }) => severity === 'warning')
    const doubts = warnings.filter((warning) => !before.has(keyOf(warning)))
    return { definition, errors: await flawsOf(ctx, definition), warnings, doubts }
  }
}

const refused = (errors: Problem[]): Judged => ({ definition: null, errors, warnings: [], doubts: [] })
const unread = (details: ErrorDetail[]) => ({ data: null, details })
const keyOf = ({ code, stepId, field }: Problem) => JSON.stringify([code, stepId, field])

function ofAnswer({ path = '', message }: ErrorDetail): Problem {
  const part = path.replace(/^data\.?/, '')
  return {
    severity: 'error',
    code: 'INVALID_INPUT',
    message: part === '' ? `The answer ${message}.` : `The answer’s field ${part} ${message}.`,
  }
}

function made(body: JsonObject): Definition {
  const isNamed = typeof body.name === 'string' && body.name.trim() !== ''
  return newDefinition(parseInput(CreateWorkflow, isNamed ? body : { ...body, name: UNNAMED }))
}

/** The name stays; settings that the answer leaves out stay too, except for the first step. */
function changed(draft: Definition, body: JsonObject): Definition {
  const { version: _none, initialStep = null, ...rest } = body
  return mergeDefinition(draft, parseInput(UpdateWorkflow, { ...rest, initialStep, name: draft.name }))
}
