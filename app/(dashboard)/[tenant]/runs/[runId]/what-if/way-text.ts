import type { Needs } from '@/server/definition/verdict'
import { needsText, type Words } from '@/server/definition/verdict-text'
import type { WalkedVisit, WalkedWay } from '@/server/runs/what-if/ways'

/** The most decisions of a way in its text. */
const TOLD = 4

/** How a run would go: the exits that it would take, and its end. */
export function wayText({ visits, end }: WalkedWay, words: Words): string {
  const turns = visits.filter(({ exit }) => exit !== null && exit !== 'next').slice(-TOLD)
  return [...turns.map((visit) => turnText(visit, words)), endText(end, visits.length, words)].join(' ')
}

function turnText({ place: { stepId }, exit }: WalkedVisit, words: Words): string {
  const name = words.step(stepId)
  if (exit === 'error') return `${name} would fail, and take its error exit.`
  return `${name} would take the exit “${words.exit(stepId, exit ?? '')}”.`
}

function endText(end: WalkedWay['end'], count: number, words: Words): string {
  if ('result' in end) return `It would complete after ${count === 1 ? 'one step' : `${count} steps`}.`
  if ('needs' in end) return `${openText(end.needs, words)}.`
  const { stepId, message } = end.failed
  return `It would fail${stepId === null ? '' : ` at ${words.step(stepId)}`}: “${message.replace(/\.$/, '')}”.`
}

/** Why the end of a way is open. */
export function openText(needs: Needs, words: Words): string {
  if (needs.why === 'open') return `The outcome of ${words.step(needs.place.stepId)} is still open`
  return needsText(needs, words).replace(/^The recorded (answer|decision|event)/, 'The $1')
}
