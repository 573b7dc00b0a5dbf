'use client'
import { Textarea, TextInput } from '@mantine/core'
import { type ComponentType, createContext, type ReactNode, use } from 'react'
import type { TextFormat } from '@/server/definition/field-limits'
import type { FieldType } from '@/server/definition/schema'
import type { Offer } from './matches'

/** A text field of an argument form. In the editor it accepts `${…}`; in a form that is sent directly it does not. */
export interface TextProps {
  id: string
  name: string
  label: ReactNode
  description?: ReactNode
  withAsterisk?: boolean
  placeholder?: string | undefined
  error?: ReactNode
  value: string
  onChange: (value: string) => void
  /** The type to suggest first. */
  wanted?: FieldType
  /** A chosen value replaces the text, because a value together with text would not have this type. */
  replaces?: boolean
  /** The text's own input where it is no expression. */
  format?: TextFormat | null
  multiline?: boolean
  code?: boolean
  readOnly: boolean
}

export interface FormMeans {
  Text: ComponentType<TextProps>
  /** The values that `${…}` can refer to; null where arguments are plain values. */
  offers: readonly Offer[] | null
}

function PlainText({ name: _name, wanted: _wanted, replaces, format, multiline, code, onChange, ...props }: TextProps) {
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  const style = code ? { styles: { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } } : {}
  const own = format === 'date' || format === 'email' ? format : null
  return (replaces || own) && !multiline ? (
    <TextInput {...props} {...style} type={own ?? 'text'} autoComplete="off" onChange={change} />
  ) : (
    <Textarea {...props} {...style} autosize minRows={multiline ? 2 : 1} maxRows={10} onChange={change} />
  )
}

const Context = createContext<FormMeans>({ Text: PlainText, offers: null })
export const FormMeansProvider = Context.Provider
export const useFormMeans = () => use(Context)
