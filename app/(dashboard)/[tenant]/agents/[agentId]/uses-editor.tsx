'use client'
import { ActionIcon, NativeSelect, Select } from '@mantine/core'
import { Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from '@/app/_ui/link'
import { choicesOf } from '../../_versioned/choices'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import { useTenant } from '../../tenant-context'
import { ApprovalChoice } from './approval-choice'
import type { Use } from './use'
import own from './uses.module.css'

interface Known {
  id: string
  name: string
  description: string
  version: number
  publishedVersion: number | null
}

/** The tools or agents available to the agent, each with its version. */
export function UsesEditor(props: {
  title: string
  text: ReactNode
  noun: 'tool' | 'agent'
  known: Known[]
  uses: Use[]
  onChange: (uses: Use[]) => void
  errors: unknown
  readOnly: boolean
}) {
  const { title, text, noun, known, uses, onChange, errors, readOnly } = props
  const error = errorAt(errors, noun === 'tool' ? 'tools' : 'handoffs')
  const { path } = useTenant()
  const heading = `uses-${noun}`
  const names = choicesOf(known)
  const free = known.filter(({ id }) => !uses.some((use) => use.id === id))
  return (
    <section className={styles.group} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <span className={styles.note}>{text}</span>
      {readOnly && uses.length === 0 && <span className={styles.note}>None</span>}
      {uses.length > 0 && (
        <ul className={own.uses}>
          {uses.map((use, index) => {
            const found = known.find(({ id }) => id === use.id)
            const name = names.find(({ value }) => value === use.id)?.label ?? use.id
            return (
              <li key={use.id}>
                <div className={own.use}>
                  <div>
                    <Link href={path(`/${noun}s/${encodeURIComponent(use.id)}`)}>{name}</Link>
                    {found?.description && <p className={styles.note}>{found.description}</p>}
                  </div>
                  <NativeSelect
                    size="xs"
                    aria-label={`Version of ${name}`}
                    data={versionsOf(found, use.version)}
                    value={String(use.version)}
                    disabled={readOnly}
                    onChange={(event) => {
                      const value = event.currentTarget.value
                      const version = /^\d+$/.test(value) ? Number(value) : value
                      onChange(uses.map((one) => (one.id === use.id ? { ...one, version } : one)))
                    }}
                  />
                  {!readOnly && (
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      size={28}
                      aria-label={`Remove ${name}`}
                      onClick={() => onChange(uses.filter(({ id }) => id !== use.id))}
                    >
                      <Trash2 size={16} aria-hidden />
                    </ActionIcon>
                  )}
                </div>
                <ApprovalChoice
                  noun={noun}
                  name={name}
                  use={use}
                  onChange={(approval) => onChange(uses.map((one) => (one.id === use.id ? { ...one, approval } : one)))}
                  error={errors}
                  at={`${noun === 'tool' ? 'tools' : 'handoffs'}[${index}].approval`}
                  readOnly={readOnly}
                />
              </li>
            )
          })}
        </ul>
      )}
      {!readOnly && (
        <Select
          // A new key after each choice empties the field.
          key={uses.length}
          aria-label={`Add ${noun === 'agent' ? 'an agent' : 'a tool'}`}
          placeholder={`Add ${noun === 'agent' ? 'an agent' : 'a tool'}`}
          data={choicesOf(free)}
          searchable
          nothingFoundMessage={`No ${noun} with this name`}
          onChange={(id) => id && onChange([...uses, { id, version: 'latest' }])}
        />
      )}
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </section>
  )
}

const MAX = 50

function versionsOf(found: Known | undefined, now: string | number) {
  const numbers = Array.from({ length: Math.min(MAX, found?.version ?? 0) }, (_, index) =>
    String((found?.version ?? 0) - index),
  )
  const values = ['latest', 'published', ...numbers]
  if (!values.includes(String(now))) values.push(String(now))
  return values.map((value) => ({
    value,
    label: value === 'latest' ? 'Latest' : value === 'published' ? 'Published' : `Version ${value}`,
  }))
}
