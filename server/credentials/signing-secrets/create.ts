import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { signingSecrets } from '@/db/schema/secrets'
import { record } from '../../audit/record'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { secretPlace } from '../../auth/jwt'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { seal } from '../../crypto'
import { components } from '../../definition/component'
import { env } from '../../env'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { ROLES, type Role } from '../../roles'
import { requireLimits, SecretLimits } from './limits'

/** Tokens live in end users' browsers, so by default they may run things but change nothing. */
const DEFAULT_ROLE: Role = 'operator'

/** The body of a new signing secret. */
export const CreateSecret = SecretLimits.extend({
  name: z.string().trim().min(1).max(200).describe('For people.'),
  role: z.enum(ROLES).default(DEFAULT_ROLE).describe('What its tokens may do.'),
  // A mistyped limit would lift it.
})
  .strict()
  .register(components, { id: 'CreateSigningSecret' })

/**
 * Creates a signing secret. Only this result contains its value in clear text.
 * @throws AppError INVALID_INPUT, FORBIDDEN if a non-owner gives it more than the default role
 */
export async function createSigningSecret(
  ctx: ServiceContext,
  input: unknown,
  /** Not for callers: the secret that this one replaces. */
  replaced: { rotatedFrom?: string } = {},
): Promise<{ id: string; secret: string; audience: string; tenantId: string; role: Role }> {
  authorize(ctx, 'secret:manage')
  const { name, role, ...limits } = parseInput(CreateSecret, input)
  if (ROLES.indexOf(role) > ROLES.indexOf(DEFAULT_ROLE)) authorize(ctx, 'secret:raise-role')
  refuseRoleAboveOwn(ctx, role)
  // The limits of the replaced one were checked. Their objects may be gone, which must not block replacing a leaked
  // secret.
  if (replaced.rotatedFrom === undefined) await requireLimits(ctx, limits, role)
  const { tenantId } = ctx
  const id = newId('sec')
  const secret = randomBytes(32).toString('base64url')
  await withTransaction(ctx, async (tx) => {
    await tx.db.insert(signingSecrets).values({
      tenantId,
      id,
      name,
      role,
      ...limits,
      sealed: seal(secret, secretPlace(tenantId, id)),
      createdBy: tx.actor.id,
      createdAt: tx.now(),
      rotatedFrom: replaced.rotatedFrom ?? null,
    })
    // A rotation is one change, of the old secret.
    if (replaced.rotatedFrom === undefined) await record(tx, 'signingSecret.created', { id, name }, { role, ...limits })
  })
  return { id, secret, audience: env().jwtAudience, tenantId, role }
}
