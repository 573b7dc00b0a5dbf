import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getAgentSchema } from '@/server/agents/get-schema'
import type { ServiceContext } from '@/server/context'
import { AppError } from '@/server/errors'
import { cancelRun } from '@/server/runs/cancel'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { terminateRun } from '@/server/runs/terminate'
import { invokeTool } from '@/server/tools/invoke'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { getInputSchema } from '@/server/workflows/input-schema'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let tool: string
let agent: string
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  tool = await newScriptTool(ctx, 'return 1')
  agent = (await newAgent(ctx)).id
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

const never = new AbortController().signal
const said = (work: Promise<unknown>) =>
  work.then(
    () => [200],
    (err: unknown) => (err instanceof AppError ? [err.status, err.message] : [500, String(err)]),
  )
const callTool = (body: unknown, toolId = tool) => said(invokeTool(ctx, { toolId, body }, never))
const ask = (body: unknown, agentId = agent) => said(invokeAgent(ctx, { agentId, body }, never))

const NO_VERSIONS = ['x'.repeat(21), 'x'.repeat(90), '', '0', '1.5', '-1', 0, 1.5, -1, 1e300, true, {}, [1]]

describe('an answer that the specification names comes before "Invalid input"', () => {
  test.each([...NO_VERSIONS, null])('a tool has no version %j: Tool not found', async (version) => {
    expect(await callTool({ version })).toEqual([404, 'Tool not found'])
    expect(await callTool({ version, args: 5 })).toEqual([404, 'Tool not found'])
  })

  test('a missing tool comes before any other fault: Tool not found', async () => {
    for (const toolId of ['tool_none', 'no', `tool_${'x'.repeat(1_000)}`, ''])
      expect(await callTool({ args: 5, dataContext: 5 }, toolId)).toEqual([404, 'Tool not found'])
    expect(await callTool({ args: 5 })).toEqual([400, 'Invalid input'])
    for (const version of [undefined, 'latest', 'published', 1, '1']) expect(await callTool({ version })).toEqual([200])
  })

  test.each(NO_VERSIONS)('an agent has no version %j: Agent not found', async (version) => {
    expect(await ask({ message: 'x', version })).toEqual([404, 'Agent not found'])
    if (typeof version === 'string')
      expect(await said(getAgentSchema(ctx, { agentId: agent, version }))).toEqual([404, 'Agent not found'])
  })

  test('an agent’s missing abilities come before other faults, and being a supervisor before its schema', async () => {
    const wrong = { message: 'x', dataContext: 5, threadId: 5 }
    const boss = await newAgent(ctx, { supervisor: true, outputSchema: null })
    const schemed = await newAgent(ctx, { supervisor: true })
    const mute = await newAgent(ctx, { outputSchema: null })
    for (const { id } of [boss, schemed]) {
      for (const body of [{ message: 'x' }, wrong])
        expect(await ask(body, id)).toEqual([400, 'Supervisor agents cannot be invoked'])
    }
    expect(await ask(wrong, mute.id)).toEqual([400, 'Agent does not have structured output'])
    expect(await ask(wrong, 'agt_none')).toEqual([404, 'Agent not found'])
    expect(await ask({ ...wrong, message: ' ' }, boss.id)).toEqual([400, 'message is required'])
    expect(await ask(wrong)).toEqual([400, 'Invalid input'])
  })

  test('a missing workflow or run comes before any other fault', async () => {
    for (const workflowId of ['wf_none', 'no', '', 'x'.repeat(1_000)]) {
      const start = { workflowId, body: { data: 5 }, version: 'x'.repeat(100) }
      expect(await said(startRun(ctx, start))).toEqual([404, 'Workflow not found'])
      expect(await said(getInputSchema(ctx, { id: workflowId }))).toEqual([404, 'Workflow not found'])
    }
    for (const runId of ['run_none', 'no', 'x'.repeat(1_000)]) {
      expect(await said(getRunStatus(ctx, { runId }))).toEqual([404, 'Run not found'])
      for (const stop of [cancelRun, terminateRun])
        expect(await said(stop(ctx, { runId }))).toEqual([404, 'Run not found'])
    }
  })
})
