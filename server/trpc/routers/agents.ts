import { tracked } from '@trpc/server'
import type { z } from 'zod'
import { answerOnce } from '../../agents/answer-once'
import { AGENTS, createAgent } from '../../agents/lifecycle'
import { runAgentCases } from '../../agents/run-cases'
import type { CreateAgent, ListAgents, UpdateAgent } from '../../agents/schema'
import {
  changeAgentExpected,
  deleteAgentCase,
  type KeepAgentCase,
  keepAgentCase,
  renameAgentCase,
} from '../../agents/test-cases'
import type { JsonObject } from '../../definition/json'
import { listProviders } from '../../models/list'
import { beginChat, beginDraftChat, openChat } from '../../talk/chat'
import { invokeAgent, invokeDraftAgent } from '../../talk/invoke'
import type { One } from '../../versioned/noun'
import type { OneCase } from '../../versioned/test-cases'
import { browseAgents } from '../../views/agents/browse'
import { agentHistory } from '../../views/agents/history'
import { type ListThreads, listThreads } from '../../views/agents/list-threads'
import { type ListTurns, listTurns } from '../../views/agents/list-turns'
import { openAgent } from '../../views/agents/open'
import { type ReadThread, readThread } from '../../views/agents/read-thread'
import { agentCases } from '../../views/test-cases'
import { findUsers } from '../../views/users-of'
import { inputWith, type OnePage, router, tenantProcedure } from '../init'
import { draftedProcedures } from '../versioned'

interface OneAgent {
  agentId: string
}

interface DraftTurn {
  message: string
  threadId?: string
  dataContext?: JsonObject
  files?: { fileId: string }[]
  draft: z.input<typeof UpdateAgent>
}

export const agentsRouter = router({
  ...draftedProcedures(AGENTS),
  list: tenantProcedure
    .input(inputWith<z.input<typeof ListAgents>>())
    .query(({ ctx, input }) => browseAgents(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<z.input<typeof CreateAgent>>())
    .mutation(({ ctx, input }) => createAgent(ctx.service, input)),
  /** With its draft, for its page. */
  open: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => openAgent(ctx.service, input)),
  users: tenantProcedure
    .input(inputWith<One>('id'))
    .query(({ ctx, input }) => findUsers(ctx.service, { id: input.id, of: 'agent' })),
  versions: tenantProcedure.input(inputWith<OnePage>('id')).query(({ ctx, input }) => agentHistory(ctx.service, input)),
  providers: tenantProcedure.query(({ ctx }) => listProviders(ctx.service)),
  threads: tenantProcedure
    .input(inputWith<ListThreads>('agentId'))
    .query(({ ctx, input }) => listThreads(ctx.service, input)),
  turns: tenantProcedure
    .input(inputWith<ListTurns>('agentId'))
    .query(({ ctx, input }) => listTurns(ctx.service, input)),
  thread: tenantProcedure.input(inputWith<ReadThread>()).query(({ ctx, input }) => readThread(ctx.service, input)),
  invoke: tenantProcedure
    .input(inputWith<OneAgent & { body: JsonObject }>('agentId'))
    .mutation(({ ctx, input, signal }) => invokeAgent(ctx.service, input, signal ?? never)),
  beginChat: tenantProcedure
    .input(inputWith<JsonObject>())
    .mutation(({ ctx, input, signal }) => beginChat(ctx.service, input, signal ?? never)),
  /** Like `invoke` and `beginChat`, with the draft in the body. */
  invokeDraft: tenantProcedure
    .input(inputWith<OneAgent & { body: DraftTurn }>('agentId'))
    .mutation(({ ctx, input, signal }) => invokeDraftAgent(ctx.service, input, signal ?? never)),
  beginDraftChat: tenantProcedure
    .input(inputWith<OneAgent & DraftTurn>('agentId'))
    .mutation(({ ctx, input, signal }) => beginDraftChat(ctx.service, input, signal ?? never)),
  /** Without a thread, to compare versions; with the optional `draft`. */
  answerOnce: tenantProcedure
    .input(inputWith<OneAgent & { body: Partial<DraftTurn> & { version?: string } }>('agentId'))
    .mutation(({ ctx, input, signal }) => answerOnce(ctx.service, input, signal ?? never)),
  cases: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => agentCases(ctx.service, input)),
  keepCase: tenantProcedure
    .input(inputWith<One & { body: KeepAgentCase }>('id'))
    .mutation(({ ctx, input }) => keepAgentCase(ctx.service, input)),
  renameCase: tenantProcedure
    .input(inputWith<OneCase & { name: string }>('id', 'caseId'))
    .mutation(({ ctx, input }) => renameAgentCase(ctx.service, input)),
  changeExpected: tenantProcedure
    .input(inputWith<OneCase & { expected: KeepAgentCase['expected'] }>('id', 'caseId'))
    .mutation(({ ctx, input }) => changeAgentExpected(ctx.service, input)),
  deleteCase: tenantProcedure
    .input(inputWith<OneCase>('id', 'caseId'))
    .mutation(({ ctx, input }) => deleteAgentCase(ctx.service, input)),
  /** Against the draft in the body. */
  runCases: tenantProcedure
    .input(inputWith<One & { body: { draft: z.input<typeof UpdateAgent>; only?: string[] } }>('id'))
    .mutation(({ ctx, input, signal }) => runAgentCases(ctx.service, input, signal ?? never)),
  /** The events of a turn started by `beginChat` or `beginDraftChat`, after `lastEventId`. */
  chatEvents: tenantProcedure
    .input(inputWith<OneAgent & { lastEventId: string }>('agentId', 'lastEventId'))
    .subscription(async function* ({ ctx, input: { agentId, lastEventId } }) {
      const open = await openChat(ctx.service, { body: { agentId }, lastEventId }, ctx.left)
      if (!open) return
      for await (const { id = lastEventId, event, data } of open(ctx.left)) yield tracked(id, { event, data })
    }),
})

const never = new AbortController().signal
