'use client'
import type { ReactNode } from 'react'
import { AmountInput, type AmountProps } from './amount-input'
import { ISO_UNITS, type IsoUnit, readIso, writeIso } from './iso-duration'

const UNITS = [
  { value: 'ms', label: 'milliseconds', ms: 1 },
  { value: 's', label: 'seconds', ms: 1_000 },
  { value: 'min', label: 'minutes', ms: 60_000 },
  { value: 'h', label: 'hours', ms: 3_600_000 },
  { value: 'd', label: 'days', ms: 86_400_000 },
] as const
type Unit = (typeof UNITS)[number]['value']

/** A duration stored in milliseconds and shown in the unit that fits. */
export function DurationInput(
  props: AmountProps & {
    value: number | undefined
    onChange: (ms: number | undefined) => void
    /** The initial unit without a value. */
    unset?: Unit
  },
) {
  const { value, onChange, unset = 's', ...shared } = props
  return (
    <AmountInput
      {...shared}
      units={UNITS}
      isEmpty={value === undefined}
      best={value === undefined ? unset : fitting(value)}
      countIn={(unit) => {
        const count = (value ?? 0) / msOf(unit)
        return Number.isInteger(count) ? String(count) : null
      }}
      onType={(count, unit) => onChange(/\d/.test(count) ? Math.round(Number(count) * msOf(unit)) : undefined)}
    />
  )
}

function fitting(ms: number): Unit {
  return UNITS.findLast((unit) => ms >= unit.ms && ms % unit.ms === 0)?.value ?? 'ms'
}

const msOf = (value: Unit) => UNITS.find((unit) => unit.value === value)?.ms ?? 1

/** A duration stored in ISO 8601 that is one number and unit, as `readIso` reads it. */
export function IsoDurationInput(
  props: AmountProps & {
    value: string | undefined
    onChange: (iso: string | undefined) => void
    /** The initial unit without a value. */
    unset?: IsoUnit
    /** The units to offer; all by default. */
    units?: readonly IsoUnit[]
    beside?: ReactNode
  },
) {
  const { value, onChange, unset = 'h', units, ...shared } = props
  const amount = value === undefined ? null : readIso(value)
  return (
    <AmountInput
      {...shared}
      units={units ? ISO_UNITS.filter((unit) => units.includes(unit.value)) : ISO_UNITS}
      isEmpty={amount === null}
      best={amount?.unit ?? unset}
      countIn={(unit) => (amount?.unit === unit ? amount.count : null)}
      onType={(count, unit) => onChange(writeIso(count, unit))}
    />
  )
}
