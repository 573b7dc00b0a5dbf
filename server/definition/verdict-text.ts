import type { Assumption, Calls, Left, Needs, Verdict } from './verdict'

// What verdicts on past runs say on screens and on the command line.

/** How the texts name steps and exits. */
export interface Words {
  step(stepId: string): string
  exit(stepId: string, exit: string): string
}

/** What a verdict says of each run of its group. */
export function verdictText(verdict: Verdict, words: Words): string {
  switch (verdict.is) {
    case 'same':
      return callsOf(verdict.calls).length === 0
        ? 'The same way to the same result'
        : 'The same result, but other calls'
    case 'result':
      return `The same way, but another result: ${verdict.fields.map((path) => path || 'the whole value').join(', ')}`
    case 'way':
      return wayText(verdict, words)
    case 'fails':
      return `Fails${verdict.at === null ? '' : ` at ${words.step(verdict.at)}`}: ${verdict.message} (${verdict.code})`
    case 'passes':
      return `${verdict.at === null ? 'Does not fail as it did' : `Gets past ${words.step(verdict.at)}`}, ${ONWARD[verdict.onward]}`
    case 'untold':
      return needsText(verdict.needs, words)
  }
}

const ONWARD = {
  ends: 'and completes',
  unknown: 'up to a call or an answer that no run has had',
  fails: 'but fails in another way',
} as const

function wayText({ at, was, now }: Extract<Verdict, { is: 'way' }>, words: Words): string {
  const to = ({ next }: Left) => (next === null ? 'the end' : words.step(next))
  const { stepId } = at
  if (was.exit === now.exit || was.exit === null || now.exit === null)
    return `After ${words.step(stepId)}, ${to(now)} comes instead of ${to(was)}`
  const left = (side: Left) => `${words.exit(stepId, side.exit ?? '')} to ${to(side)}`
  return `At ${words.step(stepId)}, ${left(was)} becomes ${left(now)}`
}

/** Why nobody can say how a run would end. */
export function needsText(needs: Needs, { step }: Pick<Words, 'step'>): string {
  switch (needs.why) {
    case 'never called':
      return `The recorded run did not come to ${step(needs.place.stepId)}, so its result is unknown`
    case 'stopped':
    case 'open':
      return `The recorded run ended before ${step(needs.place.stepId)} did, so its result is unknown`
    case 'script':
      return `The script of ${step(needs.place.stepId)} changed, and could not be computed in time`
    case 'hidden':
      return `${step(needs.place.stepId)} depends on a value that you may not see`
    case 'same call':
      return `${step(needs.place.stepId)} would make the call that failed once more`
    case 'new call':
      return `${step(needs.place.stepId)} would make another call than the one that failed`
    case 'answer':
      return misfitText(needs, step)
    case 'too large':
      return 'The run recorded too much to be tried'
    case 'too long':
      return 'Trying the run took too long'
    case 'continued':
      return 'The first steps of the run ran on another version'
  }
}

function misfitText({ place, misfit }: Extract<Needs, { why: 'answer' }>, step: Words['step']): string {
  const name = step(place.stepId)
  if (misfit === 'votes') return `${name} needs more votes than were recorded`
  if (misfit === 'event') return `The recorded event does not match what ${name} waits for`
  if ('form' in misfit) return `The recorded answer does not fit the form of ${name}: ${misfit.form}`
  if ('action' in misfit) return `${name} no longer has the action ${misfit.action}, which was chosen`
  return `The recorded decision does not fit the fields of ${misfit.of}: ${misfit.fields}`
}

/** The calls that a run would make in addition, no longer, or with other arguments. */
export function callsText({ calls }: Verdict, { step }: Pick<Words, 'step'>): string[] {
  const names = (ids: readonly string[]) => ids.map(step).join(', ')
  return [
    ...(calls.new.length > 0 ? [`Calls in addition: ${names(calls.new)}`] : []),
    ...(calls.gone.length > 0 ? [`Calls no longer: ${names(calls.gone)}`] : []),
    ...(calls.changed.length > 0 ? [`Calls with other arguments: ${names(calls.changed)}`] : []),
  ]
}

const callsOf = (calls: Calls) => [...calls.new, ...calls.gone, ...calls.changed]

/** What a verdict takes for granted. */
export function assumptionText({ place, why }: Assumption, { step }: Pick<Words, 'step'>): string {
  const name = step(place.stepId)
  switch (why) {
    case 'other arguments':
      return `Assumes that ${name} gives the same, although its settings or values differ.`
    case 'another version':
      return `Assumes that ${name} gives the same with another version.`
    case 'another visit':
      return `Assumes that ${name} gives what it gave at its last visit.`
    case 'another step':
      return `Assumes that ${name} gives what another step gave that asked the same.`
    case 'succeeds':
      return `Assumes that ${name} succeeds, to which the recorded run did not come.`
    case 'can be computed':
      return `Assumes that ${name} can be computed.`
    case 'computed now':
      return `Computes ${name} with today’s date and chance, if its script uses them.`
    case 'order':
      return `Assumes that the branches of ${name} end in the order in which they ended, and new ones last.`
    case 'edit left out':
      return `Leaves out what a person changed before ${name}, because the run does not come there.`
    case 'given':
      return `Assumes the result of ${name} that was given.`
  }
}

/** All of it in one paragraph, of groups or of single runs: “188 go the same way to the same result. 1 would fail.” */
export function countsText(groups: readonly { verdict: Verdict; count?: number }[]): string {
  const count = (is: (verdict: Verdict) => boolean) =>
    groups.reduce((sum, { verdict, count = 1 }) => (is(verdict) ? sum + count : sum), 0)
  const called = ({ calls }: Verdict) => callsOf(calls).length > 0
  const lines: [number, string, string][] = [
    [
      count((v) => v.is === 'same' && !called(v)),
      'goes the same way to the same result',
      'go the same way to the same result',
    ],
    [
      count((v) => v.is === 'same' && called(v)),
      'has the same result with other calls',
      'have the same result with other calls',
    ],
    [count(({ is }) => is === 'result'), 'has another result', 'have another result'],
    [count(({ is }) => is === 'way'), 'goes another way', 'go another way'],
    [count(({ is }) => is === 'passes'), 'gets past its failure', 'get past their failure'],
    [count(({ is }) => is === 'fails'), 'would fail', 'would fail'],
    [count(({ is }) => is === 'untold'), 'has an open outcome', 'have an open outcome'],
  ]
  const said = lines.filter(([number]) => number > 0)
  return said.map(([number, one, many]) => `${number.toLocaleString('en')} ${number === 1 ? one : many}.`).join(' ')
}
