import { and, asc, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { groupMembers, groups } from '@/db/schema/groups'
import { members, users } from '@/db/schema/members'
import type { ServiceContext, TransactionContext } from '../../context'
import { sameGroup } from '../../definition/people'
import { AppError } from '../../errors'
import { isId } from '../../ids'

/** A group as callers see it. */
export interface Group {
  id: string
  name: string
  /** In lower case. */
  earlierNames: string[]
  memberIds: string[]
  createdAt: string
  updatedAt: string
}

/** The tenant's groups, by name, each with its members by address. */
export async function readGroups(ctx: ServiceContext, which?: SQL): Promise<Group[]> {
  const rows = await ctx.db
    .select({
      id: groups.id,
      name: groups.name,
      earlierNames: groups.earlierKeys,
      memberIds: sql<string[]>`coalesce(
        json_agg(${groupMembers.userId} order by ${users.email}) filter (where ${users.id} is not null), '[]')`,
      createdAt: groups.createdAt,
      updatedAt: groups.updatedAt,
    })
    .from(groups)
    .leftJoin(groupMembers, and(eq(groupMembers.tenantId, groups.tenantId), eq(groupMembers.groupId, groups.id)))
    .leftJoin(users, eq(users.id, groupMembers.userId))
    .where(and(eq(groups.tenantId, ctx.tenantId), which))
    .groupBy(groups.tenantId, groups.id)
    .orderBy(asc(groups.key))
  return rows.map(({ createdAt, updatedAt, ...group }) => ({
    ...group,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }))
}

/** @throws AppError NOT_FOUND */
export async function requireGroup(ctx: ServiceContext, id: string): Promise<Group> {
  const [group] = isId(id) ? await readGroups(ctx, eq(groups.id, id)) : []
  if (!group) throw new AppError('NOT_FOUND', { message: 'Not found: no group has this id' })
  return group
}

export function groupIs({ tenantId }: Pick<ServiceContext, 'tenantId'>, id: string): SQL | undefined {
  return and(eq(groups.tenantId, tenantId), eq(groups.id, id))
}

/**
 * Gives a name to a group: no other group answers to it as an earlier name from now on. The caller holds the tenant's
 * lock.
 * @param id the group that may have it
 * @throws AppError CONFLICT if it is the name of another group
 */
export async function takeName(tx: TransactionContext, name: string, id: string): Promise<string> {
  const key = sameGroup(name)
  const others = and(eq(groups.tenantId, tx.tenantId), ne(groups.id, id))
  const [taken] = await tx.db
    .select({ name: groups.name })
    .from(groups)
    .where(and(others, eq(groups.key, key)))
  if (taken) {
    const message = `The group ${taken.name} has this name`
    throw new AppError('CONFLICT', { message, details: [{ path: 'name', message }] })
  }
  await tx.db
    .update(groups)
    .set({ earlierKeys: sql`array_remove(${groups.earlierKeys}, ${key})` })
    .where(and(others, sql`${key} = any(${groups.earlierKeys})`))
  return key
}

/**
 * Sets who is in a group.
 * @returns their addresses, as the audit log names them
 * @throws AppError INVALID_INPUT for an id that is no member's
 */
export async function setMembers(tx: TransactionContext, groupId: string, ids: readonly string[]): Promise<string[]> {
  const { tenantId } = tx
  const found = await lockMembers(tx, ids)
  const emails = new Map(found.map(({ userId, email }) => [userId, email]))
  const details = ids.flatMap((id, index) =>
    emails.has(id) ? [] : [{ path: `memberIds[${index}]`, message: 'No member has this id.' }],
  )
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details: details.slice(0, 20) })
  await tx.db
    .delete(groupMembers)
    .where(and(eq(groupMembers.tenantId, tenantId), eq(groupMembers.groupId, groupId), notIn(ids)))
  if (ids.length > 0) {
    await tx.db
      .insert(groupMembers)
      .values(ids.map((userId) => ({ tenantId, groupId, userId })))
      .onConflictDoNothing()
  }
  return [...emails.values()].sort()
}

/** The addresses of a group's members, as the audit log names them. */
export async function emailsOf(tx: TransactionContext, groupId: string): Promise<string[]> {
  const rows = await tx.db
    .select({ email: users.email })
    .from(groupMembers)
    .innerJoin(users, eq(users.id, groupMembers.userId))
    .where(and(eq(groupMembers.tenantId, tx.tenantId), eq(groupMembers.groupId, groupId)))
  return rows.map(({ email }) => email).sort()
}

function notIn(ids: readonly string[]): SQL | undefined {
  return ids.length === 0 ? undefined : sql`not ${inArray(groupMembers.userId, [...ids])}`
}

/** Those of the ids that are members'. Nobody removes them meanwhile. */
async function lockMembers(tx: TransactionContext, ids: readonly string[]) {
  if (ids.length === 0) return []
  return tx.db
    .select({ userId: members.userId, email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.tenantId, tx.tenantId), inArray(members.userId, ids.filter(isId))))
    .orderBy(members.userId)
    .for('key share', { of: members })
}
