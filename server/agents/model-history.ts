import type { ModelMessage } from 'ai'

/**
 * A conversation in the form that providers accept: tools have their model names, and no text is blank, because some
 * providers would then reject every later message of the thread.
 * @param nameOf the name of the tool with an id
 */
export function asModelsKnowIt(messages: ModelMessage[], nameOf: (id: string) => string): ModelMessage[] {
  const named = <P extends { type: string }>(part: P): P =>
    'toolName' in part ? { ...part, toolName: nameOf(String(part.toolName)) } : part
  return messages.map((message): ModelMessage => {
    if (message.role === 'tool') return { ...message, content: message.content.map(named) }
    if (message.role !== 'assistant') return message
    const parts =
      typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content
    const content = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(named)
    return { ...message, content: content.length > 0 ? content : [{ type: 'text', text: '(no answer)' }] }
  })
}

/** A message as a model of another provider gets it: without the reasoning and the options that only theirs can read. */
export function readableFor(provider: string, message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message
  const content = message.content.flatMap((part) => {
    const { providerOptions, ...bare } = part as typeof part & { providerOptions?: Record<string, never> }
    const [own] = Object.entries(providerOptions ?? {}).filter(([name]) => keyOf(name) === keyOf(provider))
    if (part.type === 'reasoning' && !own) return []
    return [(own ? { ...bare, providerOptions: Object.fromEntries([own]) } : bare) as typeof part]
  })
  const { providerOptions: _own, ...rest } = message
  return { ...rest, content }
}

/** The SDK writes a provider's options under its name, or under that in camel case. */
function keyOf(provider: string): string {
  return provider.replaceAll('-', '').toLowerCase()
}
