import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { compareRoles, type Role } from '../roles'

/**
 * Who may give a role to people, or touch those who have it: admins below their own, owners all.
 * @throws AppError FORBIDDEN
 */
export function authorizeMembersOf(ctx: ServiceContext, role: Role): void {
  authorize(ctx, compareRoles(role, 'admin') >= 0 ? 'member:manage-admin' : 'member:manage')
}
