import { asc, eq } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { members } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import { workflows } from '@/db/schema/workflows'
import { slugCandidates } from '@/lib/slug'
import type { Visitor } from '../../auth/visitor'
import { AppError } from '../../errors'
import { takenBy } from '../rename'
import { isLocalRequest } from './local'

/** True once any tenant has an owner: setup is done from then on. */
export async function hasOwner(db: Db | Tx): Promise<boolean> {
  const rows = await db.select({ userId: members.userId }).from(members).where(eq(members.role, 'owner')).limit(1)
  return rows.length > 0
}

export interface SetupState {
  tokenRequired: boolean
  /** Whether the tenant to claim already has the samples. */
  hasSamples: boolean
}

/** @throws AppError NOT_FOUND once an owner exists */
export async function getSetupState({ db, headers }: Pick<Visitor, 'db' | 'headers'>): Promise<SetupState> {
  await requireNoOwner(db)
  const tenant = await firstTenant(db)
  const [any] = tenant
    ? await db.select({ id: workflows.id }).from(workflows).where(eq(workflows.tenantId, tenant.id)).limit(1)
    : []
  return { tokenRequired: !isLocalRequest(headers), hasSamples: any !== undefined }
}

/**
 * The slug a workspace with this name would get.
 * @throws AppError NOT_FOUND once an owner exists
 */
export async function previewSlug({ db }: Pick<Visitor, 'db'>, input: { name: string }): Promise<{ slug: string }> {
  await requireNoOwner(db)
  const own = await firstTenant(db)
  for (const slug of slugCandidates(String(input.name).slice(0, 200))) {
    const owner = await takenBy(db, slug)
    if (owner === null || owner === own?.id) return { slug }
  }
  throw new AppError('NOT_FOUND')
}

/** The tenant created at the first boot. */
export async function firstTenant(db: Db | Tx): Promise<{ id: string } | undefined> {
  const [tenant] = await db
    .select({ id: tenants.id })
    .from(tenants)
    .orderBy(asc(tenants.createdAt), asc(tenants.id))
    .limit(1)
  return tenant
}

/** @throws AppError NOT_FOUND */
export async function requireNoOwner(db: Db | Tx): Promise<void> {
  if (await hasOwner(db)) throw new AppError('NOT_FOUND', { message: 'This service is already set up' })
}
