import { sql } from 'drizzle-orm'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { TransactionContext } from '../../context'
import { AGENT_TURN } from '../../definition/agent-turn'
import { takeForThread } from '../../files/take'
import { keyBelow } from './key'

/** The files of the message. */
const UPLOADS = sql`select (file->>'fileId')::uuid from turn, json_array_elements(turn.files) file`

interface Given {
  turnId: string
  runId: string
  /**
   * The process that holds the turn, and gives it away because people are asked: no other message may overtake it in its
   * thread. Null if its lease must have ended.
   */
  owner: string | null
  /** The thread, which exists from now on. */
  threadId: string
}

/**
 * Makes a turn of invoke or chat that of a run's first visit. The calls that an answer has asked for keep their keys, and
 * the files of the message belong to its thread.
 * @returns false if the turn has ended, or another process or run has it
 */
export async function giveToRun(tx: TransactionContext, given: Given): Promise<boolean> {
  const { turnId, runId, owner, threadId } = given
  const { branch, stepId, visit } = AGENT_TURN
  const free = sql`state = 'working' and leased_until <= ${tx.now().toISOString()}::timestamptz`
  const isFree = sql`tenant_id = ${tx.tenantId} and id = ${turnId} and run_id is null
        and ${owner === null ? free : sql`owner = ${owner}`}`
  // With the lock, the next statement sees all turns below it.
  await tx.db.execute(sql`select from ${agentTurns} where ${isFree} for update`)
  const taken = await tx.db.execute<{ id: string }>(sql`
    with turn as (
      update ${agentTurns} set run_id = ${runId}, branch = ${branch}, step_id = ${stepId}, visit = ${visit}, owner = null,
        leased_until = null, thread_id = ${threadId}, state = ${owner === null ? 'working' : 'waiting'}
      where ${isFree}
      returning id, coalesce(key, id) as key, request->'files' as files),
    below as (
      update ${agentTurns} h set run_id = ${runId} from turn where h.tenant_id = ${tx.tenantId} and h.root_id = turn.id
      returning h.id, turn.key || ${keyBelow(sql`h.id`, sql`turn.id`)} as key),
    keys as (
      update ${agentCalls} c set key_base = coalesce(c.key_base, one.key)
      from (select id, key from turn union all select id, key from below) one
      where c.tenant_id = ${tx.tenantId} and c.turn_id = one.id and c.kind = 'model'),
    taken as (${takeForThread(tx, threadId, UPLOADS)})
    select id from turn`)
  return taken.length > 0
}
