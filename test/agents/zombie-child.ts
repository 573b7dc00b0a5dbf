import { once } from 'node:events'
import { createTool } from '@/server/tools/lifecycle'
import { startTestRuntime } from '../support/runtime'
import { newAgent } from './support'

/*
 * A separate process that is stopped by a signal: node --import tsx --conditions=react-server zombie-child.ts <database
 * url> <address of the outside>. It starts a run whose agent asks the model there.
 */
const [url = '', outside = ''] = process.argv.slice(2)
const runtime = await startTestRuntime(url, { MILLRACE_HOST_ID: 'zombie', ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
const { id: toolId } = await createTool(runtime.ctx, {
  name: 'Pay',
  kind: 'http',
  config: { method: 'POST', url: `${outside}/pay`, body: '${args}' },
})
const model = { provider: 'openai-compatible', modelId: 'm', baseUrl: `${outside}/v1` }
const { id: agentId } = await newAgent(runtime.ctx, { tools: [toolId], model })
const runId = await runtime.start({
  steps: [
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})
process.send?.({ runId, toolId })
await once(process, 'message')
process.exit()
