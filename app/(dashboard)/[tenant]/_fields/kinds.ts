import { formatOf, isNumeric, TEXT_FORMATS, type TextFormat } from '@/server/definition/field-limits'
import { isFileList } from '@/server/definition/file-fields'
import type { JsonValue } from '@/server/definition/json'
import type { Field, FieldType } from '@/server/definition/schema'
import { typeLabel, typeWords } from '../_arguments/type-words'

/** The types of a field as people choose them: a text has formats, and several files are a list. */
export type FieldKind = FieldType | TextFormat | 'files'

const LABELS: Record<TextFormat | 'files', string> = {
  'long-text': 'Long text',
  date: 'Date',
  email: 'Email',
  files: 'Several files',
}

/** In the order of the list that offers them. */
export const FIELD_KINDS = [
  ...(['string', 'long-text', 'date', 'email', 'number', 'integer', 'boolean'] as const),
  ...(['object', 'array', 'file', 'files', 'any'] as const),
] satisfies FieldKind[]

export function kindLabel(kind: FieldKind): string {
  return isOwn(kind) ? LABELS[kind] : typeLabel(kind)
}

/** The kind in the words of a form. */
export function kindWords(kind: FieldKind): string {
  return isOwn(kind) ? LABELS[kind].toLowerCase() : typeWords(kind)
}

function isOwn(kind: FieldKind): kind is TextFormat | 'files' {
  return Object.hasOwn(LABELS, kind)
}

export function kindOf(field: Field): FieldKind {
  return formatOf(field) ?? (isFileList(field) ? 'files' : field.type)
}

/** The type of a kind, which may have a format. */
export function typeOfKind(kind: FieldKind): { type: FieldType; format?: TextFormat } {
  const format = TEXT_FORMATS.find((known) => known === kind)
  if (format) return { type: 'string', format }
  return { type: kind === 'files' ? 'array' : (kind as FieldType) }
}

/** The parts of a field that its kind decides; `undefined` removes one that belongs to another kind. */
interface KindParts {
  type: FieldType
  format?: TextFormat | undefined
  items?: JsonValue | undefined
  minimum?: undefined
  maximum?: undefined
}

export function partsOfKind(field: Field, kind: FieldKind): KindParts {
  const { type, format } = typeOfKind(kind)
  return {
    type,
    ...(format !== undefined || formatOf(field) !== null ? { format } : {}),
    ...(kind === 'files' ? { items: { type: 'file' } } : isFileList(field) ? { items: undefined } : {}),
    ...(isNumeric({ type }) ? {} : { minimum: undefined, maximum: undefined }),
  }
}
