'use client'
import { Group, Input, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldElementId, type WidgetProps } from './widget'

const UNITS = [
  { value: 'ms', label: 'milliseconds', ms: 1 },
  { value: 's', label: 'seconds', ms: 1_000 },
  { value: 'min', label: 'minutes', ms: 60_000 },
  { value: 'h', label: 'hours', ms: 3_600_000 },
  { value: 'd', label: 'days', ms: 86_400_000 },
] as const
type Unit = (typeof UNITS)[number]['value']

/** A duration stored in milliseconds and shown in the unit that fits. */
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

export function DurationInput(props: {
  id: string
  label: string
  help?: string | undefined
  value: number | undefined
  onChange: (ms: number | undefined) => void
  onBlur?: () => void
  problem?: string | null
  placeholder?: string
  /** The initial unit without a value. */
  unset?: Unit
  readOnly: boolean
}) {
  const { id, label, help, value, onChange, onBlur, problem, placeholder, unset = 's', readOnly } = props
  const [chosen, setChosen] = useState<Unit | null>(null)
  /** The text being typed, such as "1.", whose number equals that of "1". */
  const [typed, setTyped] = useState<string | null>(null)
  const keeps =
    chosen !== null && (typed !== null || value === undefined || Number.isInteger(value / unitOf(chosen).ms))
  const unit = unitOf(keeps ? chosen : fitting(value, unset))
  function type(text: string) {
    if (!/^\d*\.?\d*$/.test(text)) return
    setTyped(text)
    // The unit does not change during typing: 1.5 hours become 90 minutes once the field loses the focus.
    setChosen(unit.value)
    onChange(/\d/.test(text) ? Math.round(Number(text) * unit.ms) : undefined)
  }
  return (
    <Input.Wrapper id={id} label={label} description={help} error={problem} labelElement="label">
      <Group gap={8} wrap="nowrap" mt={4}>
        <TextInput
          id={id}
          flex={1}
          inputMode="decimal"
          autoComplete="off"
          maxLength={12}
          placeholder={placeholder}
          value={typed ?? (value === undefined ? '' : String(value / unit.ms))}
          onChange={(event) => type(event.currentTarget.value)}
          onBlur={() => {
            setTyped(null)
            onBlur?.()
          }}
          readOnly={readOnly}
        />
        <Select
          aria-label={`Unit of ${label.toLowerCase()}`}
          w={132}
          data={UNITS.map(({ value, label }) => ({ value, label }))}
          value={unit.value}
          allowDeselect={false}
          readOnly={readOnly}
          onChange={(next) => {
            if (next === null) return
            setChosen(next as Unit)
            setTyped(null)
            if (value !== undefined) onChange(Math.round((value / unit.ms) * unitOf(next).ms))
          }}
        />
      </Group>
    </Input.Wrapper>
  )
}

function fitting(ms: number | undefined, unset: Unit): Unit {
  if (ms === undefined) return unset
  return UNITS.findLast((unit) => ms >= unit.ms && ms % unit.ms === 0)?.value ?? 'ms'
}

function unitOf(value: string): (typeof UNITS)[number] {
  return UNITS.find((unit) => unit.value === value) ?? UNITS[1]
}
