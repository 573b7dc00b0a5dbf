const MAX = 3
/** A list of threads cuts longer messages, and what is longer is no example. */
const MAX_CHARACTERS = 119

/** Messages to try an agent with: the first of what it was really told, without repeats. Without any, two for all agents. */
export function exampleMessages(told: readonly (string | null)[]): string[] {
  const short = told.flatMap((message) => {
    const text = message?.trim() ?? ''
    return text === '' || text.length > MAX_CHARACTERS ? [] : [text]
  })
  const examples = [...new Set(short)].slice(0, MAX)
  return examples.length > 0 ? examples : ['What can you do?', 'Say in one sentence what you are for.']
}
