import { isDeepStrictEqual } from 'node:util'

/** Whether two values are equal once stored as JSON, which ignores key order, absent fields and the sign of -0. */
export function sameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))
}
