'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { Role } from '@/server/roles'
import { RoleField } from './role-field'

/** Asks for the name and the role of a new key or signing secret. */
export function CredentialDialog(props: {
  noun: 'key' | 'secret'
  title: string
  name: { description: string; placeholder: string }
  role: { label: string; says: (role: Role) => string | undefined; choices: Role[]; disabled?: boolean }
  /** Further fields, depending on the role. */
  more?: (role: Role) => ReactNode
  onCreate: (made: { name: string; role: Role }) => void
  onClose: () => void
  busy: boolean
  error: unknown
}) {
  const { noun, title, more, onCreate, onClose, busy, error } = props
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  function submit(event: FormEvent) {
    event.preventDefault()
    onCreate({ name, role })
  }
  return (
    <Dialog onClose={onClose} title={title}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            {...props.name}
            withAsterisk
            maxLength={200}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <RoleField
            label={props.role.label}
            choices={props.role.choices}
            description={props.role.says(role)}
            value={role}
            disabled={props.role.disabled}
            onChange={setRole}
          />
          {more?.(role)}
          {error !== null && <ErrorState error={error} title={`The ${noun} was not created`} />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy} disabled={!name.trim()}>
              Create {noun}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
