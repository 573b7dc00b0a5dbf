import type { EventRules, EventValue } from '../../definition/event'
import { ExpressionFailure } from '../../definition/expression/evaluate'
import { lookupIn, TemplateSyntaxError, UnresolvedReference } from '../../definition/template'
import { evaluateText } from '../../tools/expression'

/** Whether an event matches a wait. It does not if the expression has no value for it. */
export function matchesEvent({ when, values }: EventRules, event: EventValue): boolean {
  if (when === null) return true
  const inValues = lookupIn(values)
  try {
    return evaluateText(when, (name) => (name === 'event' ? event : inValues(name))) === true
  } catch (err) {
    const isAbout = [ExpressionFailure, UnresolvedReference, TemplateSyntaxError].some((type) => err instanceof type)
    if (isAbout) return false
    throw err
  }
}
