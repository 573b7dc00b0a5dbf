'use client'
import { NumberInput, PasswordInput, Radio, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { limitText, useUploads } from '@/app/_ui/files/uploads'
import { labelOf } from '@/server/definition/declared'
import { isRequired } from '@/server/definition/fields'
import { isFileList } from '@/server/definition/file-fields'
import type { Field } from '@/server/definition/schema'
import { DateInput } from '../../workflows/date-input'
import { FilesInput } from '../../workflows/files-input'
import { emptied } from '../../workflows/start-values'
import { ValueField } from '../../workflows/value-field'
import { widgetOf } from './answer-values'

const SENT_BEFORE = 'A file was sent before.'

/** The input of one declared field, by its type. Its value stays text until it is sent. */
export function FieldInput({
  name,
  field,
  text,
  error,
  onChange,
  files = [],
  onFiles,
}: {
  name: string
  field: Field
  text: string
  error: string | undefined
  onChange: (text: string) => void
  files?: File[]
  onFiles?: (files: File[]) => void
}) {
  const { limit } = useUploads()
  const common = {
    label: labelOf(name, field),
    description: field.description,
    error,
    withAsterisk: isRequired(field),
    'aria-required': isRequired(field),
  }
  const widget = widgetOf(field)
  switch (widget) {
    case 'date':
      return <DateInput {...common} value={text} onChange={onChange} />
    case 'email':
      return (
        <TextInput
          {...common}
          type={widget}
          autoComplete="off"
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
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
            <Radio value="true" label="Yes" />
            <Radio value="false" label="No" />
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
          clearable={emptied(field, '') === 'absent'}
          searchable={(field.options?.length ?? 0) > 8}
        />
      )
    case 'json':
      return (
        <ValueField
          label={common.label}
          description={field.description}
          field={field}
          text={text}
          error={error}
          onChange={onChange}
        />
      )
    case 'file':
      return (
        <FilesInput
          {...common}
          description={[
            field.description,
            text === '' ? '' : SENT_BEFORE,
            `At most ${limitText(limit)}${isFileList(field) ? ' each' : ''}`,
          ]
            .filter(Boolean)
            .join(' ')}
          field={field}
          value={files}
          onChange={(chosen) => onFiles?.(chosen)}
        />
      )
    default:
      return (
        <Textarea
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autosize
          minRows={widget === 'long-text' ? 4 : 1}
          maxRows={12}
        />
      )
  }
}
