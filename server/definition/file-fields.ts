import { fileIdsOf } from './file-ids'
import { isJsonObject } from './json'
import type { Field } from './schema'

/** Whether a field's values are lists of files: `{ "type": "array", "items": { "type": "file" } }`. */
export function isFileList({ type, items }: Field): boolean {
  return type === 'array' && isJsonObject(items) && items.type === 'file'
}

/** Whether a field takes a file, or several. */
export function isFileField(field: Field): boolean {
  return field.type === 'file' || isFileList(field)
}

/** The ids of the files that a field's value names, in lower case. */
export function filesOf(field: Field, value: unknown): string[] {
  return isFileField(field) ? fileIdsOf(value) : []
}
