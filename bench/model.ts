/** The arguments of the calls that the model makes, by the order of its tools. */
const CALLS = [
  { operation: 'case', text: 'go', to: 'upper' },
  { operation: 'parse', text: '{"n":1}' },
]

interface Asked {
  stream?: boolean
  messages: { role: string }[]
  tools?: { function: { name: string } }[]
}

/** The answer of a model that is compatible with OpenAI's: it calls each of two tools in turn, then answers. */
export function answerOfModel(request: string): { type: string; body: string } {
  const { stream = false, messages, tools = [] } = JSON.parse(request) as Asked
  const since = messages.findLastIndex(({ role }) => role === 'user')
  const round = messages.slice(since).filter(({ role }) => role === 'assistant').length
  const { finish, message } = said(round, tools)
  const shared = { id: 'r', created: 1, model: 'm' }
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason: finish }]
    return json({ ...shared, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, more: object) =>
    `data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }], usage })}\n\n`
  const body = `${chunk(message, { finish_reason: null })}${chunk({}, { finish_reason: finish })}data: [DONE]\n\n`
  return { type: 'text/event-stream', body }
}

const json = (body: object) => ({ type: 'application/json', body: JSON.stringify(body) })

function said(round: number, tools: NonNullable<Asked['tools']>) {
  const [args, tool] = [CALLS[round], tools[round]]
  if (!args || !tool) return { finish: 'stop', message: { role: 'assistant', content: '{"done":true}' } }
  const called = { name: tool.function.name, arguments: JSON.stringify(args) }
  const call = { index: 0, id: `call_${round}`, type: 'function', function: called }
  return { finish: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }
}
