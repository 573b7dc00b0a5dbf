'use client'
import { Switch } from '@mantine/core'
import { errorAt } from '../../_versioned/field-errors'
import { SchemaEditor } from '../../_versioned/schema-editor'
import styles from '../../_versioned/versioned.module.css'
import type { AgentForm } from './agent-form'

const FIRST = { type: 'object', properties: {}, required: [], additionalProperties: false }

/** Whether the agent answers with data, and the data's shape. */
export function SchemaTab(props: {
  form: AgentForm
  change: (patch: Partial<AgentForm>) => void
  onProblem: (problem: string | null) => void
  error: unknown
  readOnly: boolean
}) {
  const { form, change, onProblem, error, readOnly } = props
  return (
    <div className={styles.wide} data-read-only={readOnly || undefined}>
      <Switch
        label="Answers with data"
        description={
          form.outputSchema === null
            ? 'Without a schema, the agent answers in text, through chat. Workflow steps need data.'
            : 'Every answer is checked against this schema before the caller gets it.'
        }
        checked={form.outputSchema !== null}
        disabled={readOnly}
        onChange={(event) => {
          onProblem(null)
          change({ outputSchema: event.currentTarget.checked ? FIRST : null })
        }}
      />
      {form.outputSchema !== null && (
        <SchemaEditor
          label="Output schema"
          value={form.outputSchema}
          onChange={(outputSchema) => change({ outputSchema })}
          onProblem={onProblem}
          readOnly={readOnly}
          error={errorAt(error, 'outputSchema')}
          inForms={false}
        />
      )}
    </div>
  )
}
