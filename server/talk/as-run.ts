import { and, eq } from 'drizzle-orm'
import { agentTurns } from '@/db/schema/turns'
import { workflowVersions } from '@/db/schema/workflows'
import type { OpenTurn } from '../agents/converse'
import { type LoadedAgent, loadAsked } from '../agents/find'
import { TurnTakenOver } from '../agents/journal/held-turn'
import { giveToRun } from '../agents/journal/to-run'
import { createThread } from '../agents/thread'
import { type ServiceContext, withTransaction } from '../context'
import { AGENT_TURN, agentTurnDefinition } from '../definition/agent-turn'
import { LANGUAGE } from '../definition/language'
import { ImpossibleState } from '../errors'
import { newId } from '../ids'
import { insertRun } from '../interpreter/index'
import { olderLives } from '../outbox'

/** The name of the workflow itself; its runs have the names of their agents. */
const NAME = 'Answer of an agent'

interface Turn {
  id: string
  agent: Pick<LoadedAgent, 'id' | 'name' | 'draft'>
  /** Null for a new thread. */
  threadId: string | null
}

/**
 * Lets a run continue the turn that this process holds, because people are asked about it. The turn, the run and a new
 * thread are one transaction.
 * @returns the run's id
 * @throws TurnTakenOver if the turn was taken over in the meantime
 */
export async function asRun(ctx: ServiceContext, { agent, held }: OpenTurn): Promise<string> {
  if (!held.isRecorded) await held.begin()
  const { turn, owner } = held
  return startRunOf(ctx, { id: turn.id, agent, threadId: turn.threadId }, owner)
}

/**
 * Lets a run continue a turn whose process died. The run acts for the caller of the turn.
 * @returns the id of the run that has it; null if a process still holds the turn, or nothing can continue it
 */
export async function runOfDeadTurn(base: ServiceContext, turnId: string): Promise<string | null> {
  const turn = await findTurn(base, turnId)
  if (turn?.runId != null) return turn.runId
  // An older process would begin the turn anew.
  if (olderLives()) return null
  // Nobody follows another one.
  if (!turn?.asked?.streams || turn.state !== 'working' || turn.leasedUntil === null || turn.leasedUntil > base.now())
    return null
  const { asked, threadId } = turn
  const ctx = { ...base, actor: { ...base.actor, ...asked.by }, trusted: asked.context } as ServiceContext
  const agent = await loadAsked(base, turn, asked)
  return startRunOf(ctx, { id: turnId, agent, threadId }, null).catch(async (err: unknown) => {
    if (err instanceof TurnTakenOver) return (await findTurn(base, turnId))?.runId ?? null
    throw err
  })
}

async function findTurn({ db, tenantId }: ServiceContext, turnId: string) {
  const { id, agentId, version, threadId, request: asked, state, runId, leasedUntil } = agentTurns
  const [turn] = await db
    .select({ agentId, version, threadId, asked, state, runId, leasedUntil })
    .from(agentTurns)
    .where(and(eq(agentTurns.tenantId, tenantId), eq(id, turnId)))
  return turn
}

/**
 * @param owner the process that holds the turn; null if its lease must have ended
 * @throws TurnTakenOver
 */
async function startRunOf(ctx: ServiceContext, turn: Turn, owner: string | null): Promise<string> {
  const { agent, id: turnId } = turn
  // A repeat of the request finds the turn by its key, so it need not find the transaction.
  const { keyed: _keyed, cachedCaller: _checked, ...own } = ctx
  const definition = agentTurnDefinition(agent.name)
  return withTransaction(own, async (tx) => {
    await insertVersion(tx)
    const { workflowId, version: workflowVersion, stepId: firstStep } = AGENT_TURN
    const threadId = turn.threadId ?? newId('thr')
    const input = { agentId: agent.id, turnId, threadId }
    const test = agent.draft === true
    const run = { workflowId, workflowVersion, definition, input, firstStep, context: tx.trusted, test, part: null }
    const runId = await insertRun(tx, run, { builtIn: true })
    if (runId === null) throw new ImpossibleState('turn-run', 'the run of a turn was not written')
    if (turn.threadId === null) await createThread(tx, agent.id, threadId)
    if (!(await giveToRun(tx, { turnId, runId, owner, threadId }))) throw new TurnTakenOver()
    return runId
  })
}

async function insertVersion({ db, tenantId }: ServiceContext): Promise<void> {
  const { workflowId, version } = AGENT_TURN
  const definition = agentTurnDefinition(NAME)
  await db
    .insert(workflowVersions)
    .values({ tenantId, workflowId, version, name: NAME, definition, language: LANGUAGE, createdBy: 'system' })
    .onConflictDoNothing()
}
