import { sql } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { database } from '../database'
import { env } from '../env'

/** The engine counts as dead when its last heartbeat is older than this. */
export const HEARTBEAT_FRESH_MS = 20_000
type EngineCheck = () => Promise<boolean>

const bound = () => processWide<{ engineWorks?: EngineCheck }>('health', () => ({}))

/** Sets the check whether the engine executes runs. */
export function bindEngineCheck(engineWorks: EngineCheck): void {
  bound().engineWorks = engineWorks
}

export interface Health {
  /** `degraded` if requests work, but no process executes runs. */
  status: 'ok' | 'degraded' | 'unavailable'
  checks: Record<string, 'ok' | 'failed'>
}

/**
 * Whether the service works: the database responds and the engine is running. Anyone may call this, so it returns
 * nothing else.
 */
export async function checkHealth(): Promise<Health> {
  const { engineWorks } = bound()
  const [db, engine] = await Promise.all([
    works(async () => {
      await database().db.execute(sql`select 1`)
      return true
    }),
    works(async () => (engineWorks ? await engineWorks() : false)),
  ])
  const checks = { database: db, engine }
  if (db === 'ok' && engine === 'ok') return { status: 'ok', checks }
  // If other processes execute the runs, this one still accepts starts and answers, and restarting it would not help.
  const elsewhere = env().ENGINE === 'off' || env().engine === 'inngest'
  return { status: db === 'ok' && elsewhere ? 'degraded' : 'unavailable', checks }
}

async function works(check: () => Promise<boolean>): Promise<'ok' | 'failed'> {
  try {
    return (await check()) ? 'ok' : 'failed'
  } catch {
    return 'failed'
  }
}
