import { z } from 'zod'
import { StepFailure } from '../errors'
import { ExpressionText } from '../tools/expression'
import { defineStep } from './define-step'

/** Takes one of two exits. */
export const condition = defineStep({
  type: 'condition',
  title: 'Condition',
  description: 'Takes one exit if an expression is true, and the other if it is false.',
  icon: 'split',
  group: 'flow',
  mode: 'pure',
  config: z.object({
    when: ExpressionText.describe('An expression that gives true or false, such as `${total} > 100`.'),
  }),
  form: {
    when: { widget: 'expression', label: 'If', placeholder: '${total} > 100' },
  },
  sample: { when: 'true' },
  exits: ['true', 'false', 'error'],
  defines: ({ saveAs }) => {
    const output = { type: 'object' as const, properties: { value: { type: 'boolean' as const } } }
    return { fields: saveAs ? { [saveAs]: output } : {}, open: false, output }
  },
  compute({ config, evaluate }) {
    const value = evaluate(config.when)
    if (typeof value !== 'boolean') throw new StepFailure('EXPRESSION_FAILED', 'The condition must give true or false.')
    return { output: { value }, delta: {}, exit: String(value) }
  },
})
