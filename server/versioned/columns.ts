import type { ServiceContext } from '../context'

/** The most rows of one answer; what a list without `limit` gives. */
export const LIST_CAP = 1000

/** What workflows, agents and tools have in common: one row each, and a row for every version. */
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

/** Of something new: a draft, with its first version. */
export function firstDraft({ tenantId, actor, now }: ServiceContext) {
  const at = now()
  return {
    tenantId,
    status: 'draft' as const,
    version: 1,
    createdBy: actor.id,
    updatedBy: actor.id,
    createdAt: at,
    updatedAt: at,
  }
}

/** Of something whose newest version goes live. */
export function goneLive({ actor, now }: ServiceContext, version: number) {
  const at = now()
  return {
    status: 'published' as const,
    publishedVersion: version,
    publishedAt: at,
    updatedAt: at,
    updatedBy: actor.id,
  }
}

/** What becomes of something that goes out of use, or comes back; `as before` undoes an archiving. */
export type ArchiveTo = 'archived' | 'draft' | 'as before'

/** @returns null when it is there already */
export function archived({ actor, now }: ServiceContext, row: VersionedRow, to: ArchiveTo) {
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
