import type { JsonObject } from '@/server/definition/json'
import type { FieldType } from '@/server/definition/schema'
import { readReference, type Segment } from '@/server/definition/template'
import { type Shape, wantedType } from './shape'

/** A value of the run that `${…}` can refer to. */
export interface Offer {
  name: string
  type: FieldType
  maybe: boolean
}

/** How well a value suits a type: 0 fits, 1 may fit, 2 does not fit. */
export function suits(type: FieldType, wanted: FieldType): 0 | 1 | 2 {
  if (type === wanted || (wanted === 'number' && type === 'integer')) return 0
  if (type === 'any' || wanted === 'any') return 1
  return wanted === 'string' && type === 'file' ? 0 : 2
}

/**
 * Sorts matching types first, and values that always exist before those that may be missing. Otherwise the order is
 * stable.
 */
export function byFit<O extends Offer>(offers: readonly O[], wanted: FieldType): O[] {
  const rank = (offer: O) => (offer.name === '_' ? 9 : suits(offer.type, wanted) * 2 + Number(offer.maybe))
  return [...offers].sort((a, b) => rank(a) - rank(b))
}

/** Expressions for all arguments without a value that share their name with a value of the run. */
export function sharedNames(shape: Shape, args: JsonObject, offers: readonly Offer[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { name, shape: wanted } of shape.fields) {
    if (args[name] !== undefined) continue
    const offer = offerFor(name, wantedType(wanted), offers)
    if (offer) found[name] = `\${${offer.name}}`
  }
  return found
}

/** Prefers a top-level value to a nested one. A nested value counts only if it is the only match. */
function offerFor(name: string, wanted: FieldType, offers: readonly Offer[]): Offer | null {
  const suitable = offers.filter((offer) => offer.name !== '_' && suits(offer.type, wanted) < 2)
  const named = suitable.filter((offer) => plain(String(pathOf(offer).at(-1))) === plain(name))
  const whole = named.filter((offer) => pathOf(offer).length === 1)
  const inside = named.filter((offer) => pathOf(offer).length > 1)
  return (
    whole.find((offer) => pathOf(offer)[0] === name) ?? whole[0] ?? (inside.length === 1 ? (inside[0] ?? null) : null)
  )
}

function pathOf({ name }: Offer): Segment[] {
  const { root, path } = readReference(name)
  return [root, ...path]
}

/** `customerId`, `customer_id` and `customer-id` are the same name. */
const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')
