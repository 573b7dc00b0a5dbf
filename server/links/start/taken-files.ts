import { isFileField } from '../../definition/file-fields'
import type { Fields } from '../../definition/schema'

/** Whether a field of the form takes a file. The attachment is the value of `fileId`, of any type. */
export function takesFile(fields: Fields, name: string): boolean {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  return field !== undefined && (name === 'fileId' || isFileField(field))
}
