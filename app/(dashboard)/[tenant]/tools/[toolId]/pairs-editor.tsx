'use client'
import { ActionIcon, Autocomplete, Button, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { sameJson } from '../../_versioned/json'
import styles from '../../_versioned/versioned.module.css'
import pairs from './pairs.module.css'

interface Row {
  key: number
  name: string
  value: string
}

let count = 0
const toRows = (value: Record<string, string>): Row[] =>
  Object.entries(value).map(([name, text]) => ({ key: count++, name, value: text }))

/** Pairs of names and texts, such as headers. An incomplete row stays here until it is complete. */
export function PairsEditor(props: {
  label: string
  /** The noun for one pair, such as `header`. */
  one: string
  value: Record<string, string>
  onChange: (value: Record<string, string>) => void
  onProblem: (problem: string | null) => void
  /** Suggestions shown while typing. */
  suggestions: string[]
  error: string | null
  readOnly: boolean
}) {
  const { label, one, value, onChange, onProblem, suggestions, error, readOnly } = props
  const [rows, setRows] = useState(() => toRows(value))
  const last = useRef(value)
  useEffect(() => {
    if (sameJson(last.current, value)) return
    last.current = value
    setRows(toRows(value))
  }, [value])
  function write(next: Row[]) {
    setRows(next)
    const named = next.filter(({ name }) => name.trim() !== '')
    const names = named.map(({ name }) => name.trim().toLowerCase())
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    onProblem(twice === undefined ? null : `${label}: ${twice} appears twice`)
    last.current = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]))
    onChange(last.current)
  }
  const change = (key: number, patch: Partial<Row>) =>
    write(rows.map((row) => (row.key === key ? { ...row, ...patch } : row)))
  return (
    <fieldset className={styles.group}>
      <legend className={styles.label}>{label}</legend>
      {readOnly && rows.length === 0 && <span className={styles.note}>None</span>}
      {rows.map((row, index) => {
        const called = row.name.trim() || `${one} ${index + 1}`
        return (
          <div key={row.key} className={pairs.row}>
            <TextInput
              aria-label={`Name of ${called}`}
              placeholder="name"
              value={row.name}
              readOnly={readOnly}
              onChange={(event) => change(row.key, { name: event.currentTarget.value })}
            />
            <Autocomplete
              aria-label={`Value of ${called}`}
              placeholder={readOnly ? 'Empty' : 'value'}
              data={suggestions}
              value={row.value}
              readOnly={readOnly}
              onChange={(text) => change(row.key, { value: text })}
            />
            {!readOnly && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size={32}
                aria-label={`Remove ${called}`}
                onClick={() => write(rows.filter(({ key }) => key !== row.key))}
              >
                <Trash2 size={16} aria-hidden />
              </ActionIcon>
            )}
          </div>
        )
      })}
      {!readOnly && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => setRows([...rows, { key: count++, name: '', value: '' }])}
          >
            Add {one}
          </Button>
        </div>
      )}
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}
