import { unstorable } from '../definition/json'

/** The arguments of a `refine` for text that Postgres can store. */
export const STORABLE = [
  (text: string) => unstorable(text) === null,
  'must be text without NUL characters and lone surrogates',
] as const
