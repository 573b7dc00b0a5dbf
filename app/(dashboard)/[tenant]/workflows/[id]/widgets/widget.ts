import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { CatalogField } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import type { Called } from '../model/step-names'

/** The props of every control in a step's form. A value of `undefined` removes the field from the step. */
export interface WidgetProps {
  field: CatalogField
  /** JSON Schema of the field, if the catalog has one. */
  schema: JsonObject
  value: JsonValue | undefined
  /** `called` suggests a name for the step. */
  onChange: (value: JsonValue | undefined, called?: Called) => void
  /** Renames a field that this value declares, or an action in it, and the references to it. */
  onRenameField: (from: string, to: string, action?: string) => void
  /** The field's problem, or null. */
  problem: string | null
  /** The problems of the field and its nested values, with their places. */
  problems: readonly Problem[]
  readOnly: boolean
  /** All values of the step: a version control needs the tool that another field names. */
  siblings: JsonObject
}

/** The element id of a field, so that a problem can link to it. */
export function fieldElementId(name: string): string {
  return `step-field-${name}`
}

/** The props that all Mantine inputs share. */
export function inputProps({ field, problem, readOnly }: Pick<WidgetProps, 'field' | 'problem' | 'readOnly'>) {
  return {
    id: fieldElementId(field.name),
    label: field.label,
    description: field.help,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    error: problem,
    readOnly,
  }
}

/** Empty text removes an optional field. */
export function textOrNothing(text: string, required: boolean): string | undefined {
  return text === '' && !required ? undefined : text
}

/** Whether one text (an expression) is also allowed, as for an object. */
export function allowsText(schema: JsonObject): boolean {
  if (schema.type === 'string') return true
  const either = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return either.some(
    (option) => typeof option === 'object' && option !== null && 'type' in option && option.type === 'string',
  )
}
