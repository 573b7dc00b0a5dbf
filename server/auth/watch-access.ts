import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { apiKeys } from '@/db/schema/keys'
import { members } from '@/db/schema/members'
import { signingSecrets } from '@/db/schema/secrets'
import { sessions } from '@/db/schema/sessions'
import { now } from '../clock'
import type { Actor } from '../context'
import { database } from '../database'
import { log } from '../log'
import type { Identity } from './identity'
import { reachOf } from './reach'

/** How soon the streams of a caller without access end, and the time limit of one read. */
export const CHECK_MS = 2_500

interface Watched {
  identity: Identity
  end(): void
}

interface Watch {
  open: Set<Watched>
  timer: NodeJS.Timeout | null
  checking: boolean
}

const watch = () => processWide<Watch>('access.watch', () => ({ open: new Set(), timer: null, checking: false }))

/**
 * Calls `end` once the credential of a stream no longer grants the same access: the key, secret, session or membership
 * is gone, its role or its limits have changed, or the token has expired. While streams are open, a process reads the
 * credentials of all of them together every few seconds. A notification would arrive sooner, but not on every platform,
 * not for expiry, and not reliably.
 * @returns a function that stops watching; further calls do nothing
 */
export function watchAccess(identity: Identity, end: () => void): () => void {
  const state = watch()
  const one = { identity, end }
  state.open.add(one)
  state.timer ??= setInterval(() => void checkAll(state), CHECK_MS).unref()
  return () => {
    if (!state.open.delete(one) || state.open.size > 0 || !state.timer) return
    clearInterval(state.timer)
    state.timer = null
  }
}

async function checkAll(state: Watch): Promise<void> {
  if (state.checking) return
  state.checking = true
  try {
    const all = [...state.open]
    const good = await stillGood(all.map(({ identity }) => identity))
    for (const one of all) {
      if (good(one.identity) || !state.open.delete(one)) continue
      one.end()
    }
  } catch (err) {
    // Credentials that cannot be read now are checked the next time.
    log().warn({ err }, 'could not check whether open streams may go on')
  } finally {
    state.checking = false
  }
}

/** Reads the credentials of all callers. @returns whether the access of a caller is unchanged */
async function stillGood(callers: readonly Identity[]): Promise<(caller: Identity) => boolean> {
  const at = now()
  const of = (kind: Actor['kind']) => callers.filter(({ actor }) => actor.kind === kind)
  const good = new Set(
    (await Promise.all([keysNow(of('apiKey'), at), secretsNow(of('jwt'), at), membersNow(of('user'), at)])).flat(),
  )
  return (caller) => caller.actor.kind === 'system' || (!isOver(caller, at) && good.has(access(caller)))
}

function isOver({ goodUntil }: Identity, at: Date): boolean {
  return goodUntil !== undefined && goodUntil <= at
}

/** The id of the key, the signing secret or the session. */
function credentialOf(actor: Actor): string {
  if (actor.kind === 'jwt') return actor.secretId
  return actor.kind === 'user' ? actor.sessionId : actor.id
}

const credentials = (callers: readonly Identity[]) => [...new Set(callers.map(({ actor }) => credentialOf(actor)))]
const tenantsOf = (callers: readonly Identity[]) => [...new Set(callers.map(({ tenantId }) => tenantId))]

/** The access that a caller's credential grants, as a text. */
function access({ tenantId, actor, reach }: Pick<Identity, 'tenantId' | 'actor' | 'reach'>): string {
  const person = actor.kind === 'user' ? actor.id : null
  const limits = reach ? [reach.workflowIds, reach.agentIds, reach.ownRuns] : null
  return JSON.stringify([tenantId, actor.kind, credentialOf(actor), person, actor.role, limits])
}

async function keysNow(callers: Identity[], at: Date): Promise<string[]> {
  if (callers.length === 0) return []
  const { tenantId, id, role, disabledAt, graceUntil } = apiKeys
  const rows = await database()
    .db.select({ tenantId, id, role })
    .from(apiKeys)
    .where(
      and(
        inArray(tenantId, tenantsOf(callers)),
        inArray(id, credentials(callers)),
        isNull(disabledAt),
        or(isNull(graceUntil), gt(graceUntil, at)),
      ),
    )
  return rows.map((row) => access({ tenantId: row.tenantId, actor: { kind: 'apiKey', id: row.id, role: row.role } }))
}

async function secretsNow(callers: Identity[], at: Date): Promise<string[]> {
  if (callers.length === 0) return []
  const { tenantId, id, role, disabledAt, graceUntil, workflowIds, agentIds, ownRuns } = signingSecrets
  const rows = await database()
    .db.select({ tenantId, id, role, workflowIds, agentIds, ownRuns })
    .from(signingSecrets)
    .where(and(inArray(id, credentials(callers)), isNull(disabledAt), or(isNull(graceUntil), gt(graceUntil, at))))
  return rows.map((row) =>
    access({
      tenantId: row.tenantId,
      actor: { kind: 'jwt', id: '', secretId: row.id, role: row.role },
      reach: reachOf(row),
    }),
  )
}

async function membersNow(callers: Identity[], at: Date): Promise<string[]> {
  if (callers.length === 0) return []
  const rows = await database()
    .db.select({ tenantId: members.tenantId, userId: members.userId, role: members.role, sessionId: sessions.id })
    .from(sessions)
    .innerJoin(members, eq(members.userId, sessions.userId))
    .where(and(inArray(sessions.id, credentials(callers)), isNull(sessions.revokedAt), gt(sessions.expiresAt, at)))
  return rows.map(({ tenantId, userId, role, sessionId }) =>
    access({ tenantId, actor: { kind: 'user', id: userId, name: '', sessionId, role } }),
  )
}
