import { sql } from 'drizzle-orm'
import { database } from './database'
import { env } from './env'
import { processWide } from './process'

/** The engine counts as dead when its last heartbeat is older than this. */
export const HEARTBEAT_FRESH_MS = 20_000
type Heartbeat = () => Promise<number | null>

const bound = () => processWide<{ heartbeat?: Heartbeat }>('health', () => ({}))

/** Sets how to read the age of the engine's last heartbeat in milliseconds; null when there was none. */
export function bindHeartbeat(heartbeat: Heartbeat): void {
  bound().heartbeat = heartbeat
}

export interface Health {
  /** `degraded` if requests work, but no worker carries runs on. */
  status: 'ok' | 'degraded' | 'unavailable'
  checks: Record<string, 'ok' | 'failed'>
}

/**
 * Whether the service works: the database answers and the engine is alive. Strangers may call this, so it says nothing
 * else.
 */
export async function checkHealth(): Promise<Health> {
  const { heartbeat } = bound()
  const [db, engine] = await Promise.all([
    works(async () => {
      await database().db.execute(sql`select 1`)
      return true
    }),
    works(async () => {
      const age = heartbeat ? await heartbeat() : null
      return age !== null && age < HEARTBEAT_FRESH_MS
    }),
  ])
  const checks = { database: db, engine }
  if (db === 'ok' && engine === 'ok') return { status: 'ok', checks }
  // Without workers, a process that only serves requests still accepts starts and answers: restarting it helps nobody.
  return { status: db === 'ok' && env().ENGINE === 'off' ? 'degraded' : 'unavailable', checks }
}

async function works(check: () => Promise<boolean>): Promise<'ok' | 'failed'> {
  try {
    return (await check()) ? 'ok' : 'failed'
  } catch {
    return 'failed'
  }
}
