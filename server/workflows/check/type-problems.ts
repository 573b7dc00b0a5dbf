import type { Effort } from '../../definition/effort'
import { exitOf } from '../../definition/exits'
import { EXPRESSION_FIELDS, expressionsOf } from '../../definition/expression/fields'
import { parseExpression } from '../../definition/expression/parse'
import { type JsonLike, own } from '../../definition/json'
import { nearestName } from '../../definition/nearest'
import { asideSteps, reachable } from '../../definition/paths'
import type { Definition, Step } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import { findReferences, shownName, TemplateSyntaxError } from '../../definition/template'
import { RESULT_FIELD, templatedConfig } from '../../definition/templated-config'
import { typeOfExpression } from '../../definition/types/of-expression'
import { ofFieldType } from '../../definition/types/of-fields'
import { typeOfTemplate } from '../../definition/types/of-template'
import { type DeadEnd, deadEnd, type ReadName } from '../../definition/types/read'
import { has, NEVER, type ValueType, wordsFor } from '../../definition/types/type'
import { suppliedIn } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import type { Flow } from './flow'
import type { Problem } from './problem'
import { ofDefined } from './types'

/** A part of a step that cannot work; `fatal` if the step always fails and nothing catches that. */
interface Found {
  kind: 'operands' | 'path'
  fatal: boolean
  end: DeadEnd
  at: { stepId: string; field: string }
}

/**
 * Parts that can never work because of the types of values, whatever the run's data.
 * @param looking the budget for suggesting names
 */
export function* checkTypes(definition: Definition, flow: Flow, looking: Effort): Sliced<Problem[]> {
  const caught = new Set(definition.edges.filter((edge) => exitOf(edge) === 'error').map(({ from }) => from))
  const begins = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  const reached = new Set(begins.flatMap((first) => [...reachable(definition, first)]))
  const problems: Problem[] = []
  for (const step of definition.steps) {
    yield
    // No run can fail at a step that no run reaches.
    const fatal = reached.has(step.id) && !caught.has(step.id)
    const found = [
      ...checkExpressions(step, flow.reads(step.id), fatal),
      ...checkPaths(step, templatedConfig(step), flow.reads(step.id), fatal),
      // Filled in at the end of a branch, if it has any.
      ...checkPaths(step, { [RESULT_FIELD]: step[RESULT_FIELD] }, flow.readsAfterBranch(step.id), false),
      ...checkFields(step, flow.reads(step.id), fatal),
    ]
    for (const one of found) {
      yield
      problems.push(problemOf(one, looking))
    }
  }
  return problems
}

function problemOf({ kind, fatal, end: { message, unknown }, at }: Found, looking: Effort): Problem {
  const code =
    kind === 'path' ? (fatal ? 'EXPRESSION_UNRESOLVED' : 'W_REF_NEVER') : fatal ? 'TYPE_MISMATCH' : 'W_TYPE_MISMATCH'
  const severity = fatal ? 'error' : 'warning'
  const suggestion = unknown ? nearestName(unknown.name, unknown.known.keys(), looking) : null
  if (suggestion === null) return { severity, code, message, ...at }
  return { severity, code, message: `${message} Did you mean ${shownName(suggestion)}?`, suggestion, ...at }
}

/** Paths in templates; operators check those of expressions. */
function checkPaths(step: Step, config: JsonLike, read: ReadName, fatal: boolean): Found[] {
  return findReferences(config).references.flatMap(({ path, reference }) => {
    const end = reference.fallback ? null : deadEnd(reference, read)
    return end === null ? [] : [{ kind: 'path', fatal, end, at: { stepId: step.id, field: path } }]
  })
}

function checkExpressions(step: Step, read: ReadName, fatal: boolean): Found[] {
  const found: Found[] = []
  const type = findStepType(step.type)
  for (const [nth, { path, text, decides }] of expressionsOf(evaluatedBy(step)).entries()) {
    const supplied = type?.supplies?.[path]
    const result = typed(text, (name) => {
      const field = suppliedIn(type, path, name) ? own(supplied ?? {}, name) : undefined
      return field ? { type: ofDefined(field), always: true } : read(name)
    })
    if (!result) continue
    // An expression evaluated later does not fail the step at its start, and of several cases only the first is always
    // evaluated.
    const isSure = fatal && supplied === undefined && (!decides || nth === 0)
    const at = { stepId: step.id, field: path }
    for (const { kind, sure, ...end } of result.misfits) found.push({ kind, fatal: isSure && sure, end, at })
    if (!decides || result.type === NEVER || has(result.type, 'boolean')) continue
    const message = `It must give true or false, not ${wordsFor(result.type)}.`
    found.push({ kind: 'operands', fatal: isSure, end: { message }, at })
  }
  return found
}

/** A step without fields unknown to its type: nothing evaluates those. */
function evaluatedBy(step: Step): Step {
  const config = findStepType(step.type)?.config.safeParse(step)
  if (!config?.success) return step
  const known = EXPRESSION_FIELDS.filter((name) => Object.hasOwn(config.data, name))
  return { id: step.id, type: step.type, ...Object.fromEntries(known.map((name) => [name, step[name]])) }
}

function typed(text: string, read: ReadName) {
  try {
    return typeOfExpression(parseExpression(text), read)
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null
    throw error
  }
}

/** Fields of another kind than the step takes. */
function checkFields(step: Step, read: ReadName, fatal: boolean): Found[] {
  return Object.entries(findStepType(step.type)?.takes ?? {}).flatMap(([field, wanted]) => {
    if (wanted === undefined || step[field] === undefined) return []
    const given: ValueType = typeOfTemplate(step[field], read)
    if (given === NEVER || (given.kinds & ofFieldType(wanted).kinds) !== 0) return []
    const message = `It must be ${wordsFor(ofFieldType(wanted))}, not ${wordsFor(given)}.`
    return [{ kind: 'operands', fatal, end: { message }, at: { stepId: step.id, field } }]
  })
}
