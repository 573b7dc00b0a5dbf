'use client'
import { useMemo } from 'react'
import { COLUMNS, ROWS, readCsv } from './csv-rows'
import styles from './files.module.css'
import { Text } from './parts'

/** The beginning of a CSV file as a table; one that cannot be read as such as text. */
export function CsvTable({ name, text, cut }: { name: string; text: string; cut: string | null }) {
  const table = useMemo(() => readCsv(text, cut !== null), [text, cut])
  if (!table) return <Text name={name} text={text} cut={cut} />
  const { rows, more, wider } = table
  const [head = [], ...body] = rows
  const bounds = [
    ...(more ? [`Only the first ${body.length < ROWS ? `${body.length}` : ROWS} rows are shown.`] : []),
    ...(wider ? [`Only the first ${COLUMNS} columns are shown.`] : []),
  ]
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.table} tabIndex={0} aria-label={`Content of ${name}`}>
        <table>
          <thead>
            <tr>{cells(head, 'th')}</tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
              <tr key={index}>{cells(row, 'td')}</tr>
            ))}
          </tbody>
        </table>
      </section>
      {bounds.length > 0 && <p className={styles.note}>{bounds.join(' ')} Download the file to see all of it.</p>}
    </>
  )
}

function cells(row: string[], Cell: 'th' | 'td') {
  return row.map((text, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: cells have no identity of their own
    <Cell key={index} {...(Cell === 'th' ? { scope: 'col' } : {})}>
      {text}
    </Cell>
  ))
}
