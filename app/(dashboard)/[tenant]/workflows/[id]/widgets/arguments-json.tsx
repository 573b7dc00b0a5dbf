'use client'
import { useEffect, useRef, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import type { JsonObject } from '@/server/definition/json'
import { isObject, readJson } from '../model/json-text'

/** All arguments as one JSON object. Text that is no JSON object stays on screen and is not saved. */
export function ArgumentsJson(props: {
  label: string
  value: JsonObject
  onChange: (value: JsonObject) => void
  onInvalid: (invalid: boolean) => void
  readOnly: boolean
}) {
  const { label, value, onChange, onInvalid, readOnly } = props
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [wrong, setWrong] = useState<string | null>(null)
  const last = useRef(JSON.stringify(value))

  // Follows undo and merges, but preserves the formatting while the value is the same.
  useEffect(() => {
    const now = JSON.stringify(value)
    if (now === last.current) return
    last.current = now
    setText(JSON.stringify(value, null, 2))
    setWrong(null)
    onInvalid(false)
  }, [value, onInvalid])

  function change(next: string) {
    setText(next)
    const read = readJson(next.trim() === '' ? '{}' : next)
    const problem = 'problem' in read ? read.problem : isObject(read.value) ? null : 'Arguments are an object: { … }'
    setWrong(problem)
    onInvalid(problem !== null)
    if ('problem' in read || !isObject(read.value)) return
    last.current = JSON.stringify(read.value)
    onChange(read.value)
  }

  return (
    <div>
      <CodeEditor label={label} language="json" value={text} onChange={change} readOnly={readOnly} maxHeight="24rem" />
      {wrong && (
        <p role="alert" style={{ margin: '4px 0 0', fontSize: '0.75rem', color: 'var(--mantine-color-error)' }}>
          Not saved yet: {wrong}
        </p>
      )}
    </div>
  )
}
