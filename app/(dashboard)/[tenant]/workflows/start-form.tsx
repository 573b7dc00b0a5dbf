'use client'
import { FileInput, NativeSelect, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { Paperclip } from 'lucide-react'
import { isRequired } from '@/server/definition/fields'
import type { Field, Fields } from '@/server/definition/schema'
import type { Entry, Typed } from './start-values'

/** A workflow's START fields as inputs. */
export function StartForm({
  fields,
  typed,
  errors,
  onChange,
}: {
  fields: Fields
  typed: Typed
  errors: Record<string, string>
  onChange: (name: string, value: Entry) => void
}) {
  return (
    <Stack gap="md">
      {Object.entries(fields).map(([name, field], index) => (
        <StartField
          key={name}
          name={name}
          field={field}
          value={typed[name] ?? ''}
          error={errors[name]}
          first={index === 0}
          onChange={(value) => onChange(name, value)}
        />
      ))}
    </Stack>
  )
}

function StartField({
  name,
  field,
  value,
  error,
  first,
  onChange,
}: {
  name: string
  field: Field
  value: Entry
  error: string | undefined
  first: boolean
  onChange: (value: Entry) => void
}) {
  const required = isRequired(field)
  const shared = { label: name, description: describe(field), error, 'data-autofocus': first || undefined }
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  if (field.type === 'boolean' && !field.options) {
    return <Switch {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
  }
  if (field.type === 'file') {
    return (
      <FileInput
        {...shared}
        withAsterisk={required}
        placeholder="Choose a file"
        leftSection={<Paperclip size={16} aria-hidden />}
        value={value instanceof File ? value : null}
        onChange={(file) => onChange(file ?? '')}
        clearable
        clearButtonProps={{ 'aria-label': `Remove the file of ${name}` }}
      />
    )
  }
  const text = typeof value === 'string' ? value : ''
  if (field.options) {
    const choices = field.options.map((option) => ({
      value: JSON.stringify(option),
      label: typeof option === 'string' ? option : JSON.stringify(option),
    }))
    return (
      <NativeSelect
        {...shared}
        withAsterisk={required}
        data={[{ value: '', label: required ? 'Choose' : 'None' }, ...choices]}
        value={text}
        onChange={change}
      />
    )
  }
  if (field.type === 'object' || field.type === 'array' || field.type === 'any') {
    return (
      <Textarea
        {...shared}
        withAsterisk={required}
        autosize
        minRows={3}
        maxRows={14}
        placeholder={field.type === 'array' ? '[]' : field.type === 'object' ? '{}' : 'text or JSON'}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
        value={text}
        onChange={change}
      />
    )
  }
  const number = field.type === 'number' || field.type === 'integer'
  return (
    <TextInput
      {...shared}
      withAsterisk={required}
      {...(number ? { inputMode: 'decimal' as const } : {})}
      autoComplete="off"
      value={text}
      onChange={change}
    />
  )
}

function describe({ type, description }: Field): string {
  const kind = type === 'file' ? 'a file of at most 3.75 MB' : type
  return description ? `${description} (${kind})` : kind
}
