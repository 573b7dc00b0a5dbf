'use client'
import type { JsonValue } from '@/server/definition/json'
import { actionProblem, type Choice } from './choice-rows'
import { Choices } from './choices'
import { FieldsEditor } from './fields-editor'
import { declaredIn } from './fields-widget'
import { useScope } from './scope-context'
import type { WidgetProps } from './widget'
import styles from './widgets.module.css'

/** The buttons of a decision: the label, the id stored in run data, and the fields to fill in. Each is an exit. */
export function ActionsWidget(props: WidgetProps) {
  return (
    <Choices
      {...props}
      noun="action"
      problemOf={actionProblem}
      create={emptyAction}
      more={({ rest, kept }, rowLabel, change) => (
        <ActionFields
          rowLabel={rowLabel}
          value={rest.fields}
          readOnly={props.readOnly}
          onRename={(from, to) => props.onRenameField(from, to, kept)}
          onChange={(fields) => {
            const { fields: _before, ...others } = rest
            change({ rest: fields === null ? others : { ...others, fields } })
          }}
        />
      )}
    />
  )
}

function ActionFields({
  rowLabel,
  value,
  onChange,
  onRename,
  readOnly,
}: {
  rowLabel: string
  value: JsonValue | undefined
  onChange: (fields: JsonValue | null) => void
  onRename: (from: string, to: string) => void
  readOnly: boolean
}) {
  const { taken } = useScope()
  const fields = declaredIn(value)
  const count = Object.keys(fields).length
  if (readOnly && count === 0) return null
  return (
    <details className={styles.more}>
      <summary aria-label={`Fields of ${rowLabel}`}>
        {count === 0 ? 'Fields to fill in' : `${count} ${count === 1 ? 'field' : 'fields'} to fill in`}
      </summary>
      <FieldsEditor
        value={fields}
        onChange={(next) => onChange(Object.keys(next).length === 0 ? null : (next as unknown as JsonValue))}
        onRename={onRename}
        taken={taken}
        readOnly={readOnly}
      />
    </details>
  )
}

function emptyAction(): Choice {
  return { id: '', kept: '', label: '', follows: true, rest: {} }
}
