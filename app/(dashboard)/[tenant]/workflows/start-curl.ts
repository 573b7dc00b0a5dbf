import { isFileField } from '@/server/definition/file-fields'
import type { JsonValue } from '@/server/definition/json'
import type { Field, Fields } from '@/server/definition/schema'
import { curl } from '../_versioned/curl'

/** A command that starts a run, with a simple value in each field. */
export function startCurl({
  origin,
  tenantId,
  workflowId,
  fields,
}: {
  origin: string
  tenantId: string
  workflowId: string
  fields: Fields
}): string {
  const call = { origin, tenantId, path: `/api/workflow/start-async/${encodeURIComponent(workflowId)}` }
  const values = Object.entries(fields).filter(([, field]) => !isFileField(field))
  const files = Object.entries(fields).filter(([, field]) => isFileField(field))
  const examples = values.map(([name, field]) => [name, exampleOf(field)] as const)
  // A file is sent as form data, whose other parts are texts or JSON.
  if (files.length > 0) {
    const texts = examples.map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    const [[, only] = []] = files
    const isAttachment = files.length === 1 && only?.type === 'file'
    const parts = files.map(([name]) => `${isAttachment ? 'attachment' : name}=@file.pdf`)
    return curl({ ...call, form: [...texts, ...parts] })
  }
  return curl({ ...call, body: Object.fromEntries(examples) })
}

const EXAMPLES: Record<Exclude<Field['type'], 'file'>, JsonValue> = {
  string: 'text',
  number: 1.5,
  integer: 1,
  boolean: true,
  object: {},
  array: [],
  any: 'text',
}

function exampleOf({ type, default: given, options }: Field): JsonValue {
  const fallback = type === 'file' ? '' : EXAMPLES[type]
  return (given as JsonValue | undefined) ?? (options?.[0] as JsonValue | undefined) ?? fallback
}
