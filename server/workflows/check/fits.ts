import { expressionReferences } from '../../definition/expression/fields'
import { isJsonObject, own, pathText } from '../../definition/json'
import { asideSteps, reachable } from '../../definition/paths'
import type { Definition, Step } from '../../definition/schema'
import { atOnce, type Sliced } from '../../definition/sliced'
import { findReferences, type Lookup, type Reference } from '../../definition/template'
import { RESULT_FIELD, templatedConfig } from '../../definition/templated-config'
import type { Reading, ReadName } from '../../definition/types/read'
import { ANY, misfitIn, NEVER, NOTHING, type ValueType, wordsFor } from '../../definition/types/type'
import { suppliedIn } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import type { Flow } from './flow'

// Whether the data of a run fits where it would stand in another version.

/** What a version takes for granted about a name, where a run would stand in it. */
export interface Claim {
  name: string
  /** A step from there on that reads it. */
  stepId: string
  type: ValueType
  /** Whether it must have a value, as a field or as the output of a step. */
  always: boolean
  /** Only a field counts: the step reads all run data, and no outputs. */
  inData: boolean
}

/** A name that has another type than a version claims. The caller may not be allowed to see its value. */
export interface DataMisfit {
  code: 'DATA_MISFIT'
  message: string
  name: string
  claimed: string
  found: string
  /** A step that reads it. */
  stepId: string
}

/** `claiming` without interruption. */
export function claimsAt(definition: Definition, flow: Flow, stepId: string): Claim[] {
  return atOnce(claiming(definition, flow, stepId))
}

/**
 * What a version claims where a step of it begins, about each name that a step from there on reads, also on the cleanup
 * path and on the failure path. A name that is set again before it is read is not among them.
 * @param definition in the form that runs read
 * @param flow of that definition
 */
export function* claiming(definition: Definition, flow: Flow, stepId: string): Sliced<Claim[]> {
  const ahead = new Set([stepId, ...asideSteps(definition)].flatMap((first) => [...reachable(definition, first)]))
  const here = flow.reads(stepId)
  const claims = new Map<string, Claim>()
  for (const step of definition.steps) {
    yield
    if (!ahead.has(step.id)) continue
    for (const { name, inData, there } of readBy(step, flow)) {
      const key = `${inData}:${name}`
      if (claims.has(key)) continue
      const claim = claimOf(inData ? fieldOf(here, name) : here(name), there)
      if (claim) claims.set(key, { name, inData, stepId: step.id, ...claim })
    }
  }
  return [...claims.values()]
}

/** Null if nothing is claimed, or if every way from here to the step that reads it sets the name. */
function claimOf(here: Reading, there: Reading): Reading | null {
  if (!here.always && (there.always || here.type === ANY)) return null
  // What the version would not have set may still be there.
  return { type: here.type === NEVER ? there.type : here.type, always: here.always }
}

interface Read {
  name: string
  inData: boolean
  /** At the place where it is read. */
  there: Reading
}

/** The names that a step reads when it begins, and at the end of its branches. */
function readBy(step: Step, flow: Flow): Read[] {
  const type = findStepType(step.type)
  const before = flow.reads(step.id)
  const result = findReferences(type?.mode === 'fork' ? { [RESULT_FIELD]: step[RESULT_FIELD] } : {}).references
  const after = result.length === 0 ? before : flow.readsAfterBranch(step.id)
  const begins = [
    ...findReferences(templatedConfig(step)).references,
    ...expressionReferences(step).references.filter(({ path, reference }) => !suppliedIn(type, path, reference.root)),
  ]
  return [
    ...begins.flatMap(({ reference }) => namesIn(reference, before)),
    ...result.flatMap(({ reference }) => namesIn(reference, after)),
    ...(type?.reads?.(step) ?? []).map((name) => ({ name, inData: true, there: fieldOf(before, name) })),
  ]
}

function namesIn({ root, path: [first] }: Reference, read: ReadName): Read[] {
  if (root !== '_') return [{ name: root, inData: false, there: read(root) }]
  const names = typeof first === 'string' ? [first] : [...read('_').type.props.keys()]
  return names.map((name) => ({ name, inData: true, there: fieldOf(read, name) }))
}

/** A name as a field of all run data. Only its type is known. */
function fieldOf(read: ReadName, name: string): Reading {
  const { type: data } = read('_')
  return { type: data.props.get(name)?.type ?? (data.open ? read(name).type : NEVER), always: false }
}

/**
 * The claims that the data of a run does not meet.
 * @param lookup the fields of the run where it would stand, and the outputs of its steps
 */
export function misfitsOf(claims: readonly Claim[], lookup: Lookup): DataMisfit[] {
  return claims.flatMap((claim) => misfitOf(claim, lookup) ?? [])
}

function misfitOf({ name, inData, stepId, type, always }: Claim, lookup: Lookup): DataMisfit | null {
  const data = inData ? lookup('_') : undefined
  const value = inData ? (isJsonObject(data) ? own(data, name) : undefined) : lookup(name)
  if (value === undefined && !always) return null
  const misfit = value === undefined ? { path: [], claimed: wordsFor(type), found: NOTHING } : misfitIn(value, type)
  if (!misfit) return null
  const { claimed, found } = misfit
  const at = pathText([name, ...misfit.path])
  const why = found === NOTHING ? 'has no value' : `must be ${claimed}, but is ${found}`
  return { code: 'DATA_MISFIT', message: `${stepId} reads ${at}, which ${why}.`, name: at, claimed, found, stepId }
}
