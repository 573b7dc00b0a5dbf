import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { CatalogField } from '@/server/steps/catalog'

/** What every control of a step's form is given. `undefined` takes the field out of the step. */
export interface WidgetProps {
  field: CatalogField
  /** JSON Schema of the field, as far as the catalog knows it. */
  schema: JsonObject
  value: JsonValue | undefined
  onChange: (value: JsonValue | undefined) => void
  /** A field declared by this value gets another name, and all that refers to it, too. */
  onRenameField: (from: string, to: string) => void
  /** What the check says of this field. */
  problem: string | null
  readOnly: boolean
  /** The step's other values: a version belongs to the tool that another field names. */
  siblings: JsonObject
}

/** The id by which a problem finds the field it speaks of. */
export function fieldElementId(name: string): string {
  return `step-field-${name}`
}

/** The labels that every Mantine input understands. */
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

/** An empty text means that an optional field is not given. */
export function textOrNothing(text: string, required: boolean): string | undefined {
  return text === '' && !required ? undefined : text
}

/** Whether the field may be written as one text, too: an object as one expression. */
export function allowsText(schema: JsonObject): boolean {
  if (schema.type === 'string') return true
  const either = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return either.some(
    (option) => typeof option === 'object' && option !== null && 'type' in option && option.type === 'string',
  )
}
