import type { z } from 'zod'
import type { JsonObject } from '../../definition/json'
import { archiveTool, unarchiveTool, undoArchiveTool } from '../../tools/archive'
import { createTool } from '../../tools/create'
import { duplicateTool } from '../../tools/duplicate'
import { getTool } from '../../tools/get'
import { invokeTool } from '../../tools/invoke'
import { listTools } from '../../tools/list'
import { listRemoteTools } from '../../tools/list-remote'
import { publishTool } from '../../tools/publish'
import { restoreToolVersion } from '../../tools/restore-version'
import type { CreateTool, InvokeTool, ListTools, UpdateTool } from '../../tools/schema'
import { updateTool } from '../../tools/update'
import { getToolVersionDetails } from '../../tools/versions'
import { toolHistory } from '../../views/tools/history'
import { given, router, tenantProcedure } from '../init'

interface OneTool {
  id: string
}
interface Guarded extends OneTool {
  /** The version that the person has seen. */
  ifMatch?: string
}

export const toolsRouter = router({
  list: tenantProcedure
    .input(given<z.input<typeof ListTools>>())
    .query(({ ctx, input }) => listTools(ctx.service, input)),
  get: tenantProcedure.input(given<OneTool>('id')).query(({ ctx, input }) => getTool(ctx.service, input.id)),
  create: tenantProcedure
    .input(given<z.input<typeof CreateTool>>())
    .mutation(({ ctx, input }) => createTool(ctx.service, input)),
  update: tenantProcedure
    .input(given<OneTool & { body: z.input<typeof UpdateTool> }>('id'))
    .mutation(({ ctx, input }) => updateTool(ctx.service, input)),
  publish: tenantProcedure
    .input(given<Guarded>('id'))
    .mutation(({ ctx, input }) => publishTool(ctx.service, input.id, { ifMatch: input.ifMatch ?? null })),
  archive: tenantProcedure.input(given<OneTool>('id')).mutation(({ ctx, input }) => archiveTool(ctx.service, input.id)),
  unarchive: tenantProcedure
    .input(given<OneTool>('id'))
    .mutation(({ ctx, input }) => unarchiveTool(ctx.service, input.id)),
  undoArchive: tenantProcedure
    .input(given<OneTool>('id'))
    .mutation(({ ctx, input }) => undoArchiveTool(ctx.service, input.id)),
  duplicate: tenantProcedure
    .input(given<OneTool>('id'))
    .mutation(({ ctx, input }) => duplicateTool(ctx.service, input.id)),
  versions: tenantProcedure
    .input(given<OneTool & { page: { limit: string; offset: string } }>('id'))
    .query(({ ctx, input }) => toolHistory(ctx.service, input)),
  version: tenantProcedure
    .input(given<{ toolId: string; version: string }>('toolId', 'version'))
    .query(({ ctx, input }) => getToolVersionDetails(ctx.service, input)),
  restore: tenantProcedure
    .input(given<Guarded & { version: string }>('id', 'version'))
    .mutation(({ ctx, input }) => restoreToolVersion(ctx.service, input)),
  invoke: tenantProcedure
    .input(given<{ toolId: string; body: z.input<typeof InvokeTool> }>('toolId'))
    .mutation(({ ctx, input, signal }) => invokeTool(ctx.service, input, signal ?? never)),
  listRemote: tenantProcedure
    .input(given<JsonObject>())
    .mutation(({ ctx, input, signal }) => listRemoteTools(ctx.service, input, signal ?? never)),
})

const never = new AbortController().signal
