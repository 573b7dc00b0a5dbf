import type { z } from 'zod'
import type { JsonObject } from '../../definition/json'
import { archiveTool, unarchiveTool, undoArchiveTool } from '../../tools/archive'
import { createTool } from '../../tools/create'
import { duplicateTool } from '../../tools/duplicate'
import { getTool } from '../../tools/get'
import { getToolVersion } from '../../tools/get-version'
import { invokeTool } from '../../tools/invoke'
import { listTools } from '../../tools/list'
import { listRemoteTools } from '../../tools/list-remote'
import { publishTool } from '../../tools/publish'
import { restoreToolVersion } from '../../tools/restore-version'
import type { CreateTool, InvokeTool, ListTools, UpdateTool } from '../../tools/schema'
import { updateTool } from '../../tools/update'
import type { Guarded, One, OneVersion } from '../../versioned/noun'
import { toolHistory } from '../../views/tools/history'
import { given, type OnePage, router, tenantProcedure } from '../init'

export const toolsRouter = router({
  list: tenantProcedure
    .input(given<z.input<typeof ListTools>>())
    .query(({ ctx, input }) => listTools(ctx.service, input)),
  get: tenantProcedure.input(given<One>('id')).query(({ ctx, input }) => getTool(ctx.service, input)),
  create: tenantProcedure
    .input(given<z.input<typeof CreateTool>>())
    .mutation(({ ctx, input }) => createTool(ctx.service, input)),
  update: tenantProcedure
    .input(given<One & { body: z.input<typeof UpdateTool> }>('id'))
    .mutation(({ ctx, input }) => updateTool(ctx.service, input)),
  publish: tenantProcedure.input(given<Guarded>('id')).mutation(({ ctx, input }) => publishTool(ctx.service, input)),
  archive: tenantProcedure.input(given<One>('id')).mutation(({ ctx, input }) => archiveTool(ctx.service, input)),
  unarchive: tenantProcedure.input(given<One>('id')).mutation(({ ctx, input }) => unarchiveTool(ctx.service, input)),
  undoArchive: tenantProcedure
    .input(given<One>('id'))
    .mutation(({ ctx, input }) => undoArchiveTool(ctx.service, input)),
  duplicate: tenantProcedure.input(given<One>('id')).mutation(({ ctx, input }) => duplicateTool(ctx.service, input)),
  versions: tenantProcedure.input(given<OnePage>('id')).query(({ ctx, input }) => toolHistory(ctx.service, input)),
  version: tenantProcedure
    .input(given<OneVersion>('id', 'version'))
    .query(({ ctx, input }) => getToolVersion(ctx.service, input)),
  restore: tenantProcedure
    .input(given<Guarded & OneVersion>('id', 'version'))
    .mutation(({ ctx, input }) => restoreToolVersion(ctx.service, input)),
  invoke: tenantProcedure
    .input(given<{ toolId: string; body: z.input<typeof InvokeTool> }>('toolId'))
    .mutation(({ ctx, input, signal }) => invokeTool(ctx.service, input, signal ?? never)),
  listRemote: tenantProcedure
    .input(given<JsonObject>())
    .mutation(({ ctx, input, signal }) => listRemoteTools(ctx.service, input, signal ?? never)),
})

const never = new AbortController().signal
