'use client'
import { Input } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { readJson } from '../model/json-text'
import { fieldElementId, type WidgetProps } from './widget'

/** Any value as JSON; also what a field is edited with whose widget is not known. */
export function JsonWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  const [text, setText] = useState(() => written(value))
  const [wrong, setWrong] = useState<string | null>(null)
  const told = useRef(JSON.stringify(value))

  // Undo, a merge: what is shown follows, but never while it says the same in another layout.
  useEffect(() => {
    const now = JSON.stringify(value)
    if (now === told.current) return
    told.current = now
    setText(written(value))
    setWrong(null)
  }, [value])

  function change(next: string) {
    setText(next)
    if (next.trim() === '') {
      setWrong(null)
      told.current = undefined as never
      onChange(undefined)
      return
    }
    const read = readJson(next)
    if ('problem' in read) {
      setWrong(`Not kept yet: ${read.problem}`)
      return
    }
    setWrong(null)
    told.current = JSON.stringify(read.value)
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

function written(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
