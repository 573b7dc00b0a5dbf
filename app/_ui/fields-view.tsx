'use client'
import { useState } from 'react'
import { isFileReference, withoutFileTwice } from '@/server/definition/file-ids'
import styles from './fields-view.module.css'
import { FilesOfText, FileValue, WithFileNames } from './files/file-value'
import { JsonView } from './json-view'

/** The number of fields and characters shown at first. */
const FIELDS = 12
const CHARS = 400
/** How many files of a list are shown as files. */
const FILES = 50

const NO_LABELS: Readonly<Record<string, string>> = {}

/** An object's fields as labelled rows, with nested values as collapsed trees. Other values are trees. */
export function FieldsView({
  value,
  label,
  labels = NO_LABELS,
}: {
  value: unknown
  label: string
  /** Display names of the fields. */
  labels?: Readonly<Record<string, string>>
}) {
  const [all, setAll] = useState(false)
  if (value === null || value === undefined) return <p className={styles.none}>Nothing</p>
  if (typeof value !== 'object') return <FieldValue value={value} name={label} />
  if (Array.isArray(value)) return <JsonView value={value} label={label} openDepth={1} />
  const fields = withoutFileTwice(Object.entries(value))
  if (fields.length === 0) return <p className={styles.none}>Nothing</p>
  const shown = all ? fields : fields.slice(0, FIELDS)
  const called = (name: string) =>
    (Object.hasOwn(labels, name) ? labels[name] : undefined) ?? (name === 'fileId' ? 'File' : name)
  return (
    <>
      <dl className={styles.fields} aria-label={label}>
        {shown.map(([name, field]) => (
          <div key={name}>
            <dt>{called(name)}</dt>
            <dd>
              <FieldValue value={field} name={called(name)} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < fields.length && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          Show all {fields.length} fields
        </button>
      )}
    </>
  )
}

/** One value for people: words where possible, a tree for nested values. */
export function FieldValue({ value, name }: { value: unknown; name: string }) {
  if (value === null || value === undefined || value === '') return <span className={styles.none}>empty</span>
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string') return <Text text={value} />
  if (typeof value !== 'object') return String(value)
  const size = Object.keys(value).length
  if (size === 0) return <span className={styles.none}>empty</span>
  if (Array.isArray(value) && size <= FILES && value.every(isFileReference)) {
    return value.map((id) => <Text key={id} text={id} />)
  }
  if (Array.isArray(value) && size <= 10 && value.every((one) => typeof one === 'string' || typeof one === 'number')) {
    return <Text text={value.join(', ')} />
  }
  return <JsonView value={value} label={name} openDepth={size > 4 ? 0 : 1} />
}

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const isFile: boolean = isFileReference(text)
  if (isFile) {
    return (
      <FileValue id={text}>
        <span className={styles.text}>{text}</span>
      </FileValue>
    )
  }
  if (whole || text.length <= CHARS) {
    return (
      <>
        <span className={styles.text}>
          <WithFileNames text={text} />
        </span>
        <FilesOfText text={text} />
      </>
    )
  }
  return (
    <>
      <span className={styles.text}>{text.slice(0, CHARS)}…</span>{' '}
      <button type="button" className={styles.more} onClick={() => setWhole(true)}>
        Show all {text.length.toLocaleString('en')} characters
      </button>
    </>
  )
}
