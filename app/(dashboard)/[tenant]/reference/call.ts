import { curlCommand } from '@/app/_ui/curl'
import { isParameter } from '@/app/reference/samples'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { DocumentedOperation, OpenApiDocument, Parameter, Schema } from '@/server/openapi/types'
import { sampleOf } from '../_versioned/schema-samples'

/** An operation with its place in the document. */
export interface Call {
  method: string
  path: string
  operation: DocumentedOperation
}

/** The parameters of the path and the query. */
export function parametersOf({ operation }: Call): Parameter[] {
  return operation.parameters.filter(isParameter).filter((it) => it.in !== 'header')
}

/** The filled-in headers as they are sent. */
export function filledHeaders(call: Call, values: Readonly<Record<string, string>>): Record<string, string> {
  const accept = acceptOf(call)
  const filled = Object.entries(values).flatMap(([field, value]) =>
    field.startsWith(HEADER) && value.trim() !== '' ? [[field.slice(HEADER.length).toLowerCase(), value.trim()]] : [],
  )
  return { ...(accept === null ? {} : { accept }), ...Object.fromEntries(filled) }
}

/** Whether the call takes a file as a form part. */
export function takesFile({ operation }: Call): boolean {
  return operation.requestBody?.content['multipart/form-data'] !== undefined
}

/** The fields sent with a file, which replaces one of them. */
export function besideFile({ [FILE_PART]: _file, ...fields }: JsonObject): JsonObject {
  return fields
}

/** The form part with the file. */
const FILE_PART = 'attachment'
/** The prefix of header fields' names. */
const HEADER = 'header.'
const MAX_DEPTH = 6

/** A schema with its references inlined; beyond the maximum depth, any value. */
export function inFull(schema: Schema, schemas: Readonly<Record<string, Schema>>, depth = 0): Schema {
  if (depth > MAX_DEPTH) return {}
  const inside = (one: Schema) => inFull(one, schemas, depth + 1)
  const { $ref, ...rest } = schema
  if ($ref !== undefined) return inside({ ...schemas[$ref.split('/').at(-1) ?? ''], ...rest })
  const { properties, items, anyOf, oneOf, additionalProperties: others } = schema
  return {
    ...schema,
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inside(one)])) }
      : {}),
    ...(items ? { items: inside(items) } : {}),
    ...(typeof others === 'object' ? { additionalProperties: inside(others) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(inside) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(inside) } : {}),
  }
}

/** The simplest valid value: for an object its required properties, or all if none is required. */
export function exampleOf(schema: Schema): JsonValue {
  const [either] = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null')
  if (either) return exampleOf(either)
  if (schema.default !== undefined || schema.const !== undefined || schema.enum) return sampleOf(asJson(schema))
  if (schema.properties) {
    const { properties, required = [] } = schema
    const names = required.length > 0 ? required : Object.keys(properties)
    return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {})]))
  }
  if (schema.items) return [exampleOf(schema.items)]
  return sampleOf(asJson(schema))
}

function asJson(schema: Schema): JsonValue {
  return JSON.parse(JSON.stringify(schema)) as JsonValue
}

/** The body field's initial value; null if the call sends none. */
export function bodyOf({ operation }: Call, document: OpenApiDocument): JsonValue | null {
  const media = operation.requestBody?.content['application/json']
  if (!media) return null
  const [example] = Object.values(media.examples ?? {})
  return example && 'value' in example ? example.value : exampleOf(inFull(media.schema, document.components.schemas))
}

/** The request path with its parameters' values; empty query parameters are left out. */
export function filledPath(call: Call, values: Readonly<Record<string, string>>): string {
  const path = call.path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[`path.${name}`] ?? ''))
  const query = new URLSearchParams(
    parametersOf(call).flatMap((it) => {
      const value = it.in === 'query' ? (values[`query.${it.name}`] ?? '') : ''
      return value === '' ? [] : [[it.name, value]]
    }),
  ).toString()
  return query === '' ? path : `${path}?${query}`
}

/** The path parameters without a value. */
export function missing(call: Call, values: Readonly<Record<string, string>>): string[] {
  return parametersOf(call).flatMap((it) => (it.in === 'path' && !values[`path.${it.name}`]?.trim() ? [it.name] : []))
}

/** Prefers one JSON response to an event stream where the call has both. */
export function acceptOf({ operation }: Call): string | null {
  const types = Object.keys(operation.responses['200']?.content ?? {})
  if (types.includes('application/json')) return types.length > 1 ? 'application/json' : null
  return types.includes('text/event-stream') ? 'text/event-stream' : null
}

/** The same call as a command, for a program with a key. */
export function curlOf(
  call: Call,
  sent: { url: string; tenantId: string; headers: Record<string, string>; body: string | null; file?: string },
): string {
  const { url, tenantId, headers, body, file } = sent
  const form = file === undefined ? [] : [`${FILE_PART}=@${file}`, ...(body === null ? [] : [`data=${body}`])]
  return curlCommand({
    url,
    method: call.method,
    key: call.operation['x-role'] === 'nobody' ? null : undefined,
    tenantId,
    headers,
    form,
    body: file !== undefined || body === null ? undefined : body,
    stream: headers.accept === 'text/event-stream',
  })
}
