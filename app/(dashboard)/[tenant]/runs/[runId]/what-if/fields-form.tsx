'use client'
import { Autocomplete, Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { JsonObject } from '@/server/definition/json'
import { typedValue, without } from './changes'
import styles from './what-if.module.css'

interface Props {
  title: string
  /** Fields to choose from; others can be typed. */
  names: readonly string[]
  fields: JsonObject
  onChange: (fields: JsonObject) => void
}

/** Fields with another value, and room for one more. */
export function FieldsForm({ title, names, fields, onChange }: Props) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const field = name.trim()
  const add = () => {
    onChange({ ...fields, [field]: typedValue(value) })
    setName('')
    setValue('')
  }
  return (
    <section className={styles.form} aria-label={title}>
      <h3 className={styles.subheading}>{title}</h3>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name} className={styles.field}>
          <TextInput
            label={name}
            defaultValue={typeof value === 'string' ? value : JSON.stringify(value)}
            onChange={({ currentTarget }) => onChange({ ...fields, [name]: typedValue(currentTarget.value) })}
          />
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onChange(without(fields, name))}>
            Undo
          </Button>
        </div>
      ))}
      <form
        className={styles.field}
        onSubmit={(event) => {
          event.preventDefault()
          if (field !== '') add()
        }}
      >
        <Autocomplete label="Field" data={[...names]} value={name} onChange={setName} />
        <TextInput
          label="Value"
          description="A text, or JSON"
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={field === ''}>
          Change
        </Button>
      </form>
    </section>
  )
}
