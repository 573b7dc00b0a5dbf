// Mastra's workflows on its Postgres store. A pause is `suspend`, a resume is `run.resume`. After a crash it continues
// when `restartAllActiveWorkflowRuns` is called, at boot as its documentation says. Its agent keeps each conversation
// in a thread of its memory.
import { randomUUID } from 'node:crypto'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { Memory } from '@mastra/memory'
import { PostgresStore } from '@mastra/pg'
import { z } from 'zod'
import { freshDatabase, open, urlOf } from '../postgres.mjs'
import { serve, work } from '../serve.mjs'

const database = 'bench_mastra'
await freshDatabase(database)

const shape = z.object({ x: z.number(), key: z.string() })
const schemas = { inputSchema: shape, outputSchema: shape }
const step = (i) =>
  createStep({
    id: `s${i}`,
    ...schemas,
    execute: async ({ inputData: { x, key } }) => ({ x: await work(key, i, x), key }),
  })
const chainOf = (n) => {
  let chain = createWorkflow({ id: `chain${n}`, ...schemas })
  for (let i = 0; i < n; i++) chain = chain.then(step(i))
  return chain.commit()
}
const ask = createStep({
  id: 'ask',
  ...schemas,
  resumeSchema: z.object({ x: z.number() }),
  execute: async ({ inputData, resumeData, suspend }) =>
    resumeData ? { ...inputData, x: inputData.x + resumeData.x } : suspend({}),
})
const human = createWorkflow({ id: 'human', ...schemas })
  .then(step(0))
  .then(ask)
  .then(step(1))
  .commit()
const workflows = { human, chain5: chainOf(5), chain100: chainOf(100), chain1000: chainOf(1000) }

const storage = new PostgresStore({ id: 'bench', connectionString: urlOf(database), max: 20 })
await storage.init()
const text = createTool({
  id: 'text',
  description: 'Changes a text.',
  inputSchema: z.object({ operation: z.string(), text: z.string(), to: z.string() }),
  execute: async ({ text }) => ({ text: text.toUpperCase() }),
})
const json = createTool({
  id: 'json',
  description: 'Reads a JSON text.',
  inputSchema: z.object({ operation: z.string(), text: z.string() }),
  execute: async ({ text }) => ({ value: JSON.parse(text) }),
})
const agent = new Agent({
  id: 'bench',
  name: 'bench',
  instructions: 'Use the tools.',
  model: { id: 'local/m', url: `${process.env.MODEL_URL}`, apiKey: 'none' },
  tools: { text, json },
  memory: new Memory({ storage }),
})
const mastra = new Mastra({ workflows, agents: { agent }, storage, logger: false })
const sql = open(database)
if (process.env.KEEP_DB === '1') {
  mastra.restartAllActiveWorkflowRuns().catch((error) => process.stderr.write(`${error}\n`))
}
const newRun = (name, options) => mastra.getWorkflow(name).createRun(options)

serve({
  async run(n, key) {
    const ended = await (await newRun(`chain${n}`)).start({ inputData: { x: 0, key } })
    if (ended.status !== 'success') throw new Error(ended.status)
    return ended.result.x
  },
  start: async (n, key) => (await (await newRun(`chain${n}`)).startAsync({ inputData: { x: 0, key } })).runId,
  async turn() {
    const answer = await mastra
      .getAgent('agent')
      .generate('Go on.', { memory: { thread: randomUUID(), resource: 'bench' } })
    if (answer.steps.length !== 3) throw new Error(`the agent made ${answer.steps.length} calls of its model`)
    return answer.text
  },
  async pause(key) {
    const run = await newRun('human')
    await run.start({ inputData: { x: 0, key } })
    return run.runId
  },
  async resume(id) {
    await (await newRun('human', { runId: id })).resume({ step: 'ask', resumeData: { x: 1 } })
  },
  async status(id) {
    const [row] = await sql`select snapshot->>'status' as status from mastra_workflow_snapshot where run_id = ${id}`
    return { success: 'completed', suspended: 'paused' }[row?.status] ?? 'running'
  },
  async counts() {
    const [row] = await sql`
      select count(*) filter (where snapshot->>'status' = 'success' and workflow_name like 'chain%')::int as completed,
        count(*) filter (where snapshot->>'status' = 'suspended')::int as paused
      from mastra_workflow_snapshot`
    return row
  },
})
