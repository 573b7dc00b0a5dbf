import { z } from 'zod'
import { component } from '../definition/component'
import { RESERVED_EXITS } from '../definition/exits'
import { StepFailure } from '../errors'
import { ExpressionText } from '../tools/expression'
import { defineStep } from './define-step'

/** Takes the exit of the first case that is true. */
export const switchStep = defineStep({
  type: 'switch',
  title: 'Switch',
  description: 'Takes the exit of the first case that is true, or “Otherwise” if none is.',
  icon: 'git-fork',
  group: 'flow',
  mode: 'pure',
  config: z.object({
    cases: z
      .array(
        component('Case', {
          id: z
            .string()
            .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must start with a letter or _ and contain only letters, digits, _ and -'),
          label: z.string().max(200).optional(),
          when: ExpressionText,
        }),
      )
      .min(1, 'needs at least one case')
      .max(50)
      .describe('The first case whose expression is true is the exit; `default` if none is.'),
  }),
  form: {
    cases: { widget: 'cases', label: 'Cases', help: 'Checked from top to bottom. Each one leads to its own steps.' },
  },
  sample: { cases: [{ id: 'first', label: 'First', when: 'true' }] },
  exits: { from: 'cases', id: 'id', label: 'label', plus: ['default', 'error'] },
  defines: ({ saveAs }) => {
    const output = { type: 'object' as const, properties: { case: { type: 'string' as const } } }
    return { fields: saveAs ? { [saveAs]: output } : {}, open: false, output }
  },
  check: ({ cases }) => {
    const ids = cases.map(({ id }) => id)
    return ids.flatMap((id, at) => {
      if (RESERVED_EXITS.includes(id))
        return [{ field: `cases[${at}].id`, message: `cannot be ${id}, which is the name of an exit` }]
      return ids.indexOf(id) === at ? [] : [{ field: `cases[${at}].id`, message: 'is the id of another case too' }]
    })
  },
  compute({ config, evaluate }) {
    for (const { id, when } of config.cases) {
      const value = evaluate(when)
      if (typeof value !== 'boolean')
        throw new StepFailure('EXPRESSION_FAILED', `The case ${id} must give true or false.`)
      if (value) return { output: { case: id }, delta: {}, exit: id }
    }
    return { output: { case: 'default' }, delta: {}, exit: 'default' }
  },
})
