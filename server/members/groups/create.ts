import { eq } from 'drizzle-orm'
import { groups } from '@/db/schema/groups'
import { record } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { getTenant } from '../../tenants/find'
import { type Group, requireGroup, setMembers, takeName } from './find'
import { CreateGroup } from './schema'

const MAX_GROUPS = 100

/**
 * Creates a group.
 * @throws AppError INVALID_INPUT, CONFLICT for a name that another group has
 */
export async function createGroup(ctx: ServiceContext, input: unknown): Promise<Group> {
  authorize(ctx, 'member:manage')
  const { name, memberIds } = parseInput(CreateGroup, input)
  return withTransaction(ctx, async (tx) => {
    const { tenantId } = tx
    await getTenant(tx, { lock: true })
    if ((await tx.db.$count(groups, eq(groups.tenantId, tenantId))) >= MAX_GROUPS)
      throw new AppError('CONFLICT', { message: `A workspace has at most ${MAX_GROUPS} groups` })
    const id = newId('grp')
    const key = await takeName(tx, name, id)
    const at = tx.now()
    await tx.db.insert(groups).values({ tenantId, id, name, key, createdAt: at, updatedAt: at })
    const emails = await setMembers(tx, id, memberIds)
    await record(tx, 'group.created', { id, name }, { members: emails })
    return requireGroup(tx, id)
  })
}
