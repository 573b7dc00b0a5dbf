import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { members, users } from '@/db/schema/members'
import { record } from '../audit/record'
import { Email, insertUser, proveAddress } from '../auth/new-user'
import { generatePassword, hashPassword } from '../auth/password'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { ROLES, type Role } from '../roles'
import { getTenant } from '../tenants/find'
import { authorizeMembersOf } from './manage'

const CreateMember = z.object({
  email: Email,
  name: z.string().trim().min(1).max(200).optional(),
  role: z.enum(ROLES),
  password: z.string().min(10).max(200).optional(),
})

interface CreatedMember {
  userId: string
  tenantId: string
  email: string
  role: Role
  /** Shown once; null if they have a password. */
  password: string | null
}

/**
 * Makes a person a member of the caller's tenant, and creates a user if the address is new. A person who can already
 * sign in, perhaps to another tenant, keeps their password: this tenant may not change it. The exception is an unproven
 * address: its password may be an impostor's, so it is replaced and its sessions end.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN, CONFLICT
 */
export async function createMember(ctx: ServiceContext, input: unknown): Promise<CreatedMember> {
  authorize(ctx, 'member:manage')
  const { email, name = email, role, password = generatePassword() } = parseInput(CreateMember, input)
  authorizeMembersOf(ctx, role)
  const chosen = isJsonObject(input) && input.password !== undefined
  // Before the transaction, because hashing takes a tenth of a second.
  const passwordHash = await hashPassword(password)
  return withTransaction(ctx, async (tx) => {
    await getTenant(tx)
    const { userId, isNew } = await findOrCreateUser(tx, { email, name, passwordHash })
    if (!isNew && chosen) {
      throw new AppError('CONFLICT', { message: 'A person with this address already exists and keeps their password' })
    }
    const { tenantId } = tx
    const rows = await tx.db
      .insert(members)
      .values({ tenantId, userId, role, createdAt: tx.now() })
      .onConflictDoNothing()
      .returning()
    if (rows.length === 0) throw new AppError('CONFLICT', { message: 'Already a member' })
    await record(tx, 'member.added', { id: userId, name: email }, { role })
    return { userId, tenantId, email, role, password: isNew ? password : null }
  })
}

/**
 * Only the command line calls this, so the operator vouches for the address.
 * @returns isNew if the given password is the user's from now on
 */
async function findOrCreateUser(tx: TransactionContext, user: { email: string; name: string; passwordHash: string }) {
  const userId = await insertUser(tx.db, { ...user, addressProvenAt: tx.now() }, tx.now())
  if (userId) return { userId, isNew: true }
  const [existing] = await tx.db.select().from(users).where(eq(users.email, user.email)).for('update')
  if (!existing) throw new AppError('CONFLICT', { message: 'This address was freed just now; try again' })
  if (existing.addressProvenAt !== null) return { userId: existing.id, isNew: false }
  await proveAddress(tx.db, existing.id, user.passwordHash, tx.now())
  return { userId: existing.id, isNew: true }
}
