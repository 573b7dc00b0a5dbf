import { Effort } from '../../definition/effort'
import { expand, stepOfItem } from '../../definition/expand'
import { expressionReferences } from '../../definition/expression/fields'
import { nearestName } from '../../definition/nearest'
import { stepsAside } from '../../definition/paths'
import type { Definition, FieldType } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import { findReferences, isNameable, referenceText, shownName } from '../../definition/template'
import { templatedConfig } from '../../definition/templated-config'
import { suppliedIn } from '../../steps/define-step'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { type Flow, flowOf } from './flow'
import type { Problem } from './problem'
import { bodiesOf, checkMerges } from './regions'
import { checkTypes } from './type-problems'
import { definedAs } from './types'

/**
 * References that never have a value, and those that have one only on some paths: found at publish rather than in the
 * middle of a run. After a step that may add fields of any name, nothing is reported.
 */
export function* checkReferences(definition: Definition, flow: Flow): Sliced<Problem[]> {
  const problems: Problem[] = []
  const looking = new Effort(FOR_NAMES)
  const aside = stepsAside(definition)
  problems.push(...checkMerges(definition, bodiesOf(definition), flow.writtenBy))
  for (const step of definition.steps) {
    yield
    const templates = findReferences(templatedConfig(step))
    const expressions = expressionReferences(step)
    const type = findStepType(step.type)
    // Filled in at the end of a branch.
    const later = findReferences(type?.mode === 'fork' && step.result !== undefined ? { result: step.result } : {})
    const references = [...templates.references, ...expressions.references, ...later.references]
    for (const { path, error } of [...templates.problems, ...expressions.problems, ...later.problems]) {
      problems.push({
        severity: 'error',
        code: 'INVALID_EXPRESSION',
        message: error.message,
        stepId: step.id,
        field: path,
      })
    }
    // A cancel or a failure may follow any step, so these paths can rely on no value.
    if (references.length === 0 || aside.has(step.id)) continue
    const [before, after] = [flow.at(step.id), flow.afterBranch(step.id)]
    const fillsIn: readonly string[] = type?.mode === 'effect' ? (type.fillsIn ?? []) : []
    const reported = new Set<string>()
    for (const [nth, { path, reference }] of references.entries()) {
      yield
      const { root, source } = reference
      const here = nth >= references.length - later.references.length ? after : before
      if (
        root === 'secrets' &&
        fillsIn.some((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))
      )
        continue
      if (suppliedIn(type, path, root)) continue
      if (here === null || root === '_' || reference.fallback || here.open || expressions.guarded.has(reference))
        continue
      const at = { stepId: step.id, field: path }
      if (!here.has(root)) {
        const suggestion = looking.allows(1) ? nearestName(root, here.names(), looking) : null
        const message = `\${${source}} can never have a value here: no START field and no earlier step is named ${shownName(root)}.`
        problems.push({
          severity: 'error',
          code: 'EXPRESSION_UNRESOLVED',
          message: suggestion === null ? message : `${message} Did you mean \${${referenceText([suggestion])}}?`,
          ...at,
          ...(suggestion === null ? {} : { suggestion }),
        })
      } else if (!here.hasAlways(root) && root !== 'fileId' && !reported.has(`${path}:${root}`)) {
        reported.add(`${path}:${root}`)
        const message = `\${${source}} may have no value here, which would fail the step: ${whyMaybe(definition, here.producers(root), root)} Write \${${source} ?? "…"} to set a fallback.`
        problems.push({ severity: 'warning', code: 'W_REF_MAYBE', message, ...at })
      }
    }
  }
  return problems.concat(yield* checkTypes(definition, flow, looking))
}

/**
 * The budget of one check for suggesting names, in compared letters: a tenth of a second, and some hundreds of names.
 * Further problems have no suggestion.
 */
export const FOR_NAMES = 5_000_000

/** Beyond this number, steps are only counted. */
const MAX_NAMED = 10

function whyMaybe(definition: Definition, producers: { id: string }[], name: string): string {
  const ids = producers.map(({ id }) => id)
  if (Object.hasOwn(definition.payload, name)) return 'the START field is optional.'
  const some = ids.slice(0, MAX_NAMED)
  const others = ids.length - some.length
  const named = others === 0 ? some.join(', ') : `${some.join(', ')} and ${others} other steps`
  return `not every path gives ${named} a value for it.`
}

