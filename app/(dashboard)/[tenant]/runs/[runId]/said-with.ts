import type { RunOverview } from '@/server/views/runs/overview'

/** What people said with a decision, after who decided: with their names if several did. */
export function saidWith({ votes, remarks }: Pick<RunOverview['answers'][number], 'votes' | 'remarks'>): string {
  return remarks.map(({ name, text }) => (votes ? `; ${name}: “${text}”` : `: “${text}”`)).join('')
}
