import type { JsonObject } from '@/server/definition/json'

/** A workflow that calls a tool and asks an agent, with a name for each difference that a test wants. */
export function workflow(id: string, more: JsonObject = {}) {
  return {
    id,
    name: `Workflow ${id}`,
    payload: { z: { type: 'string' as const }, a: { type: 'number' as const } },
    steps: [
      { type: 'call-tool', args: { text: '${z}' }, toolId: 'tool_clean', id: 'clean', saveAs: 'clean' },
      { id: 'ask', type: 'call-agent', agentId: 'agt_helper', message: 'Say ${clean}\nbriefly' },
      { id: 'end', type: 'end-flow', output: { said: '${ask}' } },
    ],
    edges: [
      { to: 'ask', from: 'clean' },
      { from: 'ask', to: 'end' },
    ],
    ...more,
  }
}

export const tool = (code = 'return args.text') => ({
  id: 'tool_clean',
  name: 'Clean',
  kind: 'script' as const,
  config: { code },
})

export const http = {
  id: 'tool_orders',
  name: 'Orders',
  kind: 'http' as const,
  config: { url: 'https://api.example.com/orders', headers: { authorization: 'Bearer ${secrets.ORDERS}' } },
}

export const agent = (more: JsonObject = {}) => ({
  id: 'agt_helper',
  name: 'Helper',
  instructions: 'Be brief.\nBe kind.',
  tools: ['tool_clean', { toolId: 'tool_orders', version: 'published' }],
  outputSchema: { type: 'object' },
  ...more,
})

/** Definitions that use each other, in no useful order. */
export function workspace(workflows = [workflow('wf_one')]) {
  return { workflows, agents: [agent()], tools: [http, tool()] }
}
