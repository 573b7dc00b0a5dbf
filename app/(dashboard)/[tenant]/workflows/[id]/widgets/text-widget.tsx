'use client'
import { Textarea, TextInput } from '@mantine/core'
import { useCommitted } from '../draft/use-committed'
import { inputProps, textOrNothing, type WidgetProps } from './widget'

export function TextWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  const { text, setText, flush } = useCommitted(asText(value), (next) => onChange(textOrNothing(next, field.required)))
  return (
    <TextInput
      {...inputProps(props)}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={flush}
    />
  )
}

export function TextareaWidget(props: WidgetProps) {
  const { field, value, onChange } = props
  const { text, setText, flush } = useCommitted(asText(value), (next) => onChange(textOrNothing(next, field.required)))
  return (
    <Textarea
      {...inputProps(props)}
      autosize
      minRows={2}
      maxRows={12}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={flush}
    />
  )
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
