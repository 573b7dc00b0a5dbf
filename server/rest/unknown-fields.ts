import type { z } from 'zod'
import { cutText, type JsonObject, pathText } from '../definition/json'
import { namesOf, unknownNames } from '../definition/unknown-names'
import type { Endpoint, RouteAnswer } from '../openapi/endpoint'
import { type UnknownField, unknownField } from '../workflows/check/unknown-fields'

const MAX_TOLD = 20
const MAX_PLACE = 200

type Warning = UnknownField & { severity: 'warning'; code: 'W_UNKNOWN_FIELD'; field: string }

/** The warnings about a body's fields that the endpoint ignores. */
export type Unknowns = (body: unknown) => Warning[]

/**
 * Undefined if the body may have any fields. What the answer has at its top is no mistake in the body: callers send back
 * what they were given.
 */
export function unknownsOf({ body, answers, openBody }: Endpoint): Unknowns | undefined {
  const schema = body?.schema
  if (!schema || openBody || mayHaveAny(schema)) return undefined
  const given = new Set(Object.values(answers).flatMap((answer) => (answer.schema ? namesOf(answer.schema) : [])))
  return (sent) => {
    if (!isPlainObject(sent)) return []
    const unknown = unknownNames(schema, sent as JsonObject, { open: 'loose' })
    return unknown
      .filter(({ path: [first, ...more] }) => more.length > 0 || !given.has(String(first)))
      .slice(0, MAX_TOLD)
      .map(({ path, suggestion }) => {
        const field = cutText(pathText(path), MAX_PLACE)
        return { severity: 'warning', code: 'W_UNKNOWN_FIELD', ...unknownField(field, suggestion), field }
      })
  }
}

/** The answer with these warnings besides its own, if it is an object. */
export function withWarnings(answer: RouteAnswer, warnings: Warning[]): RouteAnswer {
  const { body } = answer
  if (warnings.length === 0 || !isPlainObject(body)) return answer
  const own = Array.isArray(body.warnings) ? body.warnings : []
  return { ...answer, body: { ...body, warnings: [...own, ...warnings] } }
}

const isPlainObject = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype

function mayHaveAny(schema: z.ZodType): boolean {
  const { type } = schema.def
  return type === 'record' || type === 'unknown'
}
