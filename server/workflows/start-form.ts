import type { ServiceContext } from '../context'
import type { Fields } from '../definition/schema'
import { withoutPresets } from '../definition/sensitive'
import { tenantMasker } from '../vault/masker'
import { findRow, findVersion } from '../versioned/rows'
import { WORKFLOW } from './noun'

/** A workflow as shown to the people who start it. */
export type StartForm =
  | { state: 'unpublished' | 'archived'; name: string }
  | {
      state: 'open'
      name: string
      description: string
      /** The START fields, without the defaults of secret and sensitive ones. */
      fields: Fields
      /** The published version's number. */
      number: number | null
    }

/**
 * The form of a workflow's published version. The caller has authorized.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readStartForm(ctx: ServiceContext, id: string): Promise<StartForm> {
  const [row, masker] = await Promise.all([findRow(ctx, WORKFLOW, id), tenantMasker(ctx)])
  if (row.status === 'archived') return { state: 'archived', name: masker.text(row.name) }
  if (row.publishedVersion === null) return { state: 'unpublished', name: masker.text(row.name) }
  const version = await findVersion(ctx, WORKFLOW, row, row.publishedVersion)
  const { name, description, payload } = WORKFLOW.contentOf(version)
  return {
    state: 'open',
    name: masker.text(name),
    description: masker.text(description),
    fields: masker.json(withoutPresets(payload)),
    number: version.number,
  }
}
