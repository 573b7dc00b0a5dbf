import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '@/db/index'
import { auditEntries } from '@/db/schema/audit'
import { apiKeys } from '@/db/schema/keys'
import type { Actor, ServiceContext } from '../context'
import {
  type AuditAction,
  type AuditActor,
  type AuditDetails,
  type AuditThing,
  boundedDetails,
  boundedText,
} from '../definition/audit'
import { own } from '../definition/json'
import { newId } from '../ids'
import { SYSTEM_ACTORS } from './system-actors'

/** The data an entry needs of its request: a verb's context, in the transaction of the change. */
export interface Recorder extends Pick<ServiceContext, 'tenantId' | 'actor' | 'requestId' | 'address'> {
  readonly db: Tx
}

/** The changed thing. Its kind is the first part of the action. */
interface Thing {
  id: string
  /** Its name for people. */
  name: string
}

/**
 * Records a change by the caller. Every verb that changes something calls this once, in the transaction of the change,
 * so that neither exists without the other.
 * @param details never a secret; long values are cut
 */
export async function record(
  tx: Recorder,
  action: AuditAction,
  thing: Thing,
  details: AuditDetails = {},
): Promise<void> {
  const { tenantId, actor } = tx
  await tx.db.insert(auditEntries).values({
    ...{ tenantId, id: newId('aud'), action },
    ...{ actorKind: KINDS[actor.kind], actorId: actor.id, actorName: nameOf(actor, tenantId) },
    ...{ thingKind: thingOf(action), thingId: thing.id, thingName: boundedText(thing.name) },
    details: boundedDetails(details),
    requestId: tx.requestId,
    address: tx.address?.() ?? null,
  })
}

/**
 * Records the changed settings, if any.
 * @param changed the result of `differences`
 * @param context more details for the entry
 */
export async function recordChanges(
  tx: Recorder,
  action: AuditAction,
  thing: Thing,
  changed: AuditDetails,
  context: AuditDetails = {},
): Promise<void> {
  if (Object.keys(changed).length > 0) await record(tx, action, thing, { ...context, ...changed })
}

/** An edit takes a while, and is saved every second. */
const SERIES_MS = 10 * 60_000

/**
 * Records that the caller saved a draft, unless the last entry of the same thing is the same and less than ten minutes
 * old: versions have the content, the log who worked on it and when. The thing is locked, so nobody writes in between.
 */
export async function recordSave(
  tx: Recorder & Pick<ServiceContext, 'now'>,
  action: AuditAction,
  thing: Thing,
  details: AuditDetails,
): Promise<void> {
  const { tenantId, action: did, actorId, thingKind, thingId, at, seq } = auditEntries
  const last = tx.db
    .select({ did, actorId, at })
    .from(auditEntries)
    .where(and(eq(tenantId, tx.tenantId), eq(thingId, thing.id), eq(thingKind, thingOf(action))))
    .orderBy(sql`${at} desc, ${seq} desc`)
    .limit(1)
    .as('last')
  const since = new Date(tx.now().getTime() - SERIES_MS)
  const [same] = await tx.db
    .select({ one: sql`1` })
    .from(last)
    .where(and(eq(last.did, action), eq(last.actorId, tx.actor.id), gt(last.at, since)))
  if (!same) await record(tx, action, thing, details)
}

const KINDS: Record<Actor['kind'], AuditActor> = { user: 'user', apiKey: 'apiKey', jwt: 'token', system: 'system' }

/** A key's name is in its row, which the statement reads. */
function nameOf(actor: Actor, tenantId: string): string | SQL<string> {
  if (actor.kind === 'user') return boundedText(actor.name)
  if (actor.kind === 'system') return own(SYSTEM_ACTORS, actor.id) ?? 'the system'
  if (actor.kind === 'jwt') return boundedText(actor.id)
  const name = sql`select name from ${apiKeys} where ${apiKeys.tenantId} = ${tenantId} and ${apiKeys.id} = ${actor.id}`
  return sql`coalesce((${name}), ${actor.id})`
}

function thingOf(action: AuditAction): AuditThing {
  // The action's type guarantees it.
  return action.slice(0, action.indexOf('.')) as AuditThing
}
