'use client'
import { Input, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { useSecretNames } from '../../_versioned/use-secret-names'
import { useTenant } from '../../tenant-context'
import { type FoundSecret, MIN_SECRET } from './curl-secrets'
import type { ImportedCall } from './imported-call'

type Kept = ReturnType<typeof useKeptSecrets>

/** The secrets of an imported command: their names, and what becomes of their values. */
export function useKeptSecrets(imported: { call: ImportedCall; secrets: FoundSecret[] } | null) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { may } = useTenant()
  const existing = new Set(useSecretNames())
  const mayKeep = may('secret:manage')
  const [names, setNames] = useState<Record<string, string>>({})
  const set = useMutation(trpc.vault.set.mutationOptions())
  const host = hostOf(imported?.call.url ?? '')
  const list = (imported?.secrets ?? []).map((secret) => {
    const name = names[secret.name] ?? secret.name
    const known = existing.has(name)
    const { value } = secret
    const stores = mayKeep && !known && value !== null && value.length >= MIN_SECRET && host !== null
    return { ...secret, called: name, stores, note: noteOf({ known, mayKeep, stores, host, value }) }
  })
  const named = new Set(list.map(({ called }) => called))
  return {
    list,
    isValid: named.size === list.length && list.every(({ called }) => NAME.test(called)),
    rename: (secret: string, name: string) => setNames((now) => ({ ...now, [secret]: name })),
    busy: set.isPending,
    error: set.error,
    /** Stores the values and returns the call with the names chosen for them; null if one was not stored. */
    keep: async (call: ImportedCall): Promise<ImportedCall | null> => {
      try {
        for (const { called, value, stores } of list) {
          if (stores && value !== null && host !== null) await set.mutateAsync({ name: called, value, hosts: [host] })
        }
      } catch {
        return null
      }
      if (list.some(({ stores }) => stores)) await queries.invalidateQueries(trpc.vault.pathFilter())
      const called = new Map(list.map((secret) => [secret.name, secret.called]))
      const rename = (_whole: string, name: string) => `\${secrets.${called.get(name) ?? name}}`
      return JSON.parse(JSON.stringify(call).replace(/\$\{secrets\.(\w+)\}/g, rename))
    },
  }
}

export function CurlSecrets({ secrets }: { secrets: Kept }) {
  return (
    <Input.Wrapper
      label="Secrets"
      labelElement="div"
      description="Their values are not part of the tool: it refers to them by name."
    >
      <Stack gap="xs" mt="xs">
        {secrets.list.map(({ name, called, place, note }) => (
          <TextInput
            key={name}
            size="xs"
            label={
              <>
                Name of{' '}
                <Text span inherit className="mono">
                  {place}
                </Text>
              </>
            }
            description={note}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={called}
            error={NAME.test(called) ? null : 'Start with a letter or _, then use only letters, digits and _'}
            onChange={(event) => secrets.rename(name, event.currentTarget.value)}
          />
        ))}
      </Stack>
    </Input.Wrapper>
  )
}

const NAME = /^[A-Za-z_]\w{0,99}$/

function noteOf(of: { known: boolean; mayKeep: boolean; stores: boolean; host: string | null; value: string | null }) {
  if (of.known) return 'The vault has a secret of this name. The tool uses that one.'
  if (of.stores) return `The value goes into the vault, and may be sent only to ${of.host}.`
  if (!of.mayKeep) return 'Ask an admin to put it into the vault under this name.'
  if (of.value !== null && of.value.length < MIN_SECRET)
    return `The value is shorter than the ${MIN_SECRET} characters that the vault takes. Put another one into the vault.`
  return 'Put it into the vault under this name.'
}

function hostOf(url: string): string | null {
  return /^https?:\/\/([^/?#\s$]+)/i.exec(url)?.[1]?.toLowerCase() ?? null
}
