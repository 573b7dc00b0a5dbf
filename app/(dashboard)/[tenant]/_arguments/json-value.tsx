'use client'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { JsonValue } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'
import { useFormMeans } from './texts'
import { isTemplate } from './values'

/** Any value as JSON, or one expression. Text that is not JSON stays on the screen until it is. */
export function JsonValueInput(props: {
  id: string
  name: string
  label: ReactNode
  description?: ReactNode
  withAsterisk?: boolean
  placeholder?: string | undefined
  error?: ReactNode
  value: JsonValue | undefined
  onChange: (value: JsonValue | undefined) => void
  readOnly: boolean
}) {
  const { value, onChange, error, ...rest } = props
  const { Text, offers } = useFormMeans()
  const [text, setText] = useState(() => jsonText(value))
  const [wrong, setWrong] = useState(false)
  const last = useRef(JSON.stringify(value))

  // Follows undo and merges, but preserves the formatting while the value is the same.
  useEffect(() => {
    const now = JSON.stringify(value)
    if (now === last.current) return
    last.current = now
    setText(jsonText(value))
    setWrong(false)
  }, [value])

  function change(next: string) {
    setText(next)
    const read = readText(next, offers !== null)
    setWrong(read === null)
    if (read === null) return
    last.current = JSON.stringify(read.value)
    onChange(read.value)
  }

  return (
    <Text
      {...rest}
      value={text}
      onChange={change}
      wanted="any"
      multiline
      code
      error={wrong ? 'Not valid JSON, so not saved yet.' : error}
    />
  )
}

function jsonText(value: JsonValue | undefined): string {
  if (value === undefined) return ''
  return isTemplate(value) ? value : JSON.stringify(value, null, 2)
}

function readText(text: string, expressions: boolean): { value: JsonValue | undefined } | null {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: parseExact(text) }
  } catch {
    return expressions && /^\s*\$\{.*\}\s*$/s.test(text) ? { value: text.trim() } : null
  }
}
