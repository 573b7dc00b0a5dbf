'use client'
import { BoundInputs } from '../_fields/bound-inputs'
import { ChoicesInput } from '../_fields/choices-input'
import type { SchemaField } from './schema-fields'
import { withLimits } from './schema-kinds'
import styles from './versioned.module.css'

/** The choices of a field, and the bounds of a number. */
export function LimitRow(props: {
  field: SchemaField
  called: string
  onChange: (patch: Partial<SchemaField>) => void
}) {
  const { field, called, onChange } = props
  const { type, keep } = field
  const shared = { called, size: 'sm' as const, readOnly: false }
  return (
    <div className={styles.limitRow}>
      <ChoicesInput
        {...shared}
        type={type}
        value={Array.isArray(keep.enum) ? keep.enum : undefined}
        onChange={(choices) => onChange(withLimits(field, { enum: choices }))}
      />
      {type !== 'string' && (
        <BoundInputs
          {...shared}
          minimum={keep.minimum}
          maximum={keep.maximum}
          onChange={(bounds) => onChange(withLimits(field, bounds))}
        />
      )}
    </div>
  )
}
