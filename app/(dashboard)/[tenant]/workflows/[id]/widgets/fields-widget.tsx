'use client'
import { Fieldset, Stack, Text } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { isObject } from '../model/json-text'
import { FieldsEditor } from './fields-editor'
import { fieldElementId, type WidgetProps } from './widget'

/** The fields a person fills in. */
export function FieldsWidget({ field, value, onChange, onRenameField, problem, readOnly }: WidgetProps) {
  return (
    <Fieldset legend={field.label} id={fieldElementId(field.name)}>
      <Stack gap="xs">
        {field.help && (
          <Text size="xs" c="dimmed">
            {field.help}
          </Text>
        )}
        <FieldsEditor
          value={declared(value)}
          onChange={(fields) => onChange(fields as unknown as JsonValue)}
          onRename={onRenameField}
          readOnly={readOnly}
        />
        {problem && (
          <Text size="xs" c="var(--mantine-color-error)">
            {problem}
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}

/** A draft can hold anything here; what is not a field stays for the JSON view. */
function declared(value: JsonValue | undefined): Fields {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) =>
      isObject(field) && typeof field.type === 'string' ? [[name, field]] : [],
    ),
  ) as unknown as Fields
}
