import { isDeepStrictEqual } from 'node:util'

/** Whether two values are the same once stored as JSON: the order of keys, absent fields and -0 make no difference. */
export function sameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))
}
