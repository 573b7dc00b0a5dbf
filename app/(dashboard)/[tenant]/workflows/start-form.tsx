'use client'
import { Input, NativeSelect, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { limitText, useUploads } from '@/app/_ui/files/uploads'
import { labelOf } from '@/server/definition/declared'
import { formatOf, isNumeric } from '@/server/definition/field-limits'
import { isRequired } from '@/server/definition/fields'
import { isFileField, isFileList } from '@/server/definition/file-fields'
import type { Field, Fields } from '@/server/definition/schema'
import { kindOf, kindWords } from '../_fields/kinds'
import { DateInput } from './date-input'
import { FilesInput } from './files-input'
import { HiddenField } from './hidden-field'
import { type Entry, emptied, isChosen, type Typed } from './start-values'
import { ValueField } from './value-field'

interface Means {
  /** Replaces the picker where no file can be chosen, for example to explain that the file stays. */
  fileNote?: ((field: Field, given: boolean) => string) | undefined
  /** The text of a file field that has a file already, which stays unless the user chooses another. */
  keptFile?: string | undefined
  /** The names of the fields with hidden values, which stay unless the user replaces them. */
  hidden?: ReadonlySet<string> | undefined
  /** Whether to name the type of a field, for people who build workflows. */
  types?: boolean | undefined
}

export function StartForm({
  fields,
  typed,
  errors,
  onChange,
  hidden,
  fileNote,
  keptFile,
  types = true,
  focus = true,
}: Means & {
  fields: Fields
  typed: Typed
  errors: Record<string, string>
  onChange: (name: string, value: Entry) => void
  /** Whether a dialog places the focus in its first field. */
  focus?: boolean
}) {
  // A rejection no longer applies to a field that the user has changed since.
  const [changed, setChanged] = useState({ since: errors, names: new Set<string>() })
  const names = changed.since === errors ? changed.names : new Set<string>()
  return (
    <Stack gap="md">
      {Object.entries(fields).map(([name, field], index) => {
        const props = {
          name,
          field,
          value: typed[name] ?? '',
          error: names.has(name) ? undefined : errors[name],
          first: focus && index === 0,
          fileNote,
          keptFile,
          types,
        }
        const change = (value: Entry) => {
          setChanged({ since: errors, names: new Set([...names, name]) })
          onChange(name, value)
        }
        return hidden?.has(name) ? (
          <HiddenField key={name} {...props} onChange={change}>
            <StartField {...props} onChange={change} />
          </HiddenField>
        ) : (
          <StartField key={name} {...props} onChange={change} />
        )
      })}
    </Stack>
  )
}

function StartField({
  name,
  field,
  value,
  error,
  first,
  fileNote,
  keptFile,
  types = true,
  onChange,
}: Pick<Means, 'fileNote' | 'keptFile' | 'types'> & {
  name: string
  field: Field
  value: Entry
  error: string | undefined
  first: boolean
  onChange: (value: Entry) => void
}) {
  const required = isRequired(field)
  const label = labelOf(name, field)
  const { limit } = useUploads()
  const description = describe(field, types, limit)
  const shared = { label, description, error, 'data-autofocus': first || undefined }
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  if (field.type === 'boolean' && !field.options) {
    return <Switch {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
  }
  if (isFileField(field) && fileNote) {
    return (
      <Input.Wrapper
        label={label}
        labelElement="div"
        description={field.description}
        withAsterisk={required}
        error={error}
      >
        <Text size="sm">{fileNote(field, value !== '')}</Text>
      </Input.Wrapper>
    )
  }
  if (isFileField(field)) {
    const kept = keptFile !== undefined && typeof value === 'string' && value !== ''
    return (
      <FilesInput
        {...shared}
        description={kept ? `${keptFile} (${description})` : shared.description}
        withAsterisk={required}
        field={field}
        kept={kept}
        value={isChosen(value) ? [value].flat() : []}
        onChange={(files) => onChange(files.length === 0 ? '' : isFileList(field) ? files : (files[0] ?? ''))}
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
        data={[{ value: '', label: emptied(field, '') === 'absent' ? 'None' : 'Choose' }, ...choices]}
        value={text}
        onChange={change}
      />
    )
  }
  if (field.type === 'object' || field.type === 'array' || field.type === 'any') {
    return (
      <ValueField label={label} description={description} field={field} text={text} error={error} onChange={onChange} />
    )
  }
  const format = formatOf(field)
  const common = { ...shared, withAsterisk: required, value: text, onChange: change }
  if (format === 'date') return <DateInput {...common} onChange={onChange} />
  if (format === 'long-text') return <Textarea {...common} autosize minRows={3} maxRows={14} />
  return (
    <TextInput
      {...common}
      {...(isNumeric(field) ? { inputMode: 'decimal' as const } : {})}
      type={format ?? 'text'}
      autoComplete="off"
    />
  )
}

function describe(field: Field, types: boolean, limit: number | null): string {
  const { type, description } = field
  const kind = isFileList(field)
    ? `files of at most ${limitText(limit)} ${limit === null ? 'together' : 'each'}`
    : type === 'file'
      ? `a file of at most ${limitText(limit)}`
      : types
        ? kindWords(kindOf(field))
        : ''
  if (!description) return types ? kind : kind.charAt(0).toUpperCase() + kind.slice(1)
  return kind === '' ? description : `${description} (${kind})`
}
