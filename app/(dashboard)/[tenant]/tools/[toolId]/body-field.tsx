'use client'
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { parseExact } from '@/server/definition/long-numbers'
import { errorAt } from '../../_versioned/field-errors'
import { pretty, readObject } from '../../_versioned/json'
import { useUnfinished } from '../../_versioned/unfinished'
import styles from '../../_versioned/versioned.module.css'
import type { KindProps } from './kind-props'
import { configText, withField } from './tool-form'

/** The request body: JSON, form fields or text, with placeholders for values. */
export function BodyField({ config, onConfig, report, error, readOnly }: KindProps) {
  const type = configText(config, 'bodyType') || 'json'
  const [text, setText] = useState(() => written(config.body, type))
  const [problem, setProblem] = useState<string | null>(null)
  const keepText = useUnfinished('Body', (kept) => write(kept, type, config))
  function write(next: string, as: string, base: JsonObject) {
    setText(next)
    const read = readBody(next, as)
    setProblem(read.problem)
    keepText(read.problem === null ? null : next)
    report('body', read.problem === null ? null : `Body: ${read.problem}`)
    if (read.problem === null) onConfig(withField(base, 'body', read.value))
  }
  const said = problem ?? errorAt(error, 'config.body')
  return (
    <div className={styles.group}>
      <NativeSelect
        label="Body"
        data={[
          { value: 'json', label: 'JSON' },
          { value: 'form', label: 'Fields of a form' },
          { value: 'text', label: 'Text' },
        ]}
        value={type}
        disabled={readOnly}
        onChange={(event) => {
          const as = event.currentTarget.value
          const base = withField(withField(config, 'bodyType', as), 'body', undefined)
          onConfig(base)
          write(text, as, base)
        }}
        error={errorAt(error, 'config.bodyType')}
        w="12rem"
      />
      <CodeEditor
        key={type}
        label="Body template"
        language={type === 'text' ? 'text' : 'json'}
        value={text}
        onChange={(next) => next !== text && write(next, type, config)}
        readOnly={readOnly}
        placeholder={readOnly ? 'None' : type === 'text' ? 'Hello, ${args.name}' : '{ "name": "${args.name}" }'}
        minHeight="8rem"
      />
      {said && (
        <p className={styles.error} role="alert">
          {said}
        </p>
      )}
    </div>
  )
}

function written(body: JsonValue | undefined, type: string): string {
  if (body === undefined) return ''
  return typeof body === 'string' && type === 'text' ? body : pretty(body)
}

function readBody(text: string, type: string): { value: JsonValue | undefined; problem: string | null } {
  if (text.trim() === '') return { value: undefined, problem: null }
  if (type === 'text') return { value: text, problem: null }
  if (type === 'form') {
    const read = readObject(text)
    return read.value === undefined ? { value: undefined, problem: read.problem } : { value: read.value, problem: null }
  }
  try {
    return { value: parseExact(text), problem: null }
  } catch (error) {
    return { value: undefined, problem: error instanceof Error ? error.message : 'Not JSON' }
  }
}
