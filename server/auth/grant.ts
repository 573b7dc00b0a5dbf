import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { ROLES, type Role } from '../roles'

/**
 * Nobody may grant a role above their own.
 * @throws AppError FORBIDDEN
 */
export function refuseRoleAboveOwn(ctx: ServiceContext, role: Role): void {
  if (ROLES.indexOf(role) <= ROLES.indexOf(ctx.actor.role)) return
  throw new AppError('FORBIDDEN', {
    details: [{ path: 'role', message: `You cannot give a role above your own (${ctx.actor.role}).` }],
  })
}
