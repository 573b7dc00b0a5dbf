'use client'
import { Button, FileInput, NativeSelect, Skeleton, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { Paperclip } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { isRequired } from '@/server/definition/fields'
import type { Field, Fields } from '@/server/definition/schema'
import { type Entry, readRows, type Typed } from './start-values'

const ValueRows = dynamic(() => import('./value-rows').then((module) => module.ValueRows), {
  loading: () => <Skeleton height={72} radius="md" />,
})

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
  const [asJson, setAsJson] = useState(false)
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
  const rows = asJson ? null : readRows(field, text)
  if (rows) {
    return (
      <ValueRows
        name={name}
        field={field}
        required={required}
        value={rows.value}
        error={error}
        onChange={(next) => onChange(next === undefined ? '' : JSON.stringify(next, null, 2))}
        onJson={() => setAsJson(true)}
      />
    )
  }
  if (field.type === 'object' || field.type === 'array' || field.type === 'any') {
    return (
      <div>
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
        {readRows(field, text) && (
          <Button variant="subtle" size="compact-xs" mt={2} onClick={() => setAsJson(false)}>
            Enter it in rows
          </Button>
        )}
      </div>
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
