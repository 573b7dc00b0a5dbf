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
