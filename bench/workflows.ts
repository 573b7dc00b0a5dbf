import type { Kind } from './subject'

/** The tools that the bench creates and calls. */
export interface Tools {
  http: string
}

const END = { id: 'end', type: 'end-flow', output: { n: '${n}' } }
const payload = { n: { type: 'number' } }

/** Sequential steps and an end. */
function chain(name: string, steps: { id: string }[]): object {
  const all = [...steps, END]
  const edges = steps.map(({ id }, index) => ({ from: id, to: all[index + 1]?.id }))
  return { name: `bench: ${name}`, payload, steps: all, edges }
}

export function fiveSteps(kind: Kind, tools: Tools, effectUrl: string): object {
  const config = {
    trivial: { type: 'test-effect', body: { n: '${n}' } },
    builtin: { type: 'call-tool', toolId: 'tool_text', args: { operation: 'case', text: 'go', to: 'upper' } },
    script: { type: 'call-tool', toolId: 'tool_add', args: { a: '${n}', b: 1 }, saveAs: 'n' },
    http: { type: 'call-tool', toolId: tools.http, args: {} },
    slow: { type: 'test-effect', url: effectUrl, body: { n: '${n}' } },
  }[kind]
  return chain(
    `five ${kind} steps`,
    ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, ...config })),
  )
}

export function longChain(steps: number): object {
  const ids = Array.from({ length: steps }, (_, index) => `s${index}`)
  return chain(
    `${steps} steps`,
    ids.map((id) => ({ id, type: 'test-effect', body: { n: '${n}' }, saveAs: 'last' })),
  )
}

/** A step, a decision and a step. */
export function withPause(): object {
  const step = (id: string) => ({ id, type: 'test-effect', body: { n: '${n}' } })
  const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }
  return chain('a pause', [step('before'), ask, step('after')])
}

/** The agent of W7, whose model calls two tools and then answers. */
export function benchAgent(modelUrl: string): object {
  return {
    name: 'bench: two tools',
    instructions: 'Use the tools.',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: modelUrl },
    tools: ['tool_text', 'tool_json'],
    outputSchema: { type: 'object', properties: { done: { type: 'boolean' } }, required: ['done'] },
  }
}

/** A run of one turn of that agent. */
export function withTurn(agentId: string): object {
  return chain('a turn', [{ id: 'ask', type: 'call-agent', agentId, message: 'Go on.' } as { id: string }])
}
