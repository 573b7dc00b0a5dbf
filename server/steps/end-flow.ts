import { z } from 'zod'
import { defineStep } from './define-step'

/** Ends the run. Its resolved `output` is the run's result; without one, the whole run data is. */
export const endFlow = defineStep({
  type: 'end-flow',
  title: 'End',
  description: 'Ends the run and says what its result is.',
  icon: 'flag',
  group: 'flow',
  mode: 'end',
  config: z.object({ output: z.record(z.string(), z.json()).optional() }),
  form: {
    output: {
      widget: 'key-value',
      label: 'Result',
      help: 'What the caller gets as result. Without it, the result is all run data.',
    },
  },
  sample: {},
  exits: [],
  result: ({ config, data }) => config.output ?? data,
})
