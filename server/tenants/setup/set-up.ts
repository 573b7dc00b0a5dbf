import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { members } from '@/db/schema/members'
import { record } from '../../audit/record'
import { Email, insertUser, NewPassword, PersonName } from '../../auth/new-user'
import { hashPassword } from '../../auth/password'
import type { Visitor } from '../../auth/visitor'
import { systemContext, withTransaction } from '../../context'
import { env } from '../../env'
import { AppError } from '../../errors'
import { addressOf } from '../../http/address'
import { countAttempt } from '../../http/rate-limit'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { loadSamples } from '../boot/seed'
import { createTenant } from '../create'
import { renameTenant } from '../rename'
import { archiveSamples } from './archive-samples'
import { isLocalRequest } from './local'
import { firstTenant, requireNoOwner } from './state'
import { forgetSetupToken, isSetupToken, setupToken } from './token'

const SetUp = z.object({
  name: PersonName,
  email: Email,
  password: NewPassword,
  workspace: z.string().trim().min(1, 'is needed').max(100),
  samples: z.boolean().default(true),
  token: z.string().max(500).optional(),
})
export type SetUpInput = z.input<typeof SetUp>

/** Any number works, as long as every process uses the same one. */
const SETUP_LOCK = 7_305_002

/**
 * Creates the first owner. They get the tenant of the first boot with its keys and content, or a new one without it. Of
 * several concurrent attempts, one succeeds.
 * @throws AppError NOT_FOUND once an owner exists, INVALID_INPUT, FORBIDDEN, RATE_LIMITED, CONFLICT
 */
export async function setUp(visitor: Visitor, input: unknown): Promise<{ slug: string; email: string }> {
  await requireNoOwner(visitor.db)
  const { name, email, password, workspace, samples, token } = parseInput(SetUp, input)
  await requireSetupToken(visitor, token)
  // Before the transaction, because hashing takes a tenth of a second.
  const passwordHash = await hashPassword(password)
  const base = { db: visitor.db, log: visitor.log, now: visitor.now, requestId: visitor.requestId }
  const made = await withTransaction(systemContext({ ...base, tenantId: newId('ten') }, 'setup'), async (fresh) => {
    await fresh.db.execute(sql`select pg_advisory_xact_lock(${SETUP_LOCK})`)
    await requireNoOwner(fresh.db)
    const existing = await firstTenant(fresh.db)
    const tx = existing ? { ...fresh, tenantId: existing.id } : fresh
    const user = { email, name, passwordHash, addressProvenAt: tx.now() }
    const userId = await insertUser(tx.db, user, tx.now())
    if (userId === null) {
      const details = [{ path: 'email', message: 'This address is already in use' }]
      throw new AppError('CONFLICT', { message: 'This address is already in use', details })
    }
    const { slug } = existing ? await renameTenant(tx, workspace) : await createTenant(tx, { name: workspace })
    const owner = { tenantId: tx.tenantId, userId, role: 'owner' as const, createdAt: tx.now() }
    await tx.db.insert(members).values(owner)
    await record(tx, 'member.added', { id: userId, name: email }, { role: owner.role })
    if (!existing && samples) await loadSamples(tx)
    if (existing && !samples) await archiveSamples(tx)
    return { slug, email }
  })
  forgetSetupToken()
  visitor.log.info({ slug: made.slug }, 'created the first owner')
  return made
}

/** @throws AppError FORBIDDEN, RATE_LIMITED */
async function requireSetupToken({ headers, db, now }: Visitor, given: string | undefined): Promise<void> {
  if (isLocalRequest(headers)) return
  await countAttempt(`setup:${addressOf(headers, env().TRUST_PROXY)}`, db, now())
  const expected = setupToken()
  if (expected === null) {
    const message = 'Set SETUP_TOKEN in the environment first: the person who enters it becomes the owner.'
    throw new AppError('FORBIDDEN', { details: [{ path: 'token', message }] })
  }
  if (given && isSetupToken(given, expected)) return
  const message = given ? 'This is not the setup token' : 'The setup token is required'
  throw new AppError('FORBIDDEN', { details: [{ path: 'token', message }] })
}
