import { formatOf, type TextFormat } from '@/server/definition/field-limits'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { typeOfKind } from '../_fields/kinds'
import type { FieldType, SchemaField } from './schema-fields'

/** The type of a row as people choose it: a text may have a format. */
export type SchemaKind = FieldType | TextFormat

/** In the order of the list that offers them. */
export const SCHEMA_KINDS = [
  ...(['string', 'long-text', 'date', 'email', 'number', 'integer', 'boolean'] as const),
  ...(['object', 'array', 'any', 'other'] as const),
] satisfies SchemaKind[]

export function kindOf({ type, keep }: Pick<SchemaField, 'type' | 'keep'>): SchemaKind {
  return (
    (type === 'string' && formatOf({ type, ...(keep.format === undefined ? {} : { format: keep.format }) })) || type
  )
}

/**
 * The kinds that a row offers. Models know no long text: strict ones refuse the whole schema.
 * @param inForms whether the values are entered in forms
 */
export function kindsFor(field: Pick<SchemaField, 'type' | 'keep'>, inForms: boolean): SchemaKind[] {
  const present = kindOf(field)
  return SCHEMA_KINDS.filter((one) => one === present || (one !== 'other' && (inForms || one !== 'long-text')))
}

/** Another kind drops the settings that only apply to the old one. */
export function withKind(kind: SchemaKind): Partial<SchemaField> {
  const none = { fields: [], keepItems: {} }
  if (kind === 'other') return { type: kind, items: null, keep: {}, ...none }
  const { type, format } = typeOfKind(kind)
  const keep = format === undefined ? {} : { format }
  return { type: type as FieldType, items: type === 'array' ? 'string' : null, keep, ...none }
}

/** The row with these limits; \`undefined\` removes one. */
export function withLimits({ keep }: SchemaField, limits: Record<string, JsonValue | undefined>): Partial<SchemaField> {
  const next = Object.entries({ ...keep, ...limits }).filter(([, limit]) => limit !== undefined)
  return { keep: Object.fromEntries(next) as JsonObject }
}
