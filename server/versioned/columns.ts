import type { ServiceContext } from '../context'

/** The maximum rows of an answer, and the default without `limit`. */
export const LIST_CAP = 1000

/** The columns workflows, agents and tools share: one row each, plus one row per version. */
export interface VersionedRow {
  id: string
  name: string
  description: string
  status: 'draft' | 'published' | 'archived'
  version: number
  publishedVersion: number | null
  publishedAt: Date | null
  archivedAt: Date | null
  createdBy: string
  updatedBy: string
  createdAt: Date
  updatedAt: Date
}

/** Column values for a new draft and its first version. */
export function draftColumns({ tenantId, actor, now }: ServiceContext, version = 1) {
  const at = now()
  return {
    tenantId,
    status: 'draft' as const,
    version,
    createdBy: actor.id,
    updatedBy: actor.id,
    createdAt: at,
    updatedAt: at,
  }
}

/** Column values after publishing the newest version. */
export function publishColumns({ actor, now }: ServiceContext, version: number) {
  const at = now()
  return {
    status: 'published' as const,
    publishedVersion: version,
    publishedAt: at,
    updatedAt: at,
    updatedBy: actor.id,
  }
}

/** The status to change to; `as before` undoes an archive. */
export type ArchiveTo = 'archived' | 'draft' | 'as before'

/** @returns null if it already has that status */
export function archiveColumns({ actor, now }: ServiceContext, row: VersionedRow, to: ArchiveTo) {
  if ((row.status === 'archived') === (to === 'archived')) return null
  const at = now()
  const before = row.publishedVersion === null ? ('draft' as const) : ('published' as const)
  return {
    status: to === 'as before' ? before : to,
    archivedAt: to === 'archived' ? at : null,
    updatedAt: at,
    updatedBy: actor.id,
  }
}
