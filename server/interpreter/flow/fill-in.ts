import { isUnavailable, sqlState } from '@/db/deadline'
import { originOf } from '../../definition/branches'
import { expressionReferences } from '../../definition/expression/fields'
import { graphOf } from '../../definition/graph'
import { type JsonObject, type JsonValue, own } from '../../definition/json'
import type { Arrival } from '../../definition/run'
import type { Step } from '../../definition/schema'
import { findReferences, type Lookup, lookupIn, resolveTemplates } from '../../definition/template'
import { literalConfig, RESULT_FIELD, templatedConfig } from '../../definition/templated-config'
import { type AnyStep, suppliedIn } from '../../steps/define-step'
import { classify } from './failure'
import type { Position } from './types'
import { knownValues, valuesFor } from './values'

// Fills in `${…}`, wherever the values come from: a run reads them, a simulation makes them up.

/** The parts of a step's configuration: its settings with every `${…}` filled in, and the values used. */
export interface Resolved {
  config: JsonObject
  lookup: Lookup
  /** The values for fields that the step fills in itself, and for expressions that it evaluates later. */
  values: JsonObject | null
}

/** Finds the value of a name: the field of that name, or else the output of the step with that id. */
export function lookupWith(data: JsonObject, outputs: Readonly<Record<string, JsonValue>>): Lookup {
  const inData = lookupIn(data)
  return (root) => {
    const found = inData(root)
    // A field that is null hides an output, like any other.
    return found === undefined ? own(outputs, root) : found
  }
}

/**
 * A step's configuration with every `${…}` filled in. Expressions stay as they are; `lookup` finds what they refer to.
 * @throws UnresolvedReference, TemplateTooLarge
 */
export function fillIn(step: Step, type: AnyStep, lookup: Lookup): Resolved {
  const fillsIn: readonly string[] = (type.mode === 'effect' && type.fillsIn) || []
  const written = templatedConfig(step)
  const later = Object.fromEntries(Object.entries(written).filter(([name]) => fillsIn.includes(name)))
  const config = Object.fromEntries(Object.entries(written).filter(([name]) => !fillsIn.includes(name)))
  const supplied =
    type.supplies &&
    expressionReferences(step).references.filter(({ path, reference: { root } }) => !suppliedIn(type, path, root))
  const values = supplied ? knownValues(supplied, lookup) : fillsIn.length === 0 ? null : valuesFor(later, lookup)
  return { config: { ...resolveTemplates(config, lookup), ...later, ...literalConfig(step) }, lookup, values }
}

/** The step that forked this walk; undefined if it is no branch. */
export function forkOf({ ref, definition }: Pick<Position, 'ref' | 'definition'>): Step | undefined {
  return graphOf(definition).step(originOf(ref.branch)?.stepId ?? '')
}

/** The names that a fork's `result` refers to. */
export function rootsOfResult(fork: Step): Set<string> {
  const { references } = findReferences({ [RESULT_FIELD]: fork[RESULT_FIELD] })
  return new Set(references.map(({ reference }) => reference.root))
}

/**
 * The result that a fork collects from a branch that has ended.
 * @throws errors that `notCollected` handles
 */
export function collected(fork: Step | undefined, lookup: Lookup): Arrival {
  const result = fork?.[RESULT_FIELD]
  if (result === undefined) return { done: null }
  return { done: resolveTemplates({ result }, lookup).result ?? null }
}

/** @throws err itself if the run is not at fault */
export function notCollected(err: unknown, state: Pick<Position, 'ref' | 'definition'>): Arrival {
  if (isUnavailable(err) || sqlState(err) !== undefined) throw err
  const { code, message, internal } = classify(err)
  if (internal) throw err
  return { failed: { code, message, stepId: forkOf(state)?.id ?? '' }, outcome: 'failed' }
}
