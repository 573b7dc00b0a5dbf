import { sql } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { listVersions } from '../../versioned/list-versions'
import type { One } from '../../versioned/noun'
import { presentVersionItem } from '../../versioned/present'
import { WORKFLOW } from '../../workflows/noun'
import { nameActors } from '../actors'
import { findNotes } from '../versioned'

/**
 * The workflow's versions with their numbers as shown to people, authors' names and publishing notes.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function versionHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  authorize(ctx, 'workflow:read')
  const { row, versions, ...page } = await listVersions(ctx, WORKFLOW, input, {
    column: sql<number | null>`${workflowVersions.number}`,
  })
  const [name, note] = await Promise.all([
    nameActors(
      ctx,
      versions.map(({ createdBy }) => createdBy),
    ),
    findNotes(ctx, WORKFLOW, input.id),
  ])
  return {
    items: versions.map(({ column: number, ...version }) => ({
      ...presentVersionItem(version, row),
      /** Null for a draft. */
      number,
      createdByName: name(version.createdBy)?.name ?? version.createdBy,
      note: note(version.version),
    })),
    ...page,
  }
}
export type VersionHistoryItem = Awaited<ReturnType<typeof versionHistory>>['items'][number]
