'use client'
import { Input, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { RESERVED_NAMES, SECRET_NAME } from '@/server/definition/secret-name'
import { useVaultNames } from '../../_versioned/use-secret-names'
import { useTenant } from '../../tenant-context'
import { type FoundSecret, MIN_SECRET } from './curl-secrets'
import type { ImportedCall } from './imported-call'

type Kept = ReturnType<typeof useKeptSecrets>

/** The secrets of an imported command: their names, and what becomes of their values. */
export function useKeptSecrets(imported: { call: ImportedCall; secrets: FoundSecret[] } | null) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const vault = useVaultNames()
  const { may } = useTenant()
  const mayKeep = may('secret:manage')
  const [names, setNames] = useState<Record<string, string>>({})
  const add = useMutation(trpc.vault.add.mutationOptions())
  const host = hostOf(imported?.call.url ?? '')
  const called = (imported?.secrets ?? []).map(({ name }) => names[name] ?? name)
  const list = (imported?.secrets ?? []).map((secret, index) => {
    const name = called[index] ?? secret.name
    const known = vault.names?.includes(name) ?? false
    const { value } = secret
    const long = value !== null && value.trim().length >= MIN_SECRET
    const stores = mayKeep && vault.names !== null && !known && long && host !== null
    const problem = nameProblem(name, called.indexOf(name) < index)
    return { ...secret, called: name, stores, problem, note: noteOf({ known, mayKeep, stores, host, value }) }
  })
  return {
    list,
    // Until the names are known, an existing secret looks like a new one.
    isValid: list.every(({ problem }) => problem === null) && (list.length === 0 || !vault.loading),
    rename: (secret: string, name: string) => setNames((now) => ({ ...now, [secret]: name })),
    /** For another command. */
    reset: () => {
      setNames({})
      add.reset()
    },
    busy: add.isPending,
    error: add.error,
    /** Stores the values and returns the call with the names chosen for them; null if one was not stored. */
    keep: async (call: ImportedCall): Promise<ImportedCall | null> => {
      try {
        for (const { called, value, stores } of list) {
          if (stores && value !== null && host !== null) await add.mutateAsync({ name: called, value, hosts: [host] })
        }
      } catch {
        return null
      } finally {
        if (list.some(({ stores }) => stores)) await queries.invalidateQueries(trpc.vault.pathFilter())
      }
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
        {secrets.list.map(({ name, called, place, note, problem }) => (
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
            error={problem}
            onChange={(event) => secrets.rename(name, event.currentTarget.value)}
          />
        ))}
      </Stack>
    </Input.Wrapper>
  )
}

function nameProblem(name: string, twice: boolean): string | null {
  if (!SECRET_NAME.test(name)) return 'Start with a letter or _, then use only letters, digits and _'
  if (RESERVED_NAMES.includes(name)) return 'This name is reserved'
  return twice ? 'Another secret has this name' : null
}

function noteOf(of: { known: boolean; mayKeep: boolean; stores: boolean; host: string | null; value: string | null }) {
  if (of.known) return 'The vault has a secret of this name. The tool uses that one.'
  if (of.stores) return `The value goes into the vault, and may be sent only to ${of.host}.`
  if (!of.mayKeep) return 'Ask an admin to put it into the vault under this name.'
  if (of.value !== null && of.value.trim().length < MIN_SECRET)
    return `The value is shorter than the ${MIN_SECRET} characters that the vault takes. Put another one into the vault.`
  return 'Put it into the vault under this name.'
}

function hostOf(url: string): string | null {
  return /^https?:\/\/([^/?#\s$]+)/i.exec(url)?.[1]?.toLowerCase() ?? null
}
