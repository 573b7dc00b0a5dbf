'use client'
import type { Role } from '@/server/roles'
import { useTenant } from '../tenant-context'

/** From the lowest role to the highest, with what each may do. */
export const ROLES: { value: Role; may: string }[] = [
  { value: 'viewer', may: 'reads' },
  { value: 'operator', may: 'starts runs and answers them' },
  { value: 'editor', may: 'changes and publishes workflows, agents and tools' },
  { value: 'admin', may: 'manages keys, secrets and members' },
  { value: 'owner', may: 'does everything' },
]

/** The roles a person may give: none above their own. */
export function useRoles(): {
  choices: { value: Role; label: string }[]
  mayGive(role: string): boolean
} {
  const { role: own } = useTenant()
  const given = ROLES.slice(0, ROLES.findIndex(({ value }) => value === own) + 1)
  return {
    choices: given.map(({ value, may }) => ({ value, label: `${value}: ${may}` })),
    mayGive: (role) => given.some(({ value }) => value === role),
  }
}
