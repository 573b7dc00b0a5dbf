import type { JsonLike, JsonObject } from '../definition/json'
import { textsUnder, withoutFields } from '../definition/sensitive'
import { type Masker, maskerOf } from './mask'

/** A masker for screens of one run: covers the tenant's vault, and the fields that its workflow marks as sensitive. */
export interface RunMasker extends Masker {
  /** The names of those fields. */
  hides: ReadonlySet<string>
  /** The vault's alone. */
  vault: Masker
}

/** For a run without sensitive fields. */
export function hidingNothing(vault: Masker): RunMasker {
  return { ...vault, hides: new Set(), vault }
}

/**
 * Searching every text for each value takes time, so this limits the values of a run. Shorter ones occur in any text.
 */
const MAX_VALUES = 50
export const SHORTEST_VALUE = 4

/** A masker for these fields, and for their values wherever else they occur. */
export function hidingMasker(vault: Masker, hides: ReadonlySet<string>, stored: JsonObject[]): RunMasker {
  return maskerFor(vault, hides, valuesMasker(stored, hides))
}

/** The same with a ready masker for the values. */
export function maskerFor(vault: Masker, hides: ReadonlySet<string>, values: Masker): RunMasker {
  return {
    hides,
    vault,
    text: (text) => vault.text(values.text(text)),
    json: <T extends JsonLike>(value: T) => vault.json(values.json(withoutFields(value, hides))),
    longest: Math.max(vault.longest, values.longest),
  }
}

/** A masker for the values of these fields, which may occur in other fields and texts. */
export function valuesMasker(stored: JsonObject[], hides: ReadonlySet<string>): Masker {
  return maskerOf(hiddenValues(stored, hides))
}

/** The values of these fields that texts are searched for. */
export function hiddenValues(stored: JsonObject[], hides: ReadonlySet<string>): string[] {
  const texts = new Set(textsUnder(stored, hides))
  return [...texts].filter((text) => text.length >= SHORTEST_VALUE).slice(0, MAX_VALUES)
}
