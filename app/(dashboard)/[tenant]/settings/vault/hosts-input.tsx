'use client'
import { Button, Group, Stack, TagsInput } from '@mantine/core'
import { Plus } from 'lucide-react'
import { errorOf } from '@/app/_trpc/client'

/** The hosts to which a secret may be sent. Suggests those it already goes to. */
export function HostsInput(props: {
  hosts: string[]
  onChange: (hosts: string[]) => void
  called: readonly string[]
  description: string
  error: unknown
  autoFocus?: boolean
}) {
  const { hosts, onChange, called, description, error, autoFocus = false } = props
  const offered = called.filter((host) => !hosts.includes(host))
  return (
    <Stack gap="xs">
      <TagsInput
        label="Hosts"
        description={description}
        placeholder={hosts.length === 0 ? 'api.example.com' : ''}
        value={hosts}
        onChange={onChange}
        maxTags={50}
        acceptValueOnBlur
        // The field has no list, and an open one would take the Escape that closes the dialog.
        dropdownOpened={false}
        error={hostsProblem(error, hosts)}
        data-autofocus={autoFocus || undefined}
      />
      {offered.length > 0 && (
        <Group gap="xs">
          {offered.map((host) => (
            <Button
              key={host}
              size="compact-sm"
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              aria-label={`Add ${host}`}
              onClick={() => onChange([...hosts, host])}
            >
              {host}
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  )
}

/** The problem with the hosts; its message names the host. */
export function hostsProblem(error: unknown, hosts: readonly string[]): string | null {
  const { details } = error ? errorOf(error) : { details: [] }
  for (const { path = '', message } of details) {
    const [, index] = /^hosts\[(\d+)\]$/.exec(path) ?? []
    if (index !== undefined) return `${hosts[Number(index)] ?? 'A host'} ${message}`
    if (path === 'hosts') return `Hosts ${message}`
  }
  return null
}
