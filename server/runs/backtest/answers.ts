import { z } from 'zod'
import { component, components } from '../../definition/component'

const stepId = z.string().nullable().describe('The step; null where the error names none.')
export const RunPlace = component('RunPlace', {
  branch: z.string().describe('`main`, `on-cancel`, or the branch as statuses name it.'),
  stepId: z.string().describe('Empty for START.'),
  visit: z.number(),
})
const Left = component('LeftBy', {
  exit: z.string().nullable().describe('The exit; null for a step with only one.'),
  next: z.string().nullable().describe('The next step that both versions have; null if the path ended.'),
})

const place = RunPlace.describe('The visit that it depends on.')
const misfit = z.union([
  z.object({ form: z.string() }),
  z.object({ action: z.string() }),
  z.object({ fields: z.string(), of: z.string() }),
  z.enum(['votes', 'event']),
])
/** Why it is not known how a run would continue. */
export const JudgedNeeds = z
  .union([
    z.object({
      why: z.enum(['never called', 'stopped', 'open', 'script', 'hidden', 'same call', 'new call']),
      place,
    }),
    z.object({ why: z.literal('answer'), misfit: misfit.describe('The part that does not fit.'), place }),
    z.object({ why: z.enum(['too large', 'too long', 'continued']) }),
  ])
  .describe(
    '`why`: a call that no run has made (`never called`), a value that may not be seen (`hidden`), a person’s answer that no longer fits (`answer`), a failed call that would be made again (`same call`, `new call`), or another reason.',
  )

const beside = {
  calls: component('BacktestCalls', {
    new: z.array(z.string()),
    gone: z.array(z.string()),
    changed: z.array(z.string()),
  }).describe('Steps that would call something in addition, no longer, or with other arguments.'),
  assumed: z
    .array(
      component('BacktestAssumption', {
        place: RunPlace,
        why: z.enum([
          ...(['other arguments', 'another version', 'another visit', 'another step'] as const),
          ...(['succeeds', 'given', 'can be computed', 'computed now', 'order', 'edit left out'] as const),
        ]),
      }),
    )
    .describe('What the verdict takes for granted, such as that a call with other arguments gives the same.'),
}

export const Verdict = z
  .discriminatedUnion('is', [
    z.object({ is: z.literal('same').describe('It ends the same way.'), ...beside }),
    z.object({
      is: z.literal('result').describe('The same way to another result.'),
      fields: z.array(z.string()).describe('The first fields that differ.'),
      ...beside,
    }),
    z.object({
      is: z.literal('way').describe('Another way, after this visit.'),
      at: RunPlace,
      was: Left,
      now: Left,
      ...beside,
    }),
    z.object({
      is: z.literal('fails').describe('It fails where it did not.'),
      at: stepId,
      code: z.string(),
      message: z.string(),
      ...beside,
    }),
    z.object({
      is: z.literal('passes').describe('It gets past its failure.'),
      at: stepId,
      onward: z.enum(['ends', 'unknown', 'fails']).describe('What follows.'),
      ...beside,
    }),
    z.object({ is: z.literal('untold').describe('It is not known.'), needs: JudgedNeeds, ...beside }),
  ])
  .register(components, { id: 'BacktestVerdict' })

export const Backtest = component('Backtest', {
  workflowId: z.string(),
  version: z.number().describe('The version that the runs were tried on.'),
  sampled: z.object({
    runs: z.number().describe('How many runs are in the sample.'),
    of: z.number().describe('How many it was taken from: the newest ones.'),
    newestOf: z.number().describe('The most it is taken from.'),
    strata: z.number().describe('How many kinds of runs these are, by outcome, error and path.'),
  }),
  counts: z
    .object({
      ...{ same: z.number(), result: z.number(), way: z.number() },
      ...{ fails: z.number(), passes: z.number(), untold: z.number() },
      assumed: z.number().describe('How many of all verdicts take something for granted.'),
    })
    .describe('By verdict.'),
  groups: z.array(
    component('BacktestGroup', {
      verdict: Verdict.describe('The verdict on the newest run of the group.'),
      count: z.number().describe('How many runs of the sample.'),
      about: z.number().describe('For how many of the newest runs they stand.'),
      assuming: z.number().describe('How many take something for granted.'),
      runs: z.array(z.string()).describe('The newest five.'),
    }),
  ),
  runs: z
    .array(component('JudgedRun', { runId: z.string(), startTime: z.string(), verdict: Verdict }))
    .optional()
    .describe('With `each`.'),
  truncated: z.boolean().describe('Whether 25 seconds were over before all runs were tried.'),
})
