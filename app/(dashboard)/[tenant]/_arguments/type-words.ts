import type { FieldType } from '@/server/definition/schema'

const WORDS: Record<FieldType, string> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  object: 'object',
  array: 'list',
  file: 'file',
  any: 'anything',
}

/** A type's display name. A schema may name unknown types. */
export function typeWords(type: string): string {
  return Object.hasOwn(WORDS, type) ? WORDS[type as FieldType] : type
}

/** A type as the label of a choice. */
export function typeLabel(type: FieldType): string {
  const words = WORDS[type]
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The plural for a list's elements. */
export function listWords(item: string): string {
  return /(number|object|list)$/.test(item) ? `${item}s` : item
}
