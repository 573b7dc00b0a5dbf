'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { useTenant } from '../tenant-context'

/** The names in the vault. Empty for roles that may not see them; they can still type one. */
export function useSecretNames(): string[] {
  return useVaultNames().names ?? []
}

/** The names in the vault; null while they are not loaded, which may never happen. */
export function useVaultNames(): { names: string[] | null; loading: boolean } {
  const trpc = useTRPC()
  const { may } = useTenant()
  const { data, isLoading } = useQuery({
    ...trpc.vault.list.queryOptions(),
    enabled: may('secret:manage'),
    retry: false,
  })
  return { names: data?.map(({ name }) => name) ?? null, loading: isLoading }
}
