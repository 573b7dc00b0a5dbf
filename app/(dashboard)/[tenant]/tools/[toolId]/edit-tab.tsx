'use client'
import { Switch, Textarea, TextInput } from '@mantine/core'
import dynamic from 'next/dynamic'
import { type ReactNode, useId } from 'react'
import { loadQuiet, nothing } from '@/app/_ui/part'
import type { JsonObject } from '@/server/definition/json'
import { errorAt } from '../../_versioned/field-errors'
import { SchemaEditor } from '../../_versioned/schema-editor'
import styles from '../../_versioned/versioned.module.css'
import { withArguments } from './add-arguments'
import { HttpFields } from './http-fields'
import { McpFields } from './mcp-fields'
import { ScriptFields } from './script-fields'
import type { ToolForm } from './tool-form'
import type { Report } from './use-problems'

export function EditTab(props: {
  form: ToolForm
  change: (patch: Partial<ToolForm>) => void
  report: Report
  error: unknown
  readOnly: boolean
}) {
  const { form, change, report, error, readOnly } = props
  const id = useId()
  const kind = { config: form.config, onConfig: (config: JsonObject) => change({ config }), report, error, readOnly }
  return (
    <div className={styles.wide} data-read-only={readOnly || undefined}>
      <section className={styles.group} aria-labelledby={id}>
        <h2 id={id}>What it is</h2>
        <div className={styles.pair}>
          <TextInput
            label="Name"
            required
            maxLength={200}
            value={form.name}
            readOnly={readOnly}
            onChange={(event) => change({ name: event.currentTarget.value })}
            error={errorAt(error, 'name')}
          />
          <Textarea
            label="Description"
            autosize
            maxRows={10}
            value={form.description}
            readOnly={readOnly}
            placeholder={readOnly ? 'None' : 'Agents read this to decide when to call it'}
            onChange={(event) => change({ description: event.currentTarget.value })}
            error={errorAt(error, 'description')}
          />
        </div>
      </section>
      {form.kind === 'script' && <ScriptFields {...kind} />}
      {form.kind === 'http' && (
        <HttpFields
          {...kind}
          onImported={(config, types) => {
            const used = Object.keys(types).map((name) => ({ name, required: true }))
            change({ config, inputSchema: withArguments(form.inputSchema, used, { types }) })
          }}
        />
      )}
      {form.kind === 'mcp' && <McpFields {...kind} onInputSchema={(inputSchema) => change({ inputSchema })} />}
      <OptionalSchema
        of="inputSchema"
        title="Arguments"
        label="Input schema"
        text="Arguments that do not match are refused before the tool runs. Agents read it to know what to send."
        value={form.inputSchema}
        onChange={(inputSchema) => change({ inputSchema })}
        report={report}
        error={errorAt(error, 'inputSchema')}
        readOnly={readOnly}
      >
        {!readOnly && form.kind !== 'mcp' && (
          <UsedArguments form={form} onSchema={(inputSchema) => change({ inputSchema })} />
        )}
      </OptionalSchema>
      <OptionalSchema
        of="outputSchema"
        title="Result"
        label="Output schema"
        text="A result that does not match fails with the code OUTPUT_INVALID."
        value={form.outputSchema}
        onChange={(outputSchema) => change({ outputSchema })}
        report={report}
        error={errorAt(error, 'outputSchema')}
        readOnly={readOnly}
      />
    </div>
  )
}

// Reads the templates of the request, for which the page does not wait.
const UsedArguments = dynamic(
  () => loadQuiet(() => import('./used-arguments').then((module) => module.UsedArguments)),
  { ssr: false, loading: nothing },
)

const FIRST = { type: 'object', properties: {}, required: [], additionalProperties: false }

function OptionalSchema(props: {
  of: string
  title: string
  label: string
  text: string
  value: JsonObject | null
  onChange: (value: JsonObject | null) => void
  report: Report
  error: string | null
  readOnly: boolean
  children?: ReactNode
}) {
  const { of, title, label, text, value, onChange, report, error, readOnly, children } = props
  const id = useId()
  return (
    <section className={styles.group} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Switch
        label={`Checked against a schema`}
        aria-label={`${title}: checked against a schema`}
        description={text}
        checked={value !== null}
        disabled={readOnly}
        onChange={(event) => {
          report(of, null)
          onChange(event.currentTarget.checked ? FIRST : null)
        }}
      />
      {children}
      {value !== null && (
        <SchemaEditor
          label={label}
          value={value}
          onChange={onChange}
          onProblem={(problem) => report(of, problem)}
          readOnly={readOnly}
          error={error}
        />
      )}
    </section>
  )
}
