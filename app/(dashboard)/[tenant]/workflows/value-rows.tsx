'use client'
import { Button } from '@mantine/core'
import { useMemo } from 'react'
import { isJsonObject, type JsonValue } from '@/server/definition/json'
import type { Field } from '@/server/definition/schema'
import { RowLabel } from '../_arguments/argument-field'
import { ArgumentRows } from '../_arguments/argument-rows'
import styles from '../_arguments/arguments.module.css'
import { shapeOf } from '../_arguments/shape'
import { schemaLike } from './value-schema'

/** An object or a list of START as rows, like the arguments of a tool. What its default contains has rows of its own. */
export function ValueRows(props: {
  name: string
  field: Field
  required: boolean
  value: JsonValue | undefined
  error: string | undefined
  onChange: (value: JsonValue | undefined) => void
  /** To enter it as text. */
  onJson: () => void
}) {
  const { name, field, required, value, error, onChange, onJson } = props
  const { type, default: usual, description = '' } = field
  const shape = useMemo(
    () => shapeOf({ ...schemaLike((usual as JsonValue | undefined) ?? (type === 'array' ? [] : {})), description }),
    [usual, type, description],
  )
  const shared = {
    problemAt: (path: string) => (path === name ? (error ?? null) : null),
    idOf: (path: string) => `start-${path}`,
    readOnly: false,
  }
  return (
    <div className={styles.row}>
      {shape.kind === 'object' ? (
        <fieldset className={styles.nested} aria-describedby={error ? `start-${name}-error` : undefined}>
          <legend className={styles.legend}>
            <RowLabel name={name} words={shape.words} />
            {required && (
              <span className={styles.star} aria-hidden>
                {' *'}
              </span>
            )}
          </legend>
          {description !== '' && <div className={styles.about}>{description}</div>}
          <ArgumentRows
            {...shared}
            path={name}
            shape={shape}
            value={isJsonObject(value) ? value : {}}
            onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
          />
          {error && (
            <div className={styles.error} id={`start-${name}-error`}>
              {error}
            </div>
          )}
        </fieldset>
      ) : (
        <ArgumentRows
          {...shared}
          path=""
          shape={{ ...shapeOf({ type: 'object', additionalProperties: false }), fields: [{ name, required, shape }] }}
          value={value === undefined ? {} : { [name]: value }}
          onChange={(next) => onChange(next[name])}
        />
      )}
      <Button
        variant="subtle"
        size="compact-xs"
        className={styles.small ?? ''}
        aria-label={`Enter ${name} as JSON`}
        onClick={onJson}
      >
        Enter JSON
      </Button>
    </div>
  )
}
