import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { checkHealth, type Health } from '../../host/health'

/** For people who can act on it. */
export async function readHealth(ctx: ServiceContext): Promise<Health> {
  authorize(ctx, 'settings:manage')
  return checkHealth()
}
