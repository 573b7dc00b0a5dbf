'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { useTenant } from '../tenant-context'

/** The names in the vault. Empty for roles that may not see them; they can still type one. */
export function useSecretNames(): string[] {
  const trpc = useTRPC()
  const { may } = useTenant()
  const { data } = useQuery({ ...trpc.vault.list.queryOptions(), enabled: may('secret:manage'), retry: false })
  return (data ?? []).map(({ name }) => name)
}
