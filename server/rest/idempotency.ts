import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { idempotencyKeys } from '@/db/schema/idempotency'
import type { KeyedRequest, ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { MultipartInput, type Upload } from '../http/multipart-input'
import { JsonText } from '../http/respond'

const KEY_LIFETIME_MS = 24 * 3_600_000
const LEASE_MS = 15_000
const PROLONG_MS = 5_000
const REPLAYED = { 'idempotent-replayed': 'true' }
/** Longer than any request takes. */
const PATIENCE_MS = 330_000

interface Answer {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

type Row = typeof idempotencyKeys.$inferSelect

/**
 * Runs a request once per `Idempotency-Key`. A repeated request gets the same response; one that arrives while the
 * first is running waits for it; if the first has died, it continues from the first one's commits. Only successful
 * responses are stored, so a refused request may be corrected and sent again with its key.
 * @param handle can ask for a signal that fires when the caller leaves; with a key it never fires, so that there is a
 * response to store
 * @param options.followsCaller fires the signal nevertheless, and then stores no response
 * @throws AppError INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, CONFLICT
 */
export async function onceForKey(
  ctx: ServiceContext,
  request: Request,
  body: unknown,
  handle: (ctx: ServiceContext, signalOf: () => AbortSignal) => Promise<Answer>,
  { followsCaller = false }: { followsCaller?: boolean | undefined } = {},
): Promise<Answer> {
  const key = request.headers.get('idempotency-key')
  if (key === null) return handle(ctx, () => request.signal)
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    const message = 'Idempotency-Key must have 1 to 255 printable ASCII characters.'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'Idempotency-Key', message }] })
  }
  const url = new URL(request.url)
  const scope = sha256(JSON.stringify([{ ...ctx.actor, role: null }, request.method, url.pathname]))
  const claim = new KeyClaim(ctx, scope, key, hashRequest(url, body))
  const answer = await claim.take(request.signal)
  if (answer) return answer

  const prolong = setInterval(() => claim.prolong(), PROLONG_MS)
  const release = () => releaseKey(ctx, claim).finally(() => clearInterval(prolong))
  const signal = followsCaller ? request.signal : new AbortController().signal
  try {
    const done = await handle({ ...ctx, keyed: claim }, () => signal)
    if (done.body instanceof ReadableStream) {
      void claim.work.then(release)
      return { ...done, headers: { ...done.headers, ...(claim.recalled ? REPLAYED : {}) } }
    }
    // Only final JSON is stored: a run that the caller no longer waits for has no response yet.
    if (done.body instanceof Uint8Array || signal.aborted) {
      await release()
      return done
    }
    const body = new JsonText(JSON.stringify(done.body))
    await claim.complete({ status: done.status ?? 200, headers: done.headers ?? {}, body })
    clearInterval(prolong)
    return { ...done, body }
  } catch (err) {
    await release()
    throw err
  }
}

/** Completed work stays, whether or not the key could be released. */
async function releaseKey(ctx: ServiceContext, claim: KeyClaim): Promise<void> {
  await claim
    .release()
    .catch((err: unknown) =>
      ctx.log.warn({ err }, 'could not release an idempotency key; it stays until its lease ends'),
    )
}

