import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { listWorkflowVersions } from '../../workflows/list-versions'
import { WORKFLOW } from '../../workflows/noun'
import { nameActors } from '../actors'
import { findNotes } from '../versioned'
import { numbersOf } from './numbers'

/**
 * The workflow's versions with the numbers that people see, their authors' names and the notes of their publishers.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function versionHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const { items, total, limit, offset } = await listWorkflowVersions(ctx, input)
  const [name, note, numberOf] = await Promise.all([
    nameActors(
      ctx,
      items.map(({ createdBy }) => createdBy),
    ),
    findNotes(ctx, WORKFLOW, input.id),
    numbersOf(
      ctx,
      items.map(({ id, version }) => ({ workflowId: id, version })),
    ),
  ])
  return {
    items: items.map((item) => ({
      ...item,
      /** Null for a draft. */
      number: numberOf(item.id, item.version),
      createdByName: name(item.createdBy)?.name ?? item.createdBy,
      note: note(item.version),
    })),
    total,
    limit,
    offset,
  }
}
export type VersionHistoryItem = Awaited<ReturnType<typeof versionHistory>>['items'][number]
