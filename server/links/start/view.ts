import type { Fields } from '../../definition/schema'
import { directLimit } from '../../files/direct/limits'
import { readStartForm } from '../../workflows/start-form'
import { mayStillStart } from '../maker'
import type { FoundStartLink } from './find'

/** The data of a start link's page: nothing of the workspace but the workflow's texts and form. */
export type StartLinkView =
  /** `closed`: the workflow is archived. */
  | { state: 'unknown' | 'revoked' | 'expired' | 'closed' }
  | {
      state: 'open'
      title: string
      description: string
      fields: Fields
      expiresAt: string
      /** The largest file that the page may upload before it sends the form, in bytes. Null if only with the form. */
      uploadLimit: number | null
    }
  | { state: 'started'; title: string; at: string }

/** Reading it starts nothing, however often anybody opens the link. */
export async function viewOfStart({ ctx, link }: FoundStartLink): Promise<StartLinkView> {
  if (link.revokedAt) return { state: 'revoked' }
  if (link.expiresAt <= ctx.now()) return { state: 'expired' }
  if (!(await mayStillStart(ctx, link))) return { state: 'revoked' }
  const form = await readStartForm(ctx, link.workflowId)
  if (form.state !== 'open') return { state: 'closed' }
  const { name: title, description, fields } = form
  const expiresAt = link.expiresAt.toISOString()
  return { state: 'open', title, description, fields, expiresAt, uploadLimit: directLimit() }
}
