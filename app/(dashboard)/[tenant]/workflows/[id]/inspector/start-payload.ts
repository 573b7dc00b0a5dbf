import type { Fields } from '@/server/definition/schema'

/** The response of `metadata/input`. */
export function metadataText(workflowId: string, fields: Fields): string {
  const payload = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, description: field.description ?? '' }]),
  )
  return JSON.stringify({ success: true, data: { workflowId, payload } }, null, 2)
}
