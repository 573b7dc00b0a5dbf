const MAX = 3
/** The thread list cuts longer messages; a cut message is no example. */
const MAX_CHARACTERS = 119

/** Messages to try an agent with: the first real ones, without repeats. Without any, two general ones. */
export function exampleMessages(messages: readonly (string | null)[]): string[] {
  const short = messages.flatMap((message) => {
    const text = message?.trim() ?? ''
    return text === '' || text.length > MAX_CHARACTERS ? [] : [text]
  })
  const examples = [...new Set(short)].slice(0, MAX)
  return examples.length > 0 ? examples : ['What can you do?', 'Say in one sentence what you are for.']
}
