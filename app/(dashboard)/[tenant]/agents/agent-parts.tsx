'use client'
import { Button } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { FieldTable } from '../_versioned/field-table'
import { fieldProblem, newField, toFields, toSchema } from '../_versioned/schema-fields'
import styles from '../_versioned/versioned.module.css'
import type { AgentForm } from './[agentId]/agent-form'
import { ModelFields } from './[agentId]/model-fields'

type Parts = Pick<AgentForm, 'model' | 'outputSchema'>

/** The model of a new agent, and the fields of its answer. */
export function AgentParts(props: {
  parts: Parts
  onChange: (parts: Parts) => void
  /** Reports why the fields form no answer yet; null if they do. */
  onProblem: (problem: string | null) => void
  error: unknown
}) {
  const { parts, onChange, onProblem, error } = props
  const [fields, setFields] = useState(() => toFields(parts.outputSchema ?? {}) ?? [])
  const change = (next: typeof fields) => {
    setFields(next)
    onProblem(fieldProblem(next))
    onChange({ ...parts, outputSchema: toSchema(parts.outputSchema ?? {}, next) })
  }
  const problem = fieldProblem(fields)
  return (
    <>
      <ModelFields
        model={parts.model}
        onChange={(model) => onChange({ ...parts, model })}
        error={error}
        readOnly={false}
      />
      <section className={styles.group} aria-labelledby="agent-answer">
        <h2 id="agent-answer">Answer</h2>
        <FieldTable label="Answer" fields={fields} onChange={change} readOnly={false} depth={0} inForms={false} />
        {problem && (
          <p className={styles.error} role="alert">
            Answer: {problem}
          </p>
        )}
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => change([...fields, newField()])}
          >
            Add field
          </Button>
        </div>
      </section>
    </>
  )
}
