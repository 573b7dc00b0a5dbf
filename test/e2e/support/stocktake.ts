import type { Say } from './company'

const HALLS = ['Main hall', 'Cold store', 'Yard']
const COUNTED = ['Count the racks', 'Count the bins', 'Check for damage']

/** A workflow of twenty steps: three halls are counted concurrently, and a large difference is reviewed. */
export function stocktake(toolId: string, say: Say = (text) => text) {
  const look = (id: string, name: string, saveAs = id) => ({
    ...{ id, type: 'call-tool', name: say(name), toolId, args: { article: 'AX-210' }, saveAs },
  })
  const counts = HALLS.map((hall, at) => COUNTED.map((name, turn) => look(`count_${at}_${turn}`, `${name}: ${hall}`)))
  const chain = counts.flatMap((steps, at) => [
    { from: 'halls', to: `count_${at}_0`, on: `hall_${at}` },
    ...steps.slice(1).map(({ id }, turn) => ({ from: `count_${at}_${turn}`, to: id })),
  ])
  return {
    name: say('Yearly stocktake'),
    description: say('Counts every hall and books the differences.'),
    initialStep: 'plan',
    steps: [
      {
        ...{ id: 'plan', type: 'collect-inputs', name: say('Plan the count') },
        output: { day: { type: 'string', label: say('Day'), description: say('When the halls are closed') } },
      },
      look('expected', 'Read the books'),
      {
        ...{ id: 'halls', type: 'parallel', name: say('Count every hall') },
        branches: HALLS.map((hall, at) => ({ id: `hall_${at}`, label: say(hall) })),
      },
      ...counts.flat(),
      {
        ...{ id: 'compare', type: 'run-script', name: say('Add up the differences'), saveAs: 'difference' },
        args: { expected: '${expected.left}' },
        code: 'return Math.abs(args.expected - 12)',
      },
      { id: 'large', type: 'condition', name: say('A large difference?'), when: '${difference} > 100' },
      {
        ...{ id: 'decision', type: 'request-user-action', name: say('Book it or count again') },
        title: say('Stocktake of ${day}'),
        message: say('${difference} pieces are missing or too many.'),
        actions: [
          { id: 'book', label: say('Book it') },
          { id: 'again', label: say('Count again') },
        ],
      },
      look('again', 'Count again'),
      look('book', 'Book the differences'),
      look('report', 'Write the report'),
      look('reopen', 'Open the halls'),
      { id: 'done', type: 'end-flow', name: say('Stocktake done'), output: { difference: '${difference}' } },
    ],
    edges: [
      { from: 'plan', to: 'expected' },
      { from: 'expected', to: 'halls' },
      ...chain,
      { from: 'halls', to: 'compare', on: 'done' },
      { from: 'compare', to: 'large' },
      { from: 'large', to: 'decision', on: 'true' },
      { from: 'large', to: 'book', on: 'false' },
      { from: 'decision', to: 'book', on: 'book' },
      { from: 'decision', to: 'again', on: 'again' },
      { from: 'again', to: 'book' },
      { from: 'book', to: 'report' },
      { from: 'report', to: 'reopen' },
      { from: 'reopen', to: 'done' },
    ],
  }
}
