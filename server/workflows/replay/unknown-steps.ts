import { expressionReferences } from '../../definition/expression/fields'
import { isJsonObject } from '../../definition/json'
import type { Step } from '../../definition/schema'
import { findReferences, type Lookup } from '../../definition/template'
import { RESULT_FIELD, templatedConfig } from '../../definition/templated-config'
import type { Reason } from '../../definition/verdict'
import { type Entry, type Position, withDelta } from '../../interpreter/flow/index'
import { suppliedIn } from '../../steps/define-step'
import { readStep } from '../check/flow'
import { Undetermined, type Unknowns } from './unknown'

// What a step may do with unknown values. It may copy them, and then computes as ever; where one would decide something,
// nobody knows how the walk continues.

/**
 * Whether a step refers to something unknown.
 * @throws Undetermined if that would decide something
 */
export function readsUnknown(unknowns: Unknowns, { step, type }: Entry<Position>, lookup: Lookup): Reason | null {
  if (!unknowns.any) return null
  let touched: Reason | null = null
  for (const { reference } of findReferences(templatedConfig(step)).references) {
    const met = unknowns.met(reference, lookup)
    if (met?.decides) throw new Undetermined(met.reason)
    touched ??= met?.reason ?? null
  }
  for (const { path, reference } of expressionReferences(step).references) {
    if (suppliedIn(type, path, reference.root)) continue
    const met = unknowns.met(reference, lookup)
    // The expression of a wait is only evaluated when an event is there; a field that is computed becomes unknown.
    const decides = !path.startsWith('compute.') && type.supplies === undefined
    if (met && decides) throw new Undetermined(met.reason)
    touched ??= met?.reason ?? null
  }
  for (const name of type.reads?.(step) ?? []) {
    const reason = unknowns.reasonIn(lookup(name))
    if (reason) throw new Undetermined(reason)
  }
  return touched
}

/** The step with each field that would be computed from something unknown set to an unknown value. */
export function withUnknownFields(unknowns: Unknowns, step: Step, lookup: Lookup): Step {
  const { compute } = step
  if (!isJsonObject(compute)) return step
  const fields = Object.entries(compute).map(([name, text]) => {
    const { references } = expressionReferences({ compute: { [name]: text } })
    const [reason] = references.flatMap(({ reference }) => unknowns.met(reference, lookup)?.reason ?? [])
    return [name, reason ? JSON.stringify(unknowns.make(reason)) : text] as const
  })
  const isKnown = fields.every(([name, text]) => text === compute[name])
  return isKnown ? step : { ...step, compute: Object.fromEntries(fields) }
}

/** A step that only computes, with an unknown value in place of each that it gives. Null if nobody knows which. */
export function givenUnknown({ state, step, at }: Entry<Position>, mark: string, exit: string) {
  const read = readStep(step)
  const defined = read?.type.defines?.(read.config, step.id)
  if (!read || !defined || defined.open) return null
  const { config } = read
  const delta = Object.fromEntries(Object.keys(defined.fields).map((name) => [name, mark]))
  return { config, outputData: {}, output: mark, delta, grown: withDelta(state, delta, state.ref, at), exit }
}

/** @throws Undetermined if something unknown decides what a fork collects from a branch */
export function refuseInResult(unknowns: Unknowns, fork: Step, lookup: Lookup): void {
  if (!unknowns.any) return
  for (const { reference } of findReferences({ [RESULT_FIELD]: fork[RESULT_FIELD] }).references) {
    const met = unknowns.met(reference, lookup)
    if (met?.decides) throw new Undetermined(met.reason)
  }
}
