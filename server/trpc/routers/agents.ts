import { tracked } from '@trpc/server'
import { z } from 'zod'
import { archiveAgent, unarchiveAgent, undoArchiveAgent } from '../../agents/archive'
import { beginChat, openChat } from '../../agents/chat'
import { createAgent } from '../../agents/create'
import { duplicateAgent } from '../../agents/duplicate'
import { getAgent } from '../../agents/get'
import { getAgentVersion } from '../../agents/get-version'
import { invokeAgent } from '../../agents/invoke'
import { publishAgent } from '../../agents/publish'
import { restoreAgentVersion } from '../../agents/restore-version'
import type { CreateAgent, ListAgents, UpdateAgent } from '../../agents/schema'
import { updateAgent } from '../../agents/update'
import type { JsonObject } from '../../definition/json'
import { listProviders } from '../../models/list'
import { browseAgents } from '../../views/agents/browse'
import { agentHistory } from '../../views/agents/history'
import { type ListThreads, listThreads } from '../../views/agents/list-threads'
import { type ReadThread, readThread } from '../../views/agents/read-thread'
import { given, router, tenantProcedure } from '../init'

interface OneAgent {
  agentId: string
}
interface Guarded extends OneAgent {
  /** The version that the person has seen. */
  ifMatch?: string
}

export const agentsRouter = router({
  list: tenantProcedure
    .input(given<z.input<typeof ListAgents>>())
    .query(({ ctx, input }) => browseAgents(ctx.service, input)),
  get: tenantProcedure
    .input(given<OneAgent>('agentId'))
    .query(({ ctx, input }) => getAgent(ctx.service, input.agentId)),
  create: tenantProcedure
    .input(given<z.input<typeof CreateAgent>>())
    .mutation(({ ctx, input }) => createAgent(ctx.service, input)),
  update: tenantProcedure
    .input(given<OneAgent & { body: z.input<typeof UpdateAgent> }>('agentId'))
    .mutation(({ ctx, input }) => updateAgent(ctx.service, input)),
  publish: tenantProcedure
    .input(given<Guarded>('agentId'))
    .mutation(({ ctx, input }) => publishAgent(ctx.service, input.agentId, { ifMatch: input.ifMatch ?? null })),
  archive: tenantProcedure
    .input(given<OneAgent>('agentId'))
    .mutation(({ ctx, input }) => archiveAgent(ctx.service, input.agentId)),
  unarchive: tenantProcedure
    .input(given<OneAgent>('agentId'))
    .mutation(({ ctx, input }) => unarchiveAgent(ctx.service, input.agentId)),
  undoArchive: tenantProcedure
    .input(given<OneAgent>('agentId'))
    .mutation(({ ctx, input }) => undoArchiveAgent(ctx.service, input.agentId)),
  duplicate: tenantProcedure
    .input(given<OneAgent>('agentId'))
    .mutation(({ ctx, input }) => duplicateAgent(ctx.service, input.agentId)),
  versions: tenantProcedure
    .input(given<OneAgent & { page: { limit: string; offset: string } }>('agentId'))
    .query(({ ctx, input }) => agentHistory(ctx.service, input)),
  version: tenantProcedure
    .input(given<OneAgent & { version: string }>('agentId', 'version'))
    .query(({ ctx, input }) => getAgentVersion(ctx.service, input)),
  restore: tenantProcedure
    .input(given<Guarded & { version: string }>('agentId', 'version'))
    .mutation(({ ctx, input }) => restoreAgentVersion(ctx.service, input)),
  providers: tenantProcedure.query(({ ctx }) => listProviders(ctx.service)),
  threads: tenantProcedure.input(given<ListThreads>()).query(({ ctx, input }) => listThreads(ctx.service, input)),
  thread: tenantProcedure.input(given<ReadThread>()).query(({ ctx, input }) => readThread(ctx.service, input)),
  invoke: tenantProcedure
    .input(z.object({ agentId: z.string(), body: z.record(z.string(), z.json()) }))
    .mutation(({ ctx, input, signal }) => invokeAgent(ctx.service, input, signal ?? never)),
  beginChat: tenantProcedure
    .input(given<JsonObject>())
    .mutation(({ ctx, input, signal }) => beginChat(ctx.service, input, signal ?? never)),
  /** The events of a turn that `beginChat` began, from `lastEventId` on. */
  chatEvents: tenantProcedure
    .input(given<OneAgent & { lastEventId: string }>('agentId', 'lastEventId'))
    .subscription(async function* ({ ctx, input: { agentId, lastEventId }, signal = never }) {
      const open = await openChat(ctx.service, { body: { agentId }, lastEventId }, signal)
      if (!open) return
      for await (const { id = lastEventId, event, data } of open(signal)) yield tracked(id, { event, data })
    }),
})

const never = new AbortController().signal
