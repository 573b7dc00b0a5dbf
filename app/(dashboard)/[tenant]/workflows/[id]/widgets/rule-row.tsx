'use client'
import { NativeSelect, Select } from '@mantine/core'
import { useMemo, useRef } from 'react'
import type { Operator, Test } from '../model/rule'
import { type Kind, kindOf, kindOfValue, newTest, operatorsOf, withOperator } from '../model/rule-words'
import styles from './rule.module.css'
import { RuleValue } from './rule-value'
import { type ScopeEntry, useScope } from './scope-context'
import { originOf } from './scope-entry'

/** One comparison: its field, its operator, and its value. */
export function RuleRow(props: {
  label: string
  /** The step's field, which may add names of its own. */
  of: string | undefined
  test: Test
  onChange: (test: Test) => void
  readOnly: boolean
}) {
  const { label, of, test, onChange, readOnly } = props
  const { entries, labelOf, choices, target } = useScope()
  const { groups, byName } = useMemo(() => fieldsOf(entries, of, labelOf), [entries, of, labelOf])
  const kindOfField = (name: string): Kind => {
    const entry = byName.get(name)
    return entry ? kindOf(entry.type, choices?.get(name), entry.last) : kindOfValue(test.value)
  }
  const kind = kindOfField(test.field)
  function choose(name: string) {
    if (name === test.field) return
    const next = kindOfField(name)
    // The comparison stays if it suits the new field as it did the old one.
    onChange(next === kind && test.field !== '' ? { ...test, field: name } : newTest(name, next))
  }
  const latest = useRef(choose)
  latest.current = choose
  const data = useMemo(() => {
    const unknown = test.field !== '' && !byName.has(test.field)
    return unknown ? [...groups, { group: 'Not known here', items: [test.field] }] : groups
  }, [groups, byName, test.field])
  return (
    <div className={styles.row}>
      <Select
        className={styles.field ?? ''}
        aria-label={`Field of ${label}`}
        placeholder="Choose a field"
        data={data}
        value={test.field || null}
        searchable
        nothingFoundMessage="No field matches."
        allowDeselect={false}
        readOnly={readOnly}
        onChange={(name) => name !== null && choose(name)}
        onFocus={() => {
          target.current = { insert: (name) => latest.current(name) }
        }}
      />
      {test.field !== '' && (
        <>
          <NativeSelect
            aria-label={`Operator of ${label}`}
            data={operatorsOf(kind, test.operator)}
            value={test.operator}
            disabled={readOnly}
            onChange={(event) => onChange(withOperator(test, event.currentTarget.value as Operator, kind))}
          />
          <RuleValue
            key={test.operator}
            label={`Value of ${label}`}
            test={test}
            kind={kind}
            choices={choices?.get(test.field)}
            onChange={(value) => onChange({ ...test, value })}
            readOnly={readOnly}
          />
        </>
      )}
    </div>
  )
}

/** The fields to choose from, by their origin. */
function fieldsOf(entries: readonly ScopeEntry[], of: string | undefined, labelOf: (stepId: string) => string) {
  const byName = new Map<string, ScopeEntry>()
  const groups = new Map<string, { value: string; label: string }[]>()
  for (const entry of entries) {
    if (entry.name === '_' || byName.has(entry.name) || (entry.only !== undefined && entry.only !== of)) continue
    byName.set(entry.name, entry)
    const origin = originOf(entry, labelOf)
    const group = groups.get(origin) ?? []
    groups.set(origin, group)
    group.push({ value: entry.name, label: entry.name })
  }
  return { byName, groups: [...groups].map(([group, items]) => ({ group, items })) }
}
