'use client'
import type { JsonValue } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { isObject } from '../model/json-text'
import { FieldFrame } from './field-frame'
import { FieldsEditor } from './fields-editor'
import { useScope } from './scope-context'
import type { WidgetProps } from './widget'

export function FieldsWidget({ field, value, onChange, onRenameField, problem, readOnly }: WidgetProps) {
  const { taken } = useScope()
  return (
    <FieldFrame field={field} problem={problem}>
      <FieldsEditor
        value={declaredIn(value)}
        onChange={(fields) => onChange(fields as unknown as JsonValue)}
        onRename={onRenameField}
        taken={taken}
        readOnly={readOnly}
      />
    </FieldFrame>
  )
}

/** A draft can contain anything here; entries that are not fields are preserved for the JSON view. */
export function declaredIn(value: JsonValue | undefined): Fields {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) =>
      isObject(field) && typeof field.type === 'string' ? [[name, field]] : [],
    ),
  ) as unknown as Fields
}
