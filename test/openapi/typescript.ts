import type { JsonValue } from '@/server/definition/json'
import type { Schema } from '@/server/openapi/types'

/** The part of a document from which clients are generated. */
export interface Described {
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Schema> }
}
interface DescribedOperation {
  operationId: string
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> } | { $ref: string }>
}

/** A TypeScript client of a document, in one file: what generators of clients do, without their dependencies. */
export function typescriptClient({ paths, components }: Described): string {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `  ${key(name)}: ${typeOf(schema)}`)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationType(path, method, operation)),
  )
  const places = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      return `  ${key(operationId)}: { method: '${method.toUpperCase()}', path: ${JSON.stringify(path)} },`
    }),
  )
  return [
    'export interface Schemas {',
    ...schemas,
    '}',
    'export interface Operations {',
    ...operations,
    '}',
    'const PLACES: Record<keyof Operations, { method: string; path: string }> = {',
    ...places,
    '}',
    CLIENT,
  ].join('\n')
}

function operationType(
  path: string,
  method: string,
  { operationId, requestBody, responses }: DescribedOperation,
): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const params = names.length === 0 ? '' : ` params: { ${names.map((name) => `${key(name)}: string`).join('; ')} };`
  const sent = requestBody?.content['application/json']?.schema
  const body = sent ? ` body${requestBody?.required ? '' : '?'}: ${typeOf(sent)};` : ''
  const answers = Object.entries(responses).flatMap(([status, response]) => {
    const schema = 'content' in response ? response.content?.['application/json']?.schema : undefined
    return schema && Number(status) < 400 ? [`{ status: ${status}; body: ${typeOf(schema)} }`] : []
  })
  const answer = [...answers, '{ status: Errors; body: { error: { code: string; message: string } } }'].join(' | ')
  return `  /** ${method.toUpperCase()} ${path} */\n  ${key(operationId)}: { input: {${params}${body} }; answer: ${answer} }`
}

const key = (name: string) => JSON.stringify(name)
const literal = (value: JsonValue) => (typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value))

/** Ignores all keywords of a schema except its types. */
function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, oneOf, allOf } = schema
  if ($ref !== undefined) return `Schemas[${key($ref.split('/').at(-1) ?? '')}]`
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices) return `(${choices.map(typeOf).join(' | ')})`
  if (allOf) return `(${allOf.map(typeOf).join(' & ')})`
  if (Array.isArray(type)) return `(${type.map((one) => typeOf({ ...schema, type: one })).join(' | ')})`
  if (type === 'array') return `(${schema.items ? typeOf(schema.items) : 'unknown'})[]`
  if (type === 'object') return objectType(schema)
  if (type === 'integer') return 'number'
  return type ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (properties) {
    const fields = Object.entries(properties).map(
      ([name, field]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
    )
    return `{ ${fields.join('; ')} }`
  }
  return `{ [name: string]: ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'} }`
}

const CLIENT = `
type Errors = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 500 | 503
type Input = { params?: Record<string, string>; body?: unknown }

export function client(url: string, headers: Record<string, string>) {
  return async <K extends keyof Operations>(
    id: K,
    input: Operations[K]['input'],
  ): Promise<Operations[K]['answer']> => {
    const { params = {}, body } = input as Input
    const { method, path } = PLACES[id]
    const response = await fetch(url + path.replace(/\\{(\\w+)\\}/g, (_all, name: string) => params[name] ?? ''), {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() } as Operations[K]['answer']
  }
}
`
