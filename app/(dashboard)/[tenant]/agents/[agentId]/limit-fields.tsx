'use client'
import { NativeSelect, NumberInput, Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { AgentLimits, LimitAsk } from '@/server/definition/agent'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import { DAY_LIMITS, type LimitField, MESSAGE_LIMITS, TOOL_LIMITS } from './labels'

/** Few agents ask, so it is not part of the page's first load. */
const LimitPeople = dynamic(() => loadPart(() => import('./limit-people').then((module) => module.LimitPeople)), {
  ssr: false,
  loading: inPlace(<Skeleton height={132} radius="md" />),
})

/** Who is asked at first. */
const ADMINS: LimitAsk = { ask: ['role:admin'] }

/** What an agent, or all of them, may use. */
export function LimitFields(props: {
  limits: AgentLimits
  onChange: (limits: AgentLimits) => void
  whose: 'this agent' | 'all agents'
  error: unknown
  readOnly: boolean
}) {
  const { limits, onChange, whose, error, readOnly } = props
  const set = ({ group, name }: LimitField, value: number | undefined) => {
    const { [name]: _old, ...others } = (limits[group] ?? {}) as Record<string, number | undefined>
    const { [group]: _group, ...rest } = limits
    const next = value === undefined ? others : { ...others, [name]: value }
    onChange(Object.keys(next).length === 0 ? rest : ({ ...rest, [group]: next } as AgentLimits))
  }
  const setAt = (at: LimitAsk | undefined) => {
    const { at: _old, ...rest } = limits
    onChange(at ? { ...rest, at } : rest)
  }
  const inputs = (fields: LimitField[]) => (
    <div className={styles.pair}>
      {fields.map((field) => (
        <NumberInput
          key={`${field.group}.${field.name}`}
          label={field.label}
          placeholder={field.empty ?? 'No limit'}
          min={0}
          allowDecimal={field.name === 'cost'}
          thousandSeparator=","
          value={(limits[field.group] as Partial<Record<string, number>> | undefined)?.[field.name] ?? ''}
          readOnly={readOnly}
          onChange={(value) => set(field, value === '' ? undefined : Number(value))}
          error={errorAt(error, `limits.${field.group}.${field.name}`)}
        />
      ))}
    </div>
  )
  return (
    <div className={styles.group}>
      <span className={styles.note}>
        {whose === 'all agents' ? 'Of all agents together, by day (UTC)' : 'Of this agent, by day (UTC)'}
      </span>
      {inputs(DAY_LIMITS)}
      <span className={styles.note}>Of each message, with the agents that it is handed over to</span>
      {inputs(MESSAGE_LIMITS)}
      {inputs(TOOL_LIMITS)}
      <NativeSelect
        label="At a limit"
        description={
          whose === 'all agents'
            ? 'The same people are asked about limits of agents that say nothing themselves.'
            : 'Limits of the workspace ask only the people that the workspace names.'
        }
        data={[
          { value: 'fail', label: 'Fail' },
          { value: 'ask', label: 'Ask people whether it continues' },
        ]}
        value={limits.at ? 'ask' : 'fail'}
        disabled={readOnly}
        onChange={(event) => setAt(event.currentTarget.value === 'ask' ? ADMINS : undefined)}
      />
      {limits.at && <LimitPeople at={limits.at} onChange={setAt} error={error} readOnly={readOnly} />}
    </div>
  )
}
