import { allows, authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { largeRead } from '../large-reads'
import { listPublished, type Word } from './read'

const WORDS: readonly Word[] = ['workflow', 'agent', 'tool']

/** The published workflows, agents and tools in the workspace's document, each kind by name. */
export async function listTyped(ctx: ServiceContext): Promise<{ word: Word; id: string; name: string }[]> {
  authorize(ctx, 'workflow:read')
  const words = WORDS.filter((word) => allows(ctx, `${word}:read`))
  return largeRead(ctx, async (reading) => {
    const lists = []
    for (const word of words) {
      const rows = await listPublished(reading, word, null)
      lists.push(rows.map(({ id, name }) => ({ word, id, name })).sort(byName))
    }
    return lists.flat()
  })
}

function byName(a: { name: string; id: string }, b: { name: string; id: string }): number {
  return a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1)
}
