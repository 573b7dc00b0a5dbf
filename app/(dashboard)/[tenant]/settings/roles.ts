'use client'
import type { Role } from '@/server/roles'
import { useTenant } from '../tenant-context'

/** From the lowest role to the highest, with their permissions. */
export const ROLES: { value: Role; may: string }[] = [
  { value: 'viewer', may: 'Sees workflows, runs, agents and tools' },
  { value: 'operator', may: 'Starts runs and answers tasks' },
  { value: 'editor', may: 'Changes and publishes workflows, agents and tools' },
  { value: 'admin', may: 'Manages keys, secrets and members' },
  { value: 'owner', may: 'Does everything' },
]

/** A role's permissions beyond the lower ones, in a few words. */
export function mayOf(role: Role): string | undefined {
  return ROLES.find(({ value }) => value === role)?.may
}

/** The roles a user may assign: none above their own. */
export function useRoles(): {
  choices: Role[]
  mayGive(role: string): boolean
} {
  const { role: own } = useTenant()
  const given = ROLES.slice(0, ROLES.findIndex(({ value }) => value === own) + 1)
  return {
    choices: given.map(({ value }) => value),
    mayGive: (role) => given.some(({ value }) => value === role),
  }
}
