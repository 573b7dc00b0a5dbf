import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { sensitiveFields } from '../definition/sensitive'
import { AppError } from '../errors'
import { callerMaskerOf } from '../runs/run-masker'
import { hidingMasker, type RunMasker } from '../vault/hide'
import { findWhole } from '../versioned/row-at'
import { WORKFLOW } from '../workflows/noun'
import { type Content, sentOf } from './content'
import type { InboundRow } from './find'
import { mapToStart } from './map'

/**
 * A masker for a delivery as shown to the caller. Hides values that feed, or would feed, a sensitive field of START, as
 * in the run, under any name in the delivery.
 */
export async function contentMasker(
  ctx: ServiceContext,
  webhook: InboundRow,
  { runId, content }: { runId: string | null; content: Content | null },
): Promise<RunMasker> {
  const masker = await callerMaskerOf(ctx, runId)
  if (content === null || !seesHidden(ctx)) return masker
  const { content: definition } = await findWhole(ctx, WORKFLOW, webhook.workflowId, 'started')
  const hides = new Set([...masker.hides, ...sensitiveFields(definition)])
  if (hides.size === 0) return masker
  return hidingMasker(masker, hides, [mapToStart(webhook, definition.payload, sentOf(content)).data])
}

/** The body as sent, or as JSON without the hidden values. */
export function maskedBody(content: Content, masker: RunMasker): string {
  if (masker.hides.size === 0) return masker.text(content.body)
  try {
    const { body } = sentOf(content)
    return typeof body === 'string' ? masker.text(body) : JSON.stringify(masker.json(body))
  } catch (err) {
    if (err instanceof AppError) return masker.text(content.body)
    throw err
  }
}
