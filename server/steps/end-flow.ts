import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { defineStep } from './define-step'

/** Ends the run. The result is its resolved `output`, or all run data without one. */
export const endFlow = defineStep({
  type: 'end-flow',
  title: 'End',
  description: 'Ends the run and sets its result.',
  icon: 'flag',
  group: 'flow',
  mode: 'end',
  config: z.object({
    output: z.record(z.string(), AnyJson).optional().describe('The run’s result; all its data by default.'),
  }),
  form: {
    output: {
      widget: 'key-value',
      label: 'Result',
      help: 'The result the caller gets. Without it, the result is all of the run’s data.',
    },
  },
  sample: {},
  exits: [],
  types: ({ config, template }) => ({ output: template(config.output ?? '${_}') }),
  result: ({ config, data }) => config.output ?? data,
})
