import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { compareRoles, type Role } from '../roles'

/**
 * Who may give out a role or manage members who have it: admins for roles below theirs, owners for all.
 * @throws AppError FORBIDDEN
 */
export function authorizeMembersOf(ctx: ServiceContext, role: Role): void {
  authorize(ctx, compareRoles(role, 'admin') >= 0 ? 'member:manage-admin' : 'member:manage')
}
