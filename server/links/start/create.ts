import { and, eq, gt, isNull } from 'drizzle-orm'
import { startLinks } from '@/db/schema/start-links'
import { record } from '../../audit/record'
import { authorize, refuseLimited } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { AppError, ImpossibleState } from '../../errors'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { tenantMasker } from '../../vault/masker'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { endOf, makerOf } from '../maker'
import { signStartLink } from '../token'
import { presentStartLink } from './present'
import { CreateStartLink } from './schema'

/** Of one workflow, that still work: more is a mistake, such as a new link for every customer. */
const MAX_LINKS = 100

/**
 * Makes a link with which anybody starts the published version of one workflow, without signing in. It passes on only
 * its maker's right to start it, so anybody who may start runs may make one, unless their token is limited: links would
 * multiply the starts of one subject.
 * @param input.origin the public address of the service
 * @throws AppError FORBIDDEN, WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function createStartLink(
  ctx: ServiceContext,
  input: { workflowId: string; body: unknown; origin: string },
) {
  authorize(ctx, 'run:start')
  refuseLimited(ctx)
  return withTransaction(ctx, async (tx) => {
    const workflow = await findRow(tx, WORKFLOW, input.workflowId, { lock: true })
    const { label, expiresIn } = parseInput(CreateStartLink, input.body ?? {})
    if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    if (workflow.publishedVersion === null) throw new AppError('CONFLICT', { message: 'The workflow is not published' })
    const now = tx.now()
    const working = and(
      ...[eq(startLinks.tenantId, tx.tenantId), eq(startLinks.workflowId, workflow.id)],
      ...[isNull(startLinks.revokedAt), gt(startLinks.expiresAt, now)],
    )
    if ((await tx.db.$count(startLinks, working)) >= MAX_LINKS)
      throw new AppError('CONFLICT', { message: `A workflow has at most ${MAX_LINKS} start links that work` })
    const [link] = await tx.db
      .insert(startLinks)
      .values({
        ...{ tenantId: tx.tenantId, id: newId('stl'), workflowId: workflow.id, label: label ?? null },
        ...makerOf(tx),
        ...{ createdAt: now, expiresAt: endOf(tx, expiresIn) },
      })
      .returning()
    if (!link) throw new ImpossibleState('link-not-inserted', workflow.id)
    const details = { link: link.id, ...(label ? { label } : {}), expiresAt: link.expiresAt.toISOString() }
    await record(tx, 'workflow.startLinkMade', { id: workflow.id, name: workflow.name }, details)
    const made = presentStartLink({ ...link, starts: 0, makerMayStart: true }, await tenantMasker(tx))
    return { ...made, url: `${input.origin}/public/start#${await signStartLink(link)}` }
  })
}