class KeyClaim implements KeyedRequest {
  private readonly owner = randomUUID()
  private effects: string[] = []
  private pending: string[] = []
  private position = 0
  readonly outgoingKey: string
  /** Whether an earlier attempt had already completed a part. */
  recalled = false
  work: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly ctx: ServiceContext,
    private readonly scope: string,
    private readonly key: string,
    private readonly requestHash: string,
  ) {
    this.outgoingKey = sha256(JSON.stringify([ctx.tenantId, scope, key, requestHash]))
  }

  /** Takes the key for this request, or returns an earlier request's response. */
  async take(signal: AbortSignal): Promise<Answer | null> {
    const deadline = performance.now() + PATIENCE_MS
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
      const now = this.ctx.now()
      if (await this.insert(now)) return null
      const [row] = await this.ctx.db.select().from(idempotencyKeys).where(this.isRow())
      if (!row) continue
      if (row.createdAt.getTime() + KEY_LIFETIME_MS <= now.getTime()) {
        await this.ctx.db.delete(idempotencyKeys).where(and(this.isRow(), eq(idempotencyKeys.owner, row.owner)))
        continue
      }
      if (row.requestHash !== this.requestHash) throw new AppError('IDEMPOTENCY_KEY_REUSED')
      if (row.state === 'done') return answerOf(row)
      if (row.leasedUntil <= now && (await this.takeOver(row, now))) return null
      if (signal.aborted || performance.now() > deadline) {
        throw new AppError('CONFLICT', { message: 'A request with this idempotency key is still in progress' })
      }
      await sleep(waitMs)
    }
  }

  recall<T>(): { result: T } | null {
    const known = this.effects[this.position]
    if (known === undefined) return null
    this.position += 1
    this.recalled = true
    return { result: deserialize(Buffer.from(known, 'base64')) }
  }

  doneBefore(): void {
    this.recalled = true
  }

  async remember(tx: Tx, result: unknown): Promise<void> {
    // Not JSON: a verb may return dates and undefined, and must get back exactly what it returned.
    const effects = [...this.effects, serialize(result).toString('base64')]
    const kept = await tx
      .update(idempotencyKeys)
      .set({ effects })
      .where(this.isMine())
      .returning({ key: idempotencyKeys.key })
    if (kept.length === 0) {
      throw new AppError('CONFLICT', { message: 'Another request with this idempotency key has taken over' })
    }
    this.pending = effects
  }

  committed(): void {
    this.effects = this.pending
    this.position = this.effects.length
  }

  heldBy(work: Promise<unknown>): void {
    this.work = work.catch(() => {})
  }

  prolong(): void {
    this.ctx.db
      .update(idempotencyKeys)
      .set({ leasedUntil: this.lease() })
      .where(this.isMine())
      .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not extend the lease of an idempotency key'))
  }

  async complete(answer: { status: number; headers: Record<string, string>; body: JsonText }): Promise<void> {
    const { status, headers, body } = answer
    await this.ctx.db
      .update(idempotencyKeys)
      .set({ state: 'done', status, headers, body: body.text, effects: [] })
      .where(this.isMine())
  }

  /** Releases the key. If nothing was committed, it is deleted; otherwise the next request continues from there. */
  async release(): Promise<void> {
    const { db } = this.ctx
    // The row knows what was committed; this process may not, if the connection broke at that moment.
    await db.delete(idempotencyKeys).where(and(this.isMine(), sql`${idempotencyKeys.effects} = '[]'::jsonb`))
    await db.update(idempotencyKeys).set({ leasedUntil: this.ctx.now() }).where(this.isMine())
  }

  private async insert(now: Date): Promise<boolean> {
    const inserted = await this.ctx.db
      .insert(idempotencyKeys)
      .values({
        tenantId: this.ctx.tenantId,
        scope: this.scope,
        key: this.key,
        subject: this.ctx.actor.kind === 'jwt' ? this.ctx.actor.id : null,
        requestHash: this.requestHash,
        state: 'working',
        owner: this.owner,
        leasedUntil: this.lease(),
        effects: [],
        createdAt: now,
      })
      .onConflictDoNothing()
      .returning({ key: idempotencyKeys.key })
    return inserted.length > 0
  }

  private async takeOver(row: Row, now: Date): Promise<boolean> {
    const [taken] = await this.ctx.db
      .update(idempotencyKeys)
      .set({ owner: this.owner, leasedUntil: this.lease() })
      .where(and(this.isRow(), eq(idempotencyKeys.owner, row.owner), lte(idempotencyKeys.leasedUntil, now)))
      .returning({ effects: idempotencyKeys.effects })
    if (!taken) return false
    this.effects = taken.effects
    return true
  }

  private lease(): Date {
    return new Date(this.ctx.now().getTime() + LEASE_MS)
  }

  private isRow() {
    return and(
      eq(idempotencyKeys.tenantId, this.ctx.tenantId),
      eq(idempotencyKeys.scope, this.scope),
      eq(idempotencyKeys.key, this.key),
    )
  }

  private isMine() {
    return and(this.isRow(), eq(idempotencyKeys.owner, this.owner), eq(idempotencyKeys.state, 'working'))
  }
}

function answerOf({ status, headers, body }: Row): Answer {
  return {
    status: status ?? 200,
    headers: { ...headers, ...REPLAYED },
    body: new JsonText(body ?? 'null'),
  }
}

/** Two requests are equal if query and body are, regardless of the order of their names. */
function hashRequest(url: URL, body: unknown): string {
  const query = [...url.searchParams].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const content =
    body instanceof MultipartInput
      ? [
          [...body.texts].sort(([a], [b]) => (a < b ? -1 : 1)),
          body.file && hashed(body.file),
          // Only if there are some: keys of earlier releases stay valid.
          ...body.named.map(({ part, upload }) => [part, ...hashed(upload)]),
        ]
      : sorted(body)
  return sha256(JSON.stringify([query, content]))
}

function hashed({ name, type, bytes }: Upload): string[] {
  return [name, type, createHash('sha256').update(bytes).digest('hex')]
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, sorted(item)])
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Deletes expired keys.
 * @returns how many
 */
export async function sweepIdempotencyKeys(db: Db, now: Date): Promise<number> {
  const gone = await db
    .delete(idempotencyKeys)
    .where(lte(idempotencyKeys.createdAt, new Date(now.getTime() - KEY_LIFETIME_MS)))
    .returning({ key: idempotencyKeys.key })
  return gone.length
}
