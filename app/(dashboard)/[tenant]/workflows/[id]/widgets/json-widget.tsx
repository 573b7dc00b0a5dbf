'use client'
import { Input } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { readJson } from '../model/json-text'
import { fieldElementId, type WidgetProps } from './widget'

/** Edits any value as JSON. Also used for fields whose widget is unknown. */
export function JsonWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  const [text, setText] = useState(() => jsonText(value))
  const [wrong, setWrong] = useState<string | null>(null)
  const lastValue = useRef(JSON.stringify(value))

  // Follows undo and merges, but preserves the formatting while the value is the same.
  useEffect(() => {
    const now = JSON.stringify(value)
    if (now === lastValue.current) return
    lastValue.current = now
    setText(jsonText(value))
    setWrong(null)
  }, [value])

  function change(next: string) {
    setText(next)
    if (next.trim() === '') {
      setWrong(null)
      lastValue.current = undefined as never
      onChange(undefined)
      return
    }
    const read = readJson(next)
    if ('problem' in read) {
      setWrong(`Not saved yet: ${read.problem}`)
      return
    }
    setWrong(null)
    lastValue.current = JSON.stringify(read.value)
    onChange(read.value)
  }

  return (
    <Input.Wrapper
      id={fieldElementId(field.name)}
      label={field.label}
      description={field.help}
      error={wrong ?? problem}
      labelElement="div"
    >
      <div id={fieldElementId(field.name)} style={{ marginTop: 4 }}>
        <CodeEditor
          label={field.label}
          language="json"
          value={text}
          onChange={change}
          readOnly={readOnly}
          maxHeight="20rem"
        />
      </div>
    </Input.Wrapper>
  )
}

function jsonText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
