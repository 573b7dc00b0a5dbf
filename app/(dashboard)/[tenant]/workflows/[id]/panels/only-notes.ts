import type { CatalogEntry } from '@/server/steps/catalog'

/** Explains the effects of running a step alone, before it starts. */
export function onlyNote(entry: Pick<CatalogEntry, 'type' | 'mode' | 'group'> | undefined): string {
  if (entry?.type === 'delay') return 'The run waits as long as the step says, and then ends.'
  if (entry?.type === 'wait-for-event') return 'The run waits until its event is posted, and then ends.'
  if (entry?.type === 'run-workflow') return 'This starts a run of that workflow, and ends when it does.'
  if (entry?.mode === 'pause')
    return 'This opens a task that you answer here. Nobody gets a mail, and the inbox does not count it.'
  if (entry?.mode === 'fork') return 'Its branches run too. What follows them does not.'
  if (entry?.mode === 'end' || entry?.mode === 'fail') return 'The run ends with this step, as it says.'
  if (entry?.mode === 'pure') return 'The step only computes: nothing outside changes.'
  return 'This is real: the step calls what it calls in any run.'
}
