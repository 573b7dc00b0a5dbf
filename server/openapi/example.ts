import type { JsonValue } from '../definition/json'
import type { Example } from './types'

/** An example in the document's form. */
export function example(summary: string, value: JsonValue): Example {
  return { summary, value }
}
