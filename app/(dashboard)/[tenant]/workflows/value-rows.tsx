'use client'
import { Button } from '@mantine/core'
import { useId, useMemo } from 'react'
import { isJsonObject, type JsonValue } from '@/server/definition/json'
import type { Field } from '@/server/definition/schema'
import { RowLabel } from '../_arguments/argument-field'
import { ArgumentRows } from '../_arguments/argument-rows'
import styles from '../_arguments/arguments.module.css'
import { shapeOf } from '../_arguments/shape'
import { schemaLike } from './value-schema'

/**
 * An object or a list of START or of a task's form as rows, like the arguments of a tool. The names in its default have
 * rows of their own.
 */
export function ValueRows(props: {
  label: string
  field: Field
  required: boolean
  value: JsonValue | undefined
  error: string | undefined
  onChange: (value: JsonValue | undefined) => void
  /** Switches to text. */
  onJson: () => void
}) {
  const { label, field, required, value, error, onChange, onJson } = props
  // The same field may be on the page twice: in a task, and in the dialog that starts its workflow.
  const id = useId()
  const { type, default: usual, description = '' } = field
  const shape = useMemo(
    () => shapeOf({ ...schemaLike((usual as JsonValue | undefined) ?? (type === 'array' ? [] : {})), description }),
    [usual, type, description],
  )
  const shared = {
    problemAt: (path: string) => (path === label ? (error ?? null) : null),
    idOf: (path: string) => `${id}-${path.replaceAll(/\s+/g, '-')}`,
    readOnly: false,
  }
  return (
    <div className={styles.row}>
      {shape.kind === 'object' ? (
        <fieldset className={styles.nested} aria-describedby={error ? `${id}-error` : undefined}>
          <legend className={styles.legend}>
            <RowLabel name={label} words={shape.words} />
            {required && (
              <span className={styles.star} aria-hidden>
                {' *'}
              </span>
            )}
          </legend>
          {description !== '' && <div className={styles.about}>{description}</div>}
          <ArgumentRows
            {...shared}
            path={label}
            shape={shape}
            value={isJsonObject(value) ? value : {}}
            onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
          />
          {error && (
            <div className={styles.error} id={`${id}-error`}>
              {error}
            </div>
          )}
        </fieldset>
      ) : (
        <ArgumentRows
          {...shared}
          path=""
          shape={{
            ...shapeOf({ type: 'object', additionalProperties: false }),
            fields: [{ name: label, required, shape }],
          }}
          value={value === undefined ? {} : { [label]: value }}
          onChange={(next) => onChange(next[label])}
        />
      )}
      <Button
        variant="subtle"
        size="compact-xs"
        className={styles.small ?? ''}
        aria-label={`Enter ${label} as JSON`}
        onClick={onJson}
      >
        Enter JSON
      </Button>
    </div>
  )
}
