import type { Definition } from '../definition/schema'

/** Iterates over a list; a schedule can start it every night. */
export const REMINDERS: Definition = {
  name: 'Payment reminders',
  description:
    'Goes through the open invoices and writes a reminder for each that is over two weeks late. Schedule it nightly.',
  initialStep: 'find',
  payload: {},
  steps: [
    {
      id: 'find',
      type: 'run-script',
      name: 'Find open invoices',
      code: "return [{ no: 'A-1', daysLate: 3 }, { no: 'A-2', daysLate: 20 }, { no: 'A-3', daysLate: 31 }]",
      saveAs: 'invoices',
    },
    {
      id: 'each',
      type: 'for-each',
      name: 'Each invoice',
      items: '${invoices}',
      concurrency: 5,
      result: '${reminder}',
      onItemError: 'continue',
      saveAs: 'reminders',
    },
    { id: 'late', type: 'condition', name: 'Over two weeks late?', when: '${item.daysLate} > 14' },
    {
      id: 'remind',
      type: 'set-data',
      name: 'Write a reminder',
      values: { reminder: 'Invoice ${item.no} is ${item.daysLate} days late.' },
    },
    { id: 'skip', type: 'set-data', name: 'Leave it', values: { reminder: null } },
    { id: 'end', type: 'end-flow', name: 'Done', output: { reminders: '${reminders.results}' } },
  ],
  edges: [
    { from: 'find', to: 'each' },
    { from: 'each', to: 'late', on: 'each' },
    { from: 'late', to: 'remind', on: 'true' },
    { from: 'late', to: 'skip', on: 'false' },
    { from: 'each', to: 'end', on: 'done' },
  ],
}
