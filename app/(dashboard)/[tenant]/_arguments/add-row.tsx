'use client'
import { Button, TextInput } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { JsonObject } from '@/server/definition/json'
import styles from './arguments.module.css'
import type { Shape } from './shape'

/** Adds a name that the schema does not mention but allows. */
export function AddRow({ taken, shape, onAdd }: { taken: JsonObject; shape: Shape; onAdd: (name: string) => void }) {
  const [name, setName] = useState<string | null>(null)
  if (name === null) {
    return (
      <Button
        variant="subtle"
        size="compact-xs"
        className={styles.small ?? ''}
        leftSection={<Plus size={12} aria-hidden />}
        onClick={() => setName('')}
      >
        Add a field
      </Button>
    )
  }
  const used = Object.hasOwn(taken, name) || shape.fields.some((field) => field.name === name)
  const problem = name === '__proto__' ? 'This name is reserved.' : used ? 'This name is taken.' : null
  const add = () => {
    if (name === '' || problem !== null) return
    onAdd(name)
    setName(null)
  }
  return (
    <div className={styles.unknown}>
      <TextInput
        aria-label="New name"
        placeholder="name"
        // The button that opened this input is gone.
        autoFocus
        value={name}
        error={problem}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Button variant="default" size="xs" onClick={add} disabled={name === '' || problem !== null}>
        Add
      </Button>
    </div>
  )
}
