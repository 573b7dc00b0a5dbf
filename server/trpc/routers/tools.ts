import type { z } from 'zod'
import type { JsonObject } from '../../definition/json'
import { invokeTool } from '../../tools/invoke'
import { invokeDraftTool } from '../../tools/invoke-draft'
import { createTool, TOOLS } from '../../tools/lifecycle'
import { listTools } from '../../tools/list'
import { listRemoteTools } from '../../tools/list-remote'
import { runToolCases } from '../../tools/run-cases'
import type { CreateTool, InvokeTool, ListTools, UpdateTool } from '../../tools/schema'
import {
  changeToolExpected,
  deleteToolCase,
  type KeepToolCase,
  keepToolCase,
  renameToolCase,
} from '../../tools/test-cases'
import type { One } from '../../versioned/noun'
import type { OneCase } from '../../versioned/test-cases'
import { toolCases } from '../../views/test-cases'
import { toolHistory } from '../../views/tools/history'
import { openTool } from '../../views/tools/open'
import { findUsers } from '../../views/users-of'
import { inputWith, type OnePage, router, tenantProcedure } from '../init'
import { draftedProcedures } from '../versioned'

export const toolsRouter = router({
  ...draftedProcedures(TOOLS),
  list: tenantProcedure
    .input(inputWith<z.input<typeof ListTools>>())
    .query(({ ctx, input }) => listTools(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<z.input<typeof CreateTool>>())
    .mutation(({ ctx, input }) => createTool(ctx.service, input)),
  /** With its draft, for its page. */
  open: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => openTool(ctx.service, input)),
  users: tenantProcedure
    .input(inputWith<One>('id'))
    .query(({ ctx, input }) => findUsers(ctx.service, { id: input.id, of: 'tool' })),
  versions: tenantProcedure.input(inputWith<OnePage>('id')).query(({ ctx, input }) => toolHistory(ctx.service, input)),
  invoke: tenantProcedure
    .input(inputWith<{ toolId: string; body: z.input<typeof InvokeTool> }>('toolId'))
    .mutation(({ ctx, input, signal }) => invokeTool(ctx.service, input, signal ?? never)),
  /** Like `invoke`, with the draft in the body. */
  invokeDraft: tenantProcedure
    .input(
      inputWith<{ toolId: string; body: z.input<typeof InvokeTool> & { draft: z.input<typeof UpdateTool> } }>('toolId'),
    )
    .mutation(({ ctx, input, signal }) => invokeDraftTool(ctx.service, input, signal ?? never)),
  cases: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => toolCases(ctx.service, input)),
  keepCase: tenantProcedure
    .input(inputWith<One & { body: KeepToolCase }>('id'))
    .mutation(({ ctx, input }) => keepToolCase(ctx.service, input)),
  renameCase: tenantProcedure
    .input(inputWith<OneCase & { name: string }>('id', 'caseId'))
    .mutation(({ ctx, input }) => renameToolCase(ctx.service, input)),
  changeExpected: tenantProcedure
    .input(inputWith<OneCase & { expected: KeepToolCase['expected'] }>('id', 'caseId'))
    .mutation(({ ctx, input }) => changeToolExpected(ctx.service, input)),
  deleteCase: tenantProcedure
    .input(inputWith<OneCase>('id', 'caseId'))
    .mutation(({ ctx, input }) => deleteToolCase(ctx.service, input)),
  /** Against the draft in the body. */
  runCases: tenantProcedure
    .input(inputWith<One & { body: { draft: z.input<typeof UpdateTool>; only?: string[] } }>('id'))
    .mutation(({ ctx, input, signal }) => runToolCases(ctx.service, input, signal ?? never)),
  listRemote: tenantProcedure
    .input(inputWith<JsonObject>())
    .mutation(({ ctx, input, signal }) => listRemoteTools(ctx.service, input, signal ?? never)),
})

const never = new AbortController().signal
