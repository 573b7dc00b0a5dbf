import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { TEXT_FORMATS } from '@/server/definition/field-limits'
import type { FieldType } from '@/server/definition/schema'
import { OPTIONAL_SETTINGS } from '@/server/definition/settings'
import type { Catalog } from '@/server/steps/catalog'

const FIELD_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'file',
  'any',
] as const satisfies readonly FieldType[]

/** Completes field names, step types, step ids and field types in a definition's JSON. */
export function completeDefinition(catalog: Catalog, stepIds: readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, context.pos - line.from)
    const value = /"(\w+)"\s*:\s*"([\p{L}\p{M}\p{Nd}_.-]*)$/u.exec(before)
    if (value) {
      const [, key = '', typed = ''] = value
      const options = valuesOf(key, catalog, stepIds)
      return options.length === 0 ? null : { from: context.pos - typed.length, options }
    }
    const name = /^\s*[{,]?\s*"(\w*)$/.exec(before)
    if (!name) return null
    return { from: context.pos - (name[1] ?? '').length, options: namesIn(catalog) }
  }
}

function valuesOf(key: string, catalog: Catalog, stepIds: readonly string[]) {
  if (key === 'type') {
    return [
      ...catalog.steps.map(({ type, title }) => ({ label: type, detail: title })),
      ...FIELD_TYPES.map((label) => ({ label, detail: 'field type' })),
    ]
  }
  if (key === 'format') return TEXT_FORMATS.map((label) => ({ label, detail: 'format of a text field' }))
  if (['from', 'to', 'initialStep', 'onCancel', 'onFailure'].includes(key)) return stepIds.map((label) => ({ label }))
  return []
}

function namesIn(catalog: Catalog) {
  const own = [
    'name',
    'description',
    'initialStep',
    'steps',
    'edges',
    'payload',
    ...OPTIONAL_SETTINGS,
    'timeoutMs',
    'agents',
    'tokens',
    'cost',
    'id',
    'type',
    'from',
    'to',
  ]
  const fields = new Map([
    ...own.map((name) => [name, ''] as const),
    ...catalog.common.form.map(({ name, label }) => [name, label] as const),
    ...catalog.steps.flatMap(({ title, form }) =>
      form.map(({ name, label }) => [name, `${label} (${title})`] as const),
    ),
  ])
  return [...fields].map(([label, detail]) => ({ label, detail, apply: `${label}": ` }))
}
