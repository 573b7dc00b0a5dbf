'use client'
import { NumberInput, Select } from '@mantine/core'
import { DurationInput } from '@/app/_ui/duration-input'
import { isObject } from '../model/json-text'
import { FieldFrame } from './field-frame'
import type { WidgetProps } from './widget'

/** The number of retries of a failed step, and the backoff between them. */
export function RetryWidget({ field, value, onChange, problem, readOnly }: WidgetProps) {
  const retry = isObject(value) ? value : {}
  const set = (name: string, next: number | string | undefined) => {
    const { [name]: _old, ...rest } = retry
    const changed = next === undefined ? rest : { ...rest, [name]: next }
    onChange(Object.keys(changed).length === 0 ? undefined : changed)
  }
  const number = (name: string) => (typeof retry[name] === 'number' ? retry[name] : undefined)
  return (
    <FieldFrame field={field} problem={problem} gap="sm">
      <NumberInput
        label="Maximum attempts"
        min={1}
        max={20}
        allowDecimal={false}
        value={number('maxAttempts') ?? ''}
        onChange={(next) => set('maxAttempts', typeof next === 'number' ? next : undefined)}
        readOnly={readOnly}
      />
      <Select
        label="Wait between attempts"
        data={[
          { value: 'exponential', label: 'Longer each time' },
          { value: 'fixed', label: 'Always the same' },
        ]}
        clearable
        value={typeof retry.backoff === 'string' ? retry.backoff : null}
        onChange={(next) => set('backoff', next ?? undefined)}
        readOnly={readOnly}
      />
      <DurationInput
        id="retry-first"
        label="First wait"
        value={number('initialDelayMs')}
        onChange={(next) => set('initialDelayMs', next)}
        readOnly={readOnly}
      />
      <DurationInput
        id="retry-longest"
        label="Longest wait"
        value={number('maxDelayMs')}
        onChange={(next) => set('maxDelayMs', next)}
        readOnly={readOnly}
      />
    </FieldFrame>
  )
}
