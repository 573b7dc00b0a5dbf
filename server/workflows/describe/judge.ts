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

/** Warnings that other people settle: no text of a definition can invite a member or store a secret. */
const OF_PEOPLE: ReadonlySet<Problem['code']> = new Set(['W_ASSIGNEE', 'W_NO_SECRET'])

/** An answer that can be offered has a definition and no errors. */
export interface Judged {
  definition: Definition | null
  /** Problems that publishing would refuse, or that a simulation shows. */
  errors: Problem[]
  warnings: Problem[]
  /** The problems to mend: those that the draft did not have before and that a model can mend. */
  toMend: Problem[]
}

/** Judges the answers to one description. */
export type Judge = (text: string) => Promise<Judged>

/** The problems that a draft has before its change. A draft without steps has none worth comparing. */
export async function problemsBefore(ctx: ServiceContext, draft: Definition | null): Promise<Problem[]> {
  if (!draft || draft.steps.length === 0) return []
  const problems = await checkDefinition(ctx, draft)
  return problems.some(isError) ? problems : [...problems, ...(await flawsOf(ctx, draft))]
}

/**
 * Passes an answer only if it has the form of a definition, if publishing would find no error in it, and if it works in
 * a simulation as well as the draft before.
 * @param draft the definition to change; null for a new one
 */
export function judgeOf(ctx: ServiceContext, draft: Definition | null, before: readonly Problem[]): Judge {
  const known = new Set(before.map(keyOf))
  const isNew = (problem: Problem) => !known.has(keyOf(problem))
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
    const blocking = problems.filter(isError)
    if (!definition || blocking.length > 0) return refused(blocking, blocking.filter(isNew))
    const flaws = await flawsOf(ctx, definition)
    const errors = flaws.filter((flaw) => isError(flaw) && isNew(flaw))
    // A flaw that the draft had before does not prevent publishing either.
    const others = flaws.filter((flaw) => !errors.includes(flaw))
    const warnings = [...problems, ...others.map((flaw): Problem => ({ ...flaw, severity: 'warning' }))]
    const doubts = [...problems, ...others].filter((one) => isNew(one) && !OF_PEOPLE.has(one.code))
    return { definition, errors, warnings, toMend: [...errors, ...doubts] }
  }
}

const refused = (errors: Problem[], toMend = errors): Judged => ({ definition: null, errors, warnings: [], toMend })
const unread = (details: ErrorDetail[]) => ({ data: null, details })
const isError = ({ severity }: Problem) => severity === 'error'
const keyOf = ({ severity, code, stepId, field }: Problem) => JSON.stringify([severity, code, stepId, field])

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

/** The name stays; settings that the answer leaves out stay too, the first step only if it still exists. */
function changed(draft: Definition, body: JsonObject): Definition {
  const { version: _none, ...rest } = body
  const parsed = parseInput(UpdateWorkflow, { ...rest, name: draft.name })
  const keepsFirst = (parsed.steps ?? draft.steps).some(({ id }) => id === draft.initialStep)
  return mergeDefinition(draft, {
    ...parsed,
    initialStep: parsed.initialStep ?? (keepsFirst ? draft.initialStep : null),
  })
}
