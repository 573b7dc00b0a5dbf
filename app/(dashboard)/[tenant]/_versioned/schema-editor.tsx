'use client'
import { Button, Group } from '@mantine/core'
import { Plus, WandSparkles } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useRef, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { JsonObject } from '@/server/definition/json'
import { FieldTable } from './field-table'
import { pretty, readObject, sameJson } from './json'
import { fieldProblem, newField, type SchemaField, toFields, toSchema } from './schema-fields'
import { inferSchema } from './schema-samples'
import { useUnfinished } from './unfinished'
import styles from './versioned.module.css'

const SampleDialog = dynamic(
  () => loadDialog(() => import('@/app/_ui/sample-dialog').then((module) => module.SampleDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** An object's JSON Schema as a table of fields and as text. A change in one shows in the other. */
export function SchemaEditor(props: {
  /** The label, such as "Output schema". */
  label: string
  value: JsonObject
  onChange: (value: JsonObject) => void
  /** Reports why the text is unusable; null if it is usable. */
  onProblem: (problem: string | null) => void
  readOnly: boolean
  error: string | null
  /** Whether people enter the values, in forms. */
  inForms?: boolean
}) {
  const { label, value, onChange, onProblem, readOnly, error, inForms = true } = props
  const [text, setText] = useState(() => pretty(value))
  const [fields, setFields] = useState(() => toFields(value))
  const [problem, setProblem] = useState<string | null>(null)
  const [asking, setAsking] = useState(false)
  const last = useRef(value)
  const keepText = useUnfinished(label, (kept) => writeText(kept))

  // Follows only changes from outside: saved, discarded or restored. Text typed here keeps its formatting.
  useEffect(() => {
    if (sameJson(last.current, value)) return
    last.current = value
    setText(pretty(value))
    setFields(toFields(value))
    setProblem(null)
    onProblem(null)
    keepText(null)
  }, [value, onProblem, keepText])

  function take(schema: JsonObject) {
    last.current = schema
    setProblem(null)
    onProblem(null)
    keepText(null)
    onChange(schema)
  }
  function writeText(next: string) {
    if (next === text) return
    setText(next)
    const read = readObject(next)
    setProblem(read.problem ?? null)
    if (read.value === undefined) {
      keepText(next)
      onProblem(`${label}: ${read.problem}`)
    } else {
      setFields(toFields(read.value))
      take(read.value)
    }
  }
  function writeFields(next: SchemaField[]) {
    const schema = toSchema(last.current, next)
    setFields(next)
    setText(pretty(schema))
    take(schema)
    const wrong = fieldProblem(next)
    if (wrong) onProblem(`${label}: ${wrong}`)
  }
  function writeSchema(schema: JsonObject) {
    setText(pretty(schema))
    setFields(toFields(schema))
    take(schema)
  }

  return (
    <div className={styles.columns}>
      <section className={styles.group} aria-label={`${label}: fields`}>
        <div className={styles.label}>Fields</div>
        {fields ? (
          <FieldTable
            label={label}
            fields={fields}
            onChange={writeFields}
            readOnly={readOnly}
            depth={0}
            inForms={inForms}
          />
        ) : (
          <p className={styles.note}>This schema cannot be shown as a list of fields. Edit it as text.</p>
        )}
        {!readOnly && (
          <Group gap="sm">
            {fields && (
              <Button
                variant="default"
                leftSection={<Plus size={16} aria-hidden />}
                onClick={() => writeFields([...fields, newField()])}
              >
                Add field
              </Button>
            )}
            <Button
              variant="default"
              leftSection={<WandSparkles size={16} aria-hidden />}
              onClick={() => setAsking(true)}
            >
              Paste a sample
            </Button>
          </Group>
        )}
      </section>
      <section className={styles.group} aria-label={`${label}: JSON Schema`}>
        <div className={styles.label}>JSON Schema</div>
        <CodeEditor
          label={`${label} as JSON Schema`}
          language="json"
          value={text}
          onChange={writeText}
          readOnly={readOnly}
          minHeight="12rem"
        />
        {(problem ?? error) && (
          <p className={styles.error} role="alert">
            {problem ?? error}
          </p>
        )}
      </section>
      {asking && (
        <SampleDialog
          title="Replace the fields with those of a sample"
          says="Its fields replace those of the schema, and each becomes required."
          action="Replace the fields"
          namesOf={Object.keys}
          onSample={(sample) => {
            setAsking(false)
            writeSchema(inferSchema(sample))
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}
