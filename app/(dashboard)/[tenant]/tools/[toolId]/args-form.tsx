'use client'
import { NumberInput, Radio, Select, Textarea } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { errorAt } from '../../_versioned/field-errors'
import { isObject, pretty } from '../../_versioned/json'
import { type SchemaField, toFields } from '../../_versioned/schema-fields'
import styles from '../../_versioned/versioned.module.css'

/** Arguments as a form built from their schema. Anything without a field of its own is entered as JSON. */
export function ArgsForm(props: {
  schema: JsonObject
  value: JsonObject
  onChange: (value: JsonObject) => void
  /** The server's error, with paths such as `args.name`. */
  error: unknown
}) {
  const { schema, value, onChange, error } = props
  return (
    <>
      {(toFields(schema) ?? []).map((field) => (
        <ArgField
          key={field.name}
          field={field}
          value={value[field.name]}
          onChange={(next) => {
            const { [field.name]: _old, ...rest } = value
            onChange(next === undefined ? rest : { ...value, [field.name]: next })
          }}
          error={errorAt(error, `args.${field.name}`)}
        />
      ))}
    </>
  )
}

function ArgField(props: {
  field: SchemaField
  value: JsonValue | undefined
  onChange: (value: JsonValue | undefined) => void
  error: string | null
}) {
  const { field, value, onChange, error } = props
  const { name, type, required, description, keep } = field
  const common = { label: name, description: description || undefined, required, error }
  const options = keep.enum
  if (Array.isArray(options)) {
    return (
      <Select
        {...common}
        data={options.map((option) => ({ value: JSON.stringify(option), label: String(option) }))}
        value={value === undefined ? null : JSON.stringify(value)}
        clearable={!required}
        onChange={(text) => onChange(text === null ? undefined : (JSON.parse(text) as JsonValue))}
      />
    )
  }
  if (type === 'string') {
    return (
      <Textarea
        {...common}
        required={false}
        withAsterisk={required}
        autosize
        maxRows={8}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => {
          const text = event.currentTarget.value
          onChange(text === '' && !required ? undefined : text)
        }}
      />
    )
  }
  if (type === 'number' || type === 'integer') {
    return (
      <NumberInput
        {...common}
        allowDecimal={type === 'number'}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => onChange(next === '' ? undefined : Number(next))}
      />
    )
  }
  if (type === 'boolean') {
    return (
      <Radio.Group
        {...common}
        value={value === undefined ? null : String(value)}
        onChange={(next) => onChange(next === 'true')}
      >
        <div style={{ display: 'flex', gap: '1rem', marginTop: '0.25rem' }}>
          <Radio value="true" label="Yes" />
          <Radio value="false" label="No" />
        </div>
      </Radio.Group>
    )
  }
  return <JsonField {...props} />
}

function JsonField({
  field,
  value,
  onChange,
  error,
}: {
  field: SchemaField
  value: JsonValue | undefined
  onChange: (value: JsonValue | undefined) => void
  error: string | null
}) {
  const [text, setText] = useState(() => (value === undefined ? '' : pretty(value)))
  const [problem, setProblem] = useState<string | null>(null)
  const note = isObject(field.keep) && field.description ? field.description : 'As JSON'
  return (
    <div>
      <div className={styles.label}>{field.name}</div>
      <span className={styles.note}>{note}</span>
      <CodeEditor
        label={field.name}
        language="json"
        value={text}
        minHeight="3rem"
        onChange={(next) => {
          setText(next)
          if (next.trim() === '') {
            setProblem(null)
            onChange(undefined)
            return
          }
          try {
            onChange(JSON.parse(next) as JsonValue)
            setProblem(null)
          } catch (thrown) {
            setProblem(thrown instanceof Error ? thrown.message : 'Not JSON')
          }
        }}
      />
      {(problem ?? error) && (
        <p className={styles.error} role="alert">
          {problem ?? error}
        </p>
      )}
    </div>
  )
}
