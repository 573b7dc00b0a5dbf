import { expect } from 'vitest'
import { type Race, race } from '../agents/races/race'
import { judge } from '../agents/races/verdict'
import { startRaceWorld } from '../agents/races/world'
import { expectInvariants } from '../support/invariants/check'
import { scenario } from './rounds'

const LANES = 8
const CHECKED = 100

scenario(
  'I48: races of approvals between inbox, REST, links, expiry, cancel and terminate: exactly the approved calls are made',
  500,
  async (soak) => {
    const world = await startRaceWorld()
    soak.after(() => world.close())
    const from = performance.now()
    let [begun, made, late] = [0, 0, 0]
    const races: Race[] = []
    while (begun < soak.rounds) {
      const until = Math.min(soak.rounds, begun + CHECKED)
      const problems: string[] = []
      const lane = async () => {
        while (begun++ < until) {
          const one = await race(world, soak.random)
          const verdict = await judge(world, one)
          races.push(one)
          problems.push(...verdict.problems)
          made += verdict.made
          late += verdict.late
        }
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      begun = until
      expect(problems).toEqual([])
      await expectInvariants(world.database.sql)
      world.paid.length = 0
      soak.say(`${races.length} races in ${Math.round((performance.now() - from) / 1_000)} s`)
    }
    const shots = races.flatMap((one) => one.shots)
    soak.say(`what callers were told: ${counted(shots.map(({ how, status }) => `${how} ${status}`))}`)
    soak.say(`how runs ended: ${counted(races.map(({ kind, outcome }) => `${kind} ${outcome}`))}`)
    soak.say(
      `${races.flatMap(({ asked }) => asked).length} questions, ${made} calls, ${late} of them after a stop, within the second of docs/operations.md`,
    )
  },
)

function counted(texts: string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts.toSorted()) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].map(([text, count]) => `${text}: ${count}`).join(', ')
}
