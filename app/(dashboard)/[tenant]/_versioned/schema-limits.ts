import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { SchemaField } from './schema-fields'

const MAX_VALUES = 12

/** A field's limits beyond its type, which no column shows. Null if none. */
export function limitsText({ type, keep, keepItems }: SchemaField): string | null {
  const each = wordsOf(keepItems).map((words, index) => (index === 0 ? `each ${words}` : words))
  const words = [...(type === 'array' ? countWords(keep, 'Items', 'entry', 'entries') : wordsOf(keep)), ...each]
  const text = words.join(', ')
  return text === '' ? null : `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function wordsOf(schema: JsonObject): string[] {
  const { enum: options, const: fixed, format, pattern, multipleOf, default: fallback } = schema
  return [
    ...(Array.isArray(options) ? [optionWords(options)] : []),
    ...(fixed === undefined ? [] : [`always ${valueText(fixed)}`]),
    ...countWords(schema, 'Length', 'character', 'characters'),
    ...boundWords(schema, 'minimum', 'at least'),
    ...boundWords(schema, 'exclusiveMinimum', 'more than'),
    ...boundWords(schema, 'maximum', 'at most'),
    ...boundWords(schema, 'exclusiveMaximum', 'less than'),
    ...(typeof multipleOf === 'number' ? [`a multiple of ${multipleOf}`] : []),
    ...(typeof format === 'string' ? [`format ${format}`] : []),
    ...(typeof pattern === 'string' ? [`matches ${pattern}`] : []),
    ...(fallback === undefined ? [] : [`default ${valueText(fallback)}`]),
  ]
}

function optionWords(options: JsonValue[]): string {
  const more = options.length - MAX_VALUES
  return `one of ${options.slice(0, MAX_VALUES).map(valueText).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function boundWords(schema: JsonObject, name: string, words: string): string[] {
  const bound = schema[name]
  return typeof bound === 'number' ? [`${words} ${bound}`] : []
}

function countWords(schema: JsonObject, what: 'Length' | 'Items', one: string, many: string): string[] {
  const noun = (count: JsonValue | undefined) => (count === 1 ? one : many)
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]]
  return [
    ...boundWords(schema, `min${what}`, 'at least').map((words) => `${words} ${noun(least)}`),
    ...boundWords(schema, `max${what}`, 'at most').map((words) => `${words} ${noun(most)}`),
  ]
}

const valueText = (value: JsonValue) => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value))
