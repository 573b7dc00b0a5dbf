'use client'
import { DurationInput } from '@/app/_ui/duration-input'
import { fieldElementId, type WidgetProps } from './widget'

/** A duration stored in milliseconds. */
export function DurationWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  return (
    <DurationInput
      id={fieldElementId(field.name)}
      label={field.label}
      help={field.help}
      value={typeof value === 'number' ? value : undefined}
      onChange={onChange}
      problem={problem}
      readOnly={readOnly}
    />
  )
}
