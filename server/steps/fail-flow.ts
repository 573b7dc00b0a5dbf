import { z } from 'zod'
import { defineStep, Text } from './define-step'

/** Ends the run as failed, with an error of the author's. */
export const failFlow = defineStep({
  type: 'fail-flow',
  title: 'Fail',
  description: 'Ends the run as failed, with a code and a message of your own.',
  icon: 'octagon-x',
  group: 'flow',
  mode: 'fail',
  config: z.object({
    code: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'must contain only capital letters, digits and _, such as OUT_OF_STOCK')
      .describe('The code of the run’s error. Capital letters, digits and `_`.'),
    message: Text(10_000).default('').describe('The message of the run’s error; may contain `${…}`.'),
  }),
  form: {
    code: { widget: 'text', label: 'Code', placeholder: 'OUT_OF_STOCK', help: 'What programs check.' },
    message: { widget: 'template-area', label: 'Message', help: 'What people read.' },
  },
  sample: { code: 'FAILED', message: '' },
  exits: [],
  failure: ({ config }) => ({
    code: config.code,
    message: config.message === '' ? 'The workflow ended this run.' : config.message,
  }),
})
