import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Tx } from '@/db/index'
import { startLinkForms, startLinks } from '@/db/schema/start-links'
import type { KeyedRequest } from '../../context'
import { AppError } from '../../errors'
import type { StartedRun } from '../../runs/start'
import { type FoundStartLink, startLinkIs } from './find'

/** When a form started its run; null if it has not. */
export async function startedAt({ ctx, link }: FoundStartLink, formId: string): Promise<Date | null> {
  const [form] = await ctx.db
    .select({ at: startLinkForms.createdAt })
    .from(startLinkForms)
    .where(
      and(
        eq(startLinkForms.tenantId, ctx.tenantId),
        eq(startLinkForms.linkId, link.id),
        eq(startLinkForms.formId, formId),
      ),
    )
  return form?.at ?? null
}

/** Takes a form in the transaction that writes its run: both exist, or neither. */
export class TakenForm implements KeyedRequest {
  readonly outgoingKey: string

  constructor(
    private readonly found: FoundStartLink,
    private readonly formId: string,
  ) {
    this.outgoingKey = `${found.link.id}/${formId}`
  }

  recall(): null {
    return null
  }

  /** @throws AppError CONFLICT if the form has started a run, or if the link has ended meanwhile */
  async remember(tx: Tx, started: StartedRun | null): Promise<void> {
    // The workflow was changed meanwhile, so the start is tried again.
    if (started === null) return
    const { ctx, link } = this.found
    const [working] = await tx
      .select({ id: startLinks.id })
      .from(startLinks)
      .where(and(startLinkIs(ctx, link.id), isNull(startLinks.revokedAt), gt(startLinks.expiresAt, ctx.now())))
      .for('share')
    const { tenantId } = ctx
    const taken = working
      ? await tx
          .insert(startLinkForms)
          .values({ tenantId, linkId: link.id, formId: this.formId, runId: started.runId, createdAt: ctx.now() })
          .onConflictDoNothing()
          .returning({ formId: startLinkForms.formId })
      : []
    if (taken.length === 0) throw new AppError('CONFLICT')
  }

  committed(): void {}

  heldBy(): void {}
}
