import { and, eq, isNull, lt, or } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { countRefusal, countRequest } from '../auth/limits'
import { type ServiceContext, type Sweep, systemContext, withTransaction } from '../context'
import type { Sent } from '../definition/inbound'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { isId } from '../ids'
import { requireRoom } from '../runs/queue-room'
import { type Content, decodeBody, keptParts, mediaType, sentOf } from './content'
import { type Decision, decide, holdInbound } from './decide'
import type { InboundRow } from './find'
import { deliveryKeyOf, takeDelivery } from './once'
import { schemes } from './schemes/registry'
import { type Signed, textIn } from './schemes/scheme'
import { openSecrets } from './secrets'

/** The minimum time between two stored refusals of an inbound webhook. */
const NOTE_EVERY_MS = 10_000

interface Arrival {
  /** The last part of the address. */
  hookId: string
  headers: Headers
  query: Sent['query']
  readBytes: () => Promise<Uint8Array>
}

export type Received =
  /** Slack verifies the address. */
  | { challenge: string }
  | {
      outcome: 'started' | 'filtered' | 'duplicate'
      runId: string | null
      deliveryId: string
      /** Slack shows people the response to a command or a button. */
      silent: boolean
    }

/**
 * Receives a delivery from another system: verifies the signature, and starts at most one run for it. An impostor
 * learns nothing and leaves no row.
 * @throws AppError NOT_FOUND, UNAUTHORIZED, CONFLICT while it is paused, PAYLOAD_TOO_LARGE, RATE_LIMITED, UNAVAILABLE,
 * and the errors of a start
 */
export async function receiveDelivery(base: Sweep & { requestId: string }, arrival: Arrival): Promise<Received> {
  const webhook = await findByToken(base, arrival)
  const ctx = systemContext({ ...base, tenantId: webhook.tenantId }, webhook.id)
  requireRoom(ctx.tenantId)
  const request = { headers: arrival.headers, bytes: await arrival.readBytes() }
  const refusal = refusalOf(ctx, webhook, request)
  if (refusal !== null) {
    await noteRefusal(ctx, webhook, refusal)
    await countRefusal('hooks', arrival.headers, base.db, base.now())
    throw new AppError('UNAUTHORIZED')
  }
  if (!webhook.enabled) throw new AppError('CONFLICT', { message: 'The inbound webhook is paused' })
  const { tenantId, actor } = ctx
  await countRequest({ tenantId, actor, trusted: null }, 'starts', base.db, base.now())
  return accept(ctx, webhook, request, arrival.query).catch(async (err: unknown) => {
    if (err instanceof AppError && err.code === 'INVALID_INPUT' && err.details[0])
      await noteRefusal(ctx, webhook, err.details[0].message)
    throw err
  })
}

async function findByToken(base: Sweep, { hookId, headers }: Arrival): Promise<InboundRow> {
  const query = base.db.select().from(inboundWebhooks).where(eq(inboundWebhooks.token, hookId))
  const [row] = isId(hookId) ? await query : []
  if (row) return row
  await countRefusal('hooks', headers, base.db, base.now())
  throw new AppError('NOT_FOUND')
}

function refusalOf(ctx: ServiceContext, webhook: InboundRow, request: Signed): string | null {
  const secrets = openSecrets(ctx, webhook)
  if (webhook.scheme !== 'none' && secrets.length === 0) return 'It has no secret yet.'
  return schemes[webhook.scheme].refusal(request, secrets, ctx.now(), webhook)
}

async function accept(
  ctx: ServiceContext,
  webhook: InboundRow,
  request: Signed,
  query: Sent['query'],
): Promise<Received> {
  const body = decodeBody(request.bytes)
  const contentType = (request.headers.get('content-type') ?? guessedType(body)).slice(0, 200)
  const content: Content = { contentType, body, ...keptParts(request.headers, query, webhook.signatureHeader) }
  const sent = sentOf(content)
  if (webhook.scheme === 'slack' && isJsonObject(sent.body) && sent.body.type === 'url_verification') {
    const challenge = textIn(sent.body, 'challenge')
    if (challenge !== null) return { challenge }
  }
  const silent = webhook.scheme === 'slack' && mediaType(contentType) !== 'application/json'
  const key = deliveryKeyOf(webhook, request, sent.query)
  const done = await withTransaction(ctx, async (tx) => {
    await holdInbound(tx, webhook.id)
    const taken = await takeDelivery(tx, webhook.id, content, key)
    if ('known' in taken) return { outcome: 'duplicate' as const, runId: taken.known.runId, deliveryId: taken.known.id }
    const decision = await decide(tx, webhook, taken.id, sent)
    return { ...outcomeOf(decision), deliveryId: taken.id }
  })
  if ('code' in done) throw new AppError(done.code)
  return { ...done, silent }
}

function outcomeOf({ status, runId, code }: Decision) {
  if (status === 'started' || status === 'filtered') return { outcome: status, runId }
  return { code: code ?? ('INVALID_INPUT' as const) }
}

function guessedType(body: string): string {
  return /^\s*[[{]/.test(body) ? 'application/json' : 'text/plain'
}

/** Stores only the last one: a sender who knows the address must not be able to fill the database. */
async function noteRefusal({ db, now, tenantId }: ServiceContext, { id }: InboundRow, refusal: string): Promise<void> {
  const at = now()
  const long = new Date(at.getTime() - NOTE_EVERY_MS)
  await db
    .update(inboundWebhooks)
    .set({ refusedAt: at, refusal })
    .where(
      and(
        eq(inboundWebhooks.tenantId, tenantId),
        eq(inboundWebhooks.id, id),
        or(isNull(inboundWebhooks.refusedAt), lt(inboundWebhooks.refusedAt, long)),
      ),
    )
}
