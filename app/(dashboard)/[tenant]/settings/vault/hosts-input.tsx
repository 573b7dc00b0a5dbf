'use client'
import { TagsInput } from '@mantine/core'
import { errorOf } from '@/app/_trpc/client'

/** Where a secret may be sent; what it is sent to already is offered. */
export function HostsInput(props: {
  hosts: string[]
  onChange: (hosts: string[]) => void
  called: readonly string[]
  description: string
  error: unknown
  autoFocus?: boolean
}) {
  const { hosts, onChange, called, description, error, autoFocus = false } = props
  return (
    <TagsInput
      label="Hosts"
      description={description}
      placeholder={hosts.length === 0 ? 'api.example.com' : ''}
      data={called.filter((host) => !hosts.includes(host))}
      value={hosts}
      onChange={onChange}
      maxTags={50}
      acceptValueOnBlur
      error={hostsProblem(error, hosts)}
      data-autofocus={autoFocus || undefined}
    />
  )
}

/** What is wrong with the hosts, named by the host it is about. */
export function hostsProblem(error: unknown, hosts: readonly string[]): string | null {
  const { details } = error ? errorOf(error) : { details: [] }
  for (const { path = '', message } of details) {
    const [, index] = /^hosts\[(\d+)\]$/.exec(path) ?? []
    if (index !== undefined) return `${hosts[Number(index)] ?? 'A host'} ${message}`
    if (path === 'hosts') return `Hosts ${message}`
  }
  return null
}
