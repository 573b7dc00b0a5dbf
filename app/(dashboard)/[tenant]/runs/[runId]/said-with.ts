import type { RunOverview } from '@/server/views/runs/overview'

/** The remarks with a decision, after the deciders; with names if several people decided. */
export function saidWith({
  votes,
  remarks,
}: Pick<RunOverview['answers'][number], 'remarks'> & { votes: unknown }): string {
  return remarks.map(({ name, text }) => (votes ? `; ${name}: “${text}”` : `: “${text}”`)).join('')
}
