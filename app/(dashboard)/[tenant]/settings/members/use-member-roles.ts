import { useTenant } from '../../tenant-context'
import { ROLES } from '../roles'

/** The roles whose members a user may manage: admins those below admin, owners all. The server checks again. */
export function useMemberRoles() {
  const { may } = useTenant()
  const given = ROLES.filter(({ value }) =>
    may(value === 'admin' || value === 'owner' ? 'member:manage-admin' : 'member:manage'),
  )
  return {
    choices: given.map(({ value }) => value),
    manages: (role: string) => given.some(({ value }) => value === role),
  }
}
