import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Field, Fields, FieldType } from '@/server/definition/schema'

/** Sample data for the fields: the default, or a small value of the type. */
export function sampleData(fields: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (field.type === 'file' ? [] : [[name, sampleOf(field)]])),
  )
}

function sampleOf(field: Field): JsonValue {
  if (field.default !== undefined) return field.default
  if (field.options?.[0] !== undefined) return field.options[0]
  const samples: Record<FieldType, JsonValue> = {
    string: 'text',
    number: 1.5,
    integer: 1,
    boolean: true,
    object: {},
    array: [],
    file: '',
    any: 'text',
  }
  return samples[field.type]
}

/** A curl command that starts a run with sample data; the key is `$API_KEY`. */
export function startCurl(origin: string, tenantId: string, workflowId: string, fields: Fields): string {
  const url = `${origin}/api/workflow/start-async/${encodeURIComponent(workflowId)}`
  const head = [`curl -X POST ${quoted(url)}`, `-H ${quoted(`x-tenant-id: ${tenantId}`)}`, '-H "x-api-key: $API_KEY"']
  const data = sampleData(fields)
  if (Object.values(fields).some(({ type }) => type === 'file')) {
    const texts = Object.entries(data).map(
      ([name, value]) => `-F ${quoted(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`,
    )
    return [...head, ...texts, '-F "attachment=@file.pdf"'].join(' \\\n  ')
  }
  return [...head, '-H "content-type: application/json"', `-d ${quoted(JSON.stringify({ data }))}`].join(' \\\n  ')
}

/** Quotes for a POSIX shell, where nothing is special inside single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The response of `metadata/input`. */
export function metadataText(workflowId: string, fields: Fields): string {
  const payload = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, description: field.description ?? '' }]),
  )
  return JSON.stringify({ success: true, data: { workflowId, payload } }, null, 2)
}