/** A name `${…}` can refer to. */
export interface ScopeEntry {
  /** The text between `${` and `}`. */
  name: string
  type: FieldType
  description: string | null
  /** Its origin: START, a step, or the run itself (`_`). */
  from: 'start' | 'step' | 'run'
  stepId: string | null
  /** Whether it has no value on some paths, or is optional. */
  maybe: boolean
  /** The only field of the step that can refer to it; any if absent. */
  only?: string
}

/** How deep to list known properties of objects. */
const MAX_DEPTH = 3

/**
 * Everything a step can refer to: START fields, then steps in graph order, then all run data.
 * @param flow of the definition in the form that runs read
 */
export function scopeOf(
  definition: Definition,
  stepId: string,
  flow: Flow = flowOf(expand(definition)),
): { entries: ScopeEntry[]; open: boolean } {
  const here = flow.at(stepId)
  const read = flow.reads(stepId)
  const entries: ScopeEntry[] = []
  for (const name of here.names()) {
    const producers = here.producers(name)
    const maybe = !here.hasAlways(name)
    const nearest = producers.at(-1)
    const types = new Set(producers.map((step) => here.definedBy(step, name).type))
    if (nearest) {
      const field = here.definedBy(nearest, name)
      const isOne = types.size === 1 && field.type !== 'any' && !declared(definition, name)
      const typed = definedAs(read(name).type)
      const inside = field.properties ?? typed.properties
      const known = isOne ? { ...field, ...(inside ? { properties: inside } : {}) } : { ...typed, ...described(field) }
      entries.push(...listed([name], known, { from: 'step', stepId: nearest.id, maybe }))
    } else if (name === 'error' && !declared(definition, name)) {
      entries.push(...listed([name], ERROR, { from: 'run', stepId: null, maybe }))
    } else entries.push(...listed([name], startField(definition, name), { from: 'start', stepId: null, maybe }))
  }
  const supplies = findStepType(definition.steps.find(({ id }) => id === stepId)?.type ?? '')?.supplies ?? {}
  for (const [only, names] of Object.entries(supplies)) {
    for (const [name, field] of Object.entries(names))
      entries.push(...listed([name], field, { from: 'step', stepId, maybe: false, only }))
  }
  const ofItem = stepOfItem(definition, stepId)
  const there = ofItem && flow.at(ofItem.id)
  for (const name of there?.names() ?? []) {
    const field = there?.producers(name).map((step) => there.definedBy(step, name)) ?? []
    if (!here.has(name) && ofItem)
      entries.push(
        ...listed([name], field.at(-1) ?? { type: 'any' }, { from: 'step', stepId, maybe: false, only: 'input' }),
      )
  }
  const rank = new Map(definition.steps.map((step, index) => [step.id, index]))
  entries.sort((a, b) => orderOf(a, rank) - orderOf(b, rank))
  const all = { name: '_', type: 'object' as const, description: 'All run data', stepId: null }
  return { entries: [...entries, { ...all, from: 'run', maybe: false }], open: here.open }
}

/** The value of `${error}` after a failed step. */
const ERROR: DefinedField = {
  type: 'object',
  description: 'Why the step before failed',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    stepId: { type: 'string' },
  },
}

function described({ description }: DefinedField): { description?: string } {
  return description === undefined ? {} : { description }
}

const FILE = { type: 'file', description: 'The file that the run started with' } as const

function startField(definition: Definition, name: string): DefinedField {
  const field = declared(definition, name)
  if (!field) return FILE
  return { type: field.type, ...(field.description === undefined ? {} : { description: field.description }) }
}

function declared(definition: Definition, name: string) {
  return Object.hasOwn(definition.payload, name) ? definition.payload[name] : undefined
}

function listed(
  path: readonly [string, ...string[]],
  field: DefinedField,
  at: Pick<ScopeEntry, 'from' | 'stepId' | 'maybe' | 'only'>,
): ScopeEntry[] {
  if (!path.every(isNameable)) return []
  const entry: ScopeEntry = {
    name: referenceText(path),
    type: field.type,
    description: field.description ?? null,
    ...at,
  }
  const inside = path.length < MAX_DEPTH ? Object.entries(field.properties ?? {}) : []
  return [
    entry,
    ...inside.flatMap(([key, child]) =>
      listed([...path, key], child, { ...at, maybe: at.maybe || child.optional === true }),
    ),
  ]
}

function orderOf(entry: ScopeEntry, rank: Map<string, number>): number {
  return entry.stepId === null ? -1 : (rank.get(entry.stepId) ?? 0)
}
