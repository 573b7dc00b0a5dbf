'use client'
import { NumberInput, PasswordInput, Radio, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { isRequired } from '@/server/definition/fields'
import type { Field } from '@/server/definition/schema'
import { labelOf, widgetOf } from './answer-values'

/** The input of one declared field, by its type. Its value stays text until it is sent. */
export function FieldInput({
  name,
  field,
  text,
  error,
  onChange,
  disabled,
}: {
  name: string
  field: Field
  text: string
  error: string | undefined
  onChange: (text: string) => void
  disabled: boolean
}) {
  const common = {
    label: labelOf(name, field),
    description: field.description,
    error,
    disabled,
    withAsterisk: isRequired(field),
    'aria-required': isRequired(field),
  }
  switch (widgetOf(field)) {
    case 'secret':
      return <PasswordInput {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)} />
    case 'number':
      return (
        <NumberInput
          {...common}
          value={text}
          onChange={(value) => onChange(String(value))}
          allowDecimal={field.type === 'number'}
          hideControls
          inputMode={field.type === 'number' ? 'decimal' : 'numeric'}
        />
      )
    case 'yes-no':
      // Not a checkbox, because "not chosen yet" must stay distinct from "no".
      return (
        <Radio.Group {...common} value={text || null} onChange={onChange}>
          <Stack gap={6} mt={6}>
            <Radio value="true" label="Yes" disabled={disabled} />
            <Radio value="false" label="No" disabled={disabled} />
          </Stack>
        </Radio.Group>
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={(field.options ?? []).map((option) => ({
            value: JSON.stringify(option),
            label: typeof option === 'string' ? option : JSON.stringify(option),
          }))}
          value={text || null}
          onChange={(value) => onChange(value ?? '')}
          clearable={!isRequired(field)}
          searchable={(field.options?.length ?? 0) > 8}
        />
      )
    case 'json':
      return (
        <Textarea
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autosize
          minRows={3}
          maxRows={20}
          spellCheck={false}
          placeholder={field.type === 'array' ? '[ ]' : '{ }'}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
      )
    case 'file':
      return (
        <TextInput
          {...common}
          description={field.description ?? 'The id of an uploaded file'}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          placeholder="00000000-0000-0000-0000-000000000000"
          spellCheck={false}
        />
      )
    default:
      return (
        <Textarea
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autosize
          minRows={1}
          maxRows={12}
        />
      )
  }
}
