'use client'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { CodeDiff } from '@/app/_ui/code-diff'
import type { ChangeKind } from '@/server/definition/diff'
import type { Difference } from './differences'
import { pretty } from './json'
import { schemaDifferences } from './schema-differences'
import styles from './side-by-side.module.css'

/** The names of both sides. */
export interface Sides {
  before: string
  now: string
}

type One<K extends Difference['as']> = Extract<Difference, { as: K }>

/** Two versions beside each other: only the fields that differ, as people know them from the form. */
export function SideBySide({ differences, sides }: { differences: readonly Difference[]; sides: Sides }) {
  const values = differences.filter((one): one is One<'value'> => one.as === 'value')
  const rest = differences.filter((one): one is Exclude<Difference, One<'value'>> => one.as !== 'value')
  return (
    <div className={styles.all}>
      {values.length > 0 && (
        <Rows
          first="Field"
          sides={sides}
          rows={values.map(({ label, before, now }) => ({ name: label, before, now }))}
        />
      )}
      {rest.map((one) => (
        <Section key={one.label} title={one.label}>
          {(one.as === 'text' || one.as === 'code') && (
            <CodeDiff
              label={one.label}
              language={one.as === 'code' ? 'javascript' : 'text'}
              before={one.before}
              after={one.now}
              beside={sides}
            />
          )}
          {one.as === 'schema' && <Schema {...one} sides={sides} />}
          {one.as === 'uses' && <Rows first="Name" sides={sides} rows={one.rows} names={one.label} />}
        </Section>
      ))}
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className={styles.section}>
      <div className={styles.title}>{title}</div>
      {children}
    </section>
  )
}

function Schema({ label, side, before, now, sides }: One<'schema'> & { sides: Sides }) {
  const rows = schemaDifferences(before, now, side)
  if (rows === null) return <CodeDiff label={label} before={pretty(before)} after={pretty(now)} beside={sides} />
  return (
    <Rows first="Field" sides={sides} names={label} rows={rows.map(({ path, ...row }) => ({ name: path, ...row }))} />
  )
}

interface Row {
  name: string
  kind?: ChangeKind
  before: string | null
  now: string | null
  breaking?: string | null
}

const KINDS: Record<ChangeKind, string> = { added: 'Added', removed: 'Removed', changed: 'Changed' }

function Rows(props: { first: string; sides: Sides; rows: readonly Row[]; names?: string }) {
  const { first, sides, rows, names = 'Fields that differ' } = props
  return (
    <table className={styles.table} aria-label={names}>
      <thead>
        <tr>
          <th scope="col">{first}</th>
          <th scope="col">{sides.before}</th>
          <th scope="col">{sides.now}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, kind, before, now, breaking }) => (
          <tr key={name}>
            <th scope="row">
              {name}
              {kind && <span className={styles.kind}>{KINDS[kind]}</span>}
              {breaking && (
                <span className={styles.breaking}>
                  <TriangleAlert size={14} aria-hidden />
                  <span>Breaking: {breaking}</span>
                </span>
              )}
            </th>
            <td className={styles.before}>{before ?? <span className={styles.none}>Not there</span>}</td>
            <td className={styles.now}>{now ?? <span className={styles.none}>Not there</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
