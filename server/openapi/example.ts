import type { JsonValue } from '../definition/json'
import type { Example } from './types'

/** An example as the document has it. */
export function example(summary: string, value: JsonValue): Example {
  return { summary, value }
}
