'use client'
import { NativeSelect, NumberInput } from '@mantine/core'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import type { AgentForm } from './agent-form'

type Model = AgentForm['model']

const KINDS = [
  { value: 'none', label: 'Not counted' },
  { value: 'list', label: 'List price' },
  { value: 'typed', label: 'Typed by hand' },
]

/** What the model costs, for the cost of answers and for limits. */
export function PriceFields(props: {
  model: Model
  onChange: (model: Model) => void
  error: unknown
  readOnly: boolean
  at: string
}) {
  const { model, onChange, error, readOnly, at } = props
  const { prices, ...rest } = model
  const typed = typeof prices === 'object' ? prices : null
  const set = (next: Model['prices']) => onChange(next === undefined ? rest : { ...rest, prices: next })
  return (
    <>
      <NativeSelect
        label="Price"
        description={
          model.provider === 'openai-compatible' && prices === 'list'
            ? 'No list has prices of your own service. Type them by hand.'
            : null
        }
        data={KINDS}
        value={typed ? 'typed' : prices === 'list' ? 'list' : 'none'}
        disabled={readOnly}
        onChange={({ currentTarget: { value } }) =>
          set(value === 'list' ? 'list' : value === 'typed' ? { input: 0, output: 0 } : undefined)
        }
        error={typed ? null : errorAt(error, `${at}.prices`)}
      />
      {typed && (
        <div className={styles.pair}>
          {(['input', 'output'] as const).map((name) => (
            <NumberInput
              key={name}
              label={`US dollars per million ${name} tokens`}
              min={0}
              value={typed[name]}
              readOnly={readOnly}
              onChange={(value) => set({ ...typed, [name]: Number(value) })}
              error={errorAt(error, `${at}.prices.${name}`)}
            />
          ))}
        </div>
      )}
    </>
  )
}
